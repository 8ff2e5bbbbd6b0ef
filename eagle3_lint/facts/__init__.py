"""The facts of one module, read from its source alone."""
