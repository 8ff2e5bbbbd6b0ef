"""Writes the pages about the rules from the rules themselves: ``python docs/build.py``.

``docs/rules/`` gets one page for each rule and an index. With ``--check`` nothing is written, and the exit code is 1
where a page isn't what would be written.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from eagle3_lint.findings.codes import pylint_id
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.registry import all_codes, documentation, load

RULES = Path(__file__).parent / "rules"
_MARK = "<!-- Written by docs/build.py from the rule's own module: change it there. -->"
_REPORT = re.compile(r"(?:sgl-project/sglang)?#(\d+)\b")
_NO_FIX = "## Fix\n\nNone that a program can make: the message and its evidence say what to look at.\n\n"
_SOURCES = "## Sources"


def pages() -> dict[str, str]:
    """Every page by its file's name."""
    found = {f"{code}.md": "".join(page(load(code))) for code in all_codes()}
    return {"README.md": "".join(index()), **found}


def page(rule: Rule) -> Iterator[str]:
    """The page of one rule."""
    yield f"{_MARK}\n\n# {rule.code} {rule.symbol}\n\n"
    yield f"{rule.severity.capitalize()}, {default(rule)}. pylint calls it `{pylint_id(rule.code, rule.severity)}`"
    yield f" and `{rule.symbol}`.\n\n"
    body, mark, sources = documentation(rule.code).partition(_SOURCES)
    yield body if "## Fix\n" in body else body + _NO_FIX
    yield suppression(rule)
    yield mark + _REPORT.sub(_linked, sources).rstrip()
    yield "\n\n[All rules](README.md)\n"


def suppression(rule: Rule) -> str:
    """How a finding of ``rule`` is silenced."""
    if rule.code == "EGL901":
        return (
            "## How to suppress it\n\nA comment in a file that can't be read is not read either: leave the file out, or "
            f"`--ignore {rule.code}`.\n\n"
        )
    where = (
        "On the reported line or, for a definition, on a decorator's line or the line above; with a reason if you can:"
    )
    return (
        f"## How to suppress it\n\n{where}\n\n"
        "```python\n"
        f"...  # eagle3-lint: ignore[{rule.code}] why\n"
        f"...  # noqa: {rule.code}\n"
        f"...  # pylint: disable={rule.symbol}\n"
        "```\n\n"
        f"A whole file: `# eagle3-lint: ignore-file why`. Everywhere: `--ignore {rule.code}`, or a\n"
        "[baseline](../gate.md) for what is there already.\n\n"
    )


def index() -> Iterator[str]:
    """The list of all rules."""
    yield f"{_MARK}\n\n# Rules\n\n"
    yield "`eagle3-lint rule CODE` prints these pages in the terminal. Codes are never reused.\n\n"
    yield "| code | symbol | severity | default | pylint | finds |\n| --- | --- | --- | --- | --- | --- |\n"
    for code in all_codes():
        rule = load(code)
        on = "in part" if rule.in_part else "pedantic" if rule.pedantic else "on"
        name = pylint_id(code, rule.severity)
        yield f"| [{code}]({code}.md) | `{rule.symbol}` | {rule.severity} | {on} | {name} | {rule.summary} |\n"


def default(rule: Rule) -> str:
    """Whether ``rule`` runs unasked."""
    asked = "with `--pedantic` or by its own code in `--select`"
    if rule.in_part:
        return f"in part on by default, the rest {asked}"
    return f"only {asked}" if rule.pedantic else "on by default"


def _linked(match: re.Match[str]) -> str:
    return f"[{match[0]}](https://github.com/sgl-project/sglang/issues/{match[1]})"


def main(arguments: list[str]) -> int:
    """Write the pages, or compare them."""
    wanted = pages()
    present = {path.name: path.read_text(encoding="utf-8") for path in RULES.glob("*.md")}
    if arguments == ["--check"]:
        for name in sorted(wanted.keys() | present.keys()):
            if wanted.get(name) != present.get(name):
                print(f"docs/rules/{name} is out of date: run python docs/build.py")
        return int(wanted != present)
    RULES.mkdir(exist_ok=True)
    for name in present.keys() - wanted.keys():
        (RULES / name).unlink()
    for name, text in wanted.items():
        (RULES / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
