"""The project: names, classes, their method resolution, their roles, and the contract they must meet."""
