"""eagle3_lint: finds SGLang model classes that EAGLE-3 speculative decoding would crash on or silently ignore.

pylint loads this package as its plugin (``--load-plugins eagle3_lint``). Nothing is imported here, not even
``__future__``: ``python -m eagle3_lint`` runs this file before the working directory is off the import path.
"""

__version__ = "0.1.0"


def register(linter: "PyLinter") -> None:  # type: ignore[name-defined]  # noqa: F821
    """Registers the checker with ``linter``; pylint calls this when it loads the plugin."""
    from eagle3_lint.frontends.pylint_plugin import register as register_checker

    register_checker(linter)
