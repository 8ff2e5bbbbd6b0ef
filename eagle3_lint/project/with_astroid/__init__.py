"""astroid's part of the engine. Nothing here is imported before a question needs it."""
