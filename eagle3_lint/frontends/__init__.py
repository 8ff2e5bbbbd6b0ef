"""The programs that people meet: the command line, and the plugins of pylint and flake8."""
