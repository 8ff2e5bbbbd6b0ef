"""The documentation agrees with the program: its pages, tables, options, commands and links."""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import eagle3_lint
from eagle3_lint.config.options import OPTIONS
from eagle3_lint.findings.codes import DOCUMENTATION, documentation_url, pylint_id
from eagle3_lint.frontends.cli import COMMANDS
from eagle3_lint.frontends.cli.arguments import check_parser, explain_parser, matrix_parser, rule_parser
from eagle3_lint.frontends.flake8_plugin import Plugin
from eagle3_lint.frontends.pylint_plugin import Eagle3Checker
from eagle3_lint.rules import registry
from eagle3_lint.rules.catalogue import CODES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in (*DOCS.rglob("*.md"), ROOT / "README.md"))
PARSERS = {"check": check_parser, "explain": explain_parser, "matrix": matrix_parser, "rule": rule_parser}
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CELL = re.compile(r"^\| *(`--[^|]*)\|", re.MULTILINE)
_OPTION = re.compile(r"--[a-z][a-z0-9-]*")
_YAML = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HOME = re.compile(r"https://github\.com/[\w-]+/eagle3-lint")
_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("build", DOCS / "build.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_pages_of_the_rules_are_what_the_generator_writes() -> None:
    wanted = build().pages()
    written = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "rules").iterdir()}
    assert sorted(written) == sorted(wanted), "run python docs/build.py"
    for name, text in wanted.items():
        assert written[name] == text, f"{name} is out of date: run python docs/build.py"


def test_a_stale_page_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generator = build()
    monkeypatch.setattr(generator, "RULES", tmp_path)
    assert generator.main([]) == 0
    assert generator.main(["--check"]) == 0
    (tmp_path / "EGL101.md").write_text("old")
    (tmp_path / "EGL100.md").write_text("gone")
    assert generator.main(["--check"]) == 1
    told = capsys.readouterr().out
    assert "EGL101.md" in told and "EGL100.md" in told and "EGL102.md" not in told
    assert generator.main([]) == 0
    assert not (tmp_path / "EGL100.md").exists()


def test_the_rules_are_those_of_the_interface() -> None:
    fixed = json.loads((ROOT / "tests" / "data" / "interface_rules.json").read_text(encoding="utf-8"))
    present = {code.code: code for code in CODES}
    for row in fixed:
        code = present[row["code"]]
        assert (code.symbol, code.severity) == (row["symbol"], row["severity"])
        assert code.pedantic == (row["default"] == "pedantic")


@pytest.mark.parametrize("code", CODES, ids=lambda code: code.code)
def test_every_place_says_the_same_of_a_rule(code: Any) -> None:
    rule = registry.load(code.code)
    assert (rule.code, rule.symbol, rule.severity) == (code.code, code.symbol, code.severity)
    assert (rule.summary, rule.pedantic, rule.in_part) == (code.summary, code.pedantic, code.in_part)
    files = [path.stem for path in (ROOT / "eagle3_lint" / "rules").glob(f"{code.code.lower()}_*.py")]
    assert files == [f"{code.code.lower()}_{code.symbol.replace('-', '_')}"]
    text, symbol, description, *rest = Eagle3Checker.msgs[pylint_id(code.code, code.severity)]
    assert (text, symbol) == ("%s", code.symbol)
    assert description.startswith(f"{code.code}: {code.summary}")
    assert rest[0]["default_enabled"] == code.is_default
    page = (DOCS / "rules" / f"{code.code}.md").read_text(encoding="utf-8")
    assert f"# {code.code} {code.symbol}\n" in page
    row = next(line for line in (DOCS / "rules" / "README.md").read_text().splitlines() if f"[{code.code}]" in line)
    default = "in part" if code.in_part else "pedantic" if code.pedantic else "on"
    cells = [cell.strip() for cell in row.strip("|").split(" | ")]
    assert cells[1:5] == [f"`{code.symbol}`", code.severity, default, pylint_id(code.code, code.severity)]


@pytest.mark.parametrize("code", registry.all_codes())
def test_the_documentation_of_a_rule_is_complete(code: str) -> None:
    """What it finds, why that is bad, both examples, where it comes from; and in the order of the other rules."""
    known = ["What it does", "Why is this bad?", "Example", "Use instead", "Fix", "Sources"]
    titles = re.findall(r"^## (.*)$", registry.documentation(code), re.MULTILINE)
    assert [title for title in titles if title in known] == titles
    assert sorted(titles, key=known.index) == titles
    assert set(known) - {"Fix"} <= set(titles)
    sources = registry.documentation(code).partition("## Sources")[2]
    assert re.search(r"sgl-project/sglang|https://", sources)


def test_the_address_of_a_rule_is_its_page() -> None:
    for code in registry.all_codes():
        name = documentation_url(code).removeprefix(DOCUMENTATION)
        assert (DOCS / "rules" / name).is_file()
    assert DOCUMENTATION.endswith("/docs/rules/")


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in _LINK.findall(_BLOCK.sub("", text)):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        # the page that the benchmark writes is not there before its first run
        assert linked.exists() or linked == DOCS / "performance.md", target
        if anchor:
            assert anchor in anchors(linked.read_text(encoding="utf-8")), target


def anchors(text: str) -> set[str]:
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in _HEADING.findall(text)}


def long_options(parser: argparse.ArgumentParser) -> set[str]:
    found = {option for action in parser._actions for option in action.option_strings if option.startswith("--")}
    return found - {"--help"}


def table_options(page: str) -> set[str]:
    cells = _CELL.findall((DOCS / page).read_text(encoding="utf-8"))
    return {option for cell in cells for option in _OPTION.findall(cell)}


def test_the_options_of_check() -> None:
    assert table_options("command-line.md") | {"--quiet", "--verbose"} == long_options(check_parser())
    unlisted = {"--stdin-filename"}
    assert {f"--{name}" for name in OPTIONS} == long_options(check_parser()) - unlisted


def test_the_options_of_the_plugins() -> None:
    class Manager:
        def __init__(self) -> None:
            self.names: set[str] = set()

        def add_option(self, name: str, **_: object) -> None:
            self.names.add(name)

    manager: Any = Manager()
    Plugin.add_options(manager)
    assert table_options("flake8.md") == manager.names
    assert table_options("pylint.md") == {f"--{name}" for name, _ in Eagle3Checker.options}


def commands() -> Iterator[tuple[str, list[str]]]:
    """Each call of this program in a page, as its arguments."""
    for page in PAGES:
        for block in _SHELL.findall(page.read_text(encoding="utf-8")):
            for line in block.splitlines():
                for words in simple_commands(line):
                    if words[0].endswith("eagle3-lint"):
                        yield page.name, words[1:]


def simple_commands(line: str) -> Iterator[list[str]]:
    """The parts of a shell's line between pipes and conjunctions."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|&")
    lexer.whitespace_split = True
    words: list[str] = []
    for word in (*lexer, "|"):
        if word.strip("|&"):
            words.append(word)
        elif words:
            yield words
            words = []


@pytest.mark.parametrize(("page", "words"), list(commands()))
def test_the_commands_that_pages_show_are_understood(page: str, words: list[str]) -> None:
    assert words[0] in COMMANDS
    assert PARSERS[words[0]]().parse_intermixed_args(words[1:])


def test_pages_show_commands() -> None:
    assert {"command-line.md", "gate.md", "matrix.md", "README.md"} <= {page for page, _ in commands()}


def test_one_address_of_this_project() -> None:
    home = DOCUMENTATION.partition("/blob/")[0]
    texts = [*PAGES, *(path for path in (ROOT / "examples").rglob("*") if path.is_file())]
    mentioned = {found for path in texts for found in _HOME.findall(path.read_text(encoding="utf-8"))}
    assert mentioned == {home}


def test_the_hooks_that_pages_show() -> None:
    hooks = {hook["id"] for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    page = (DOCS / "pre-commit.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)) == hooks
    for name in ("pre-commit.md", "../README.md"):
        blocks = [yaml.safe_load(block) for block in _YAML.findall((DOCS / name).read_text(encoding="utf-8"))]
        (repository,) = blocks[0]["repos"]
        assert repository["rev"] == f"v{eagle3_lint.__version__}"
        assert {hook["id"] for hook in repository["hooks"]} <= hooks


def test_no_page_has_a_line_that_is_too_long() -> None:
    for page in (DOCS / "contributing.md", DOCS / "gate.md", DOCS / "engine.md"):
        long = [line for line in page.read_text(encoding="utf-8").splitlines() if len(line) > 150]
        assert long == [], page.name
