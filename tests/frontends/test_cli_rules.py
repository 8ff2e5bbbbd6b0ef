"""The registry of rules, and ``eagle3-lint rule``."""

from __future__ import annotations

import subprocess
import sys

import pytest

from eagle3_lint.errors import UsageError
from eagle3_lint.findings.codes import pylint_id
from eagle3_lint.frontends.cli.dispatch import dispatch
from eagle3_lint.rules import registry
from eagle3_lint.rules.catalogue import CODES, known


@pytest.mark.parametrize("code", registry.all_codes())
def test_files_rules_and_table_agree(code: str) -> None:
    rule = registry.load(code)
    fixed = known(code)
    assert fixed is not None
    assert (rule.code, rule.symbol, rule.severity, rule.pedantic) == (
        fixed.code,
        fixed.symbol,
        fixed.severity,
        fixed.pedantic,
    )
    assert rule.summary == fixed.summary
    assert registry.symbol_of(code) == rule.symbol
    assert len(registry.documentation(code)) > 100
    assert rule.summary


def test_listing_codes_imports_no_rule() -> None:
    program = (
        "import sys; from eagle3_lint.rules import registry; registry.select(['EGL1']); "
        "print([name for name in sys.modules if 'rules.egl' in name])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


class TestSelection:
    DEFAULT = tuple(code.code for code in CODES if code.is_default)
    ALL = tuple(code.code for code in CODES)

    def test_defaults(self) -> None:
        assert registry.select() == self.DEFAULT
        assert registry.select(pedantic=True) == self.ALL

    def test_prefixes_and_symbols(self) -> None:
        assert registry.select(["EGL3"]) == ("EGL301", "EGL302")
        assert registry.select(["EGL"]) == self.DEFAULT
        assert registry.select(["unimported-typing-name"]) == ("EGL301",)
        assert registry.select(ignore=["EGL1", "EGL2", "EGL9"]) == ("EGL301", "EGL302")

    def test_a_prefix_does_not_turn_a_pedantic_rule_on_but_its_name_does(self) -> None:
        assert registry.select(["EGL2"]) == ("EGL201", "EGL202", "EGL203", "EGL204")
        assert registry.select(["EGL204"]) == ("EGL204",)
        assert registry.select(["EGL205"]) == ("EGL205",)
        assert registry.select(["unused-suppression"]) == ("EGL902",)
        assert registry.select(["EGL2"], pedantic=True) == tuple(code for code in self.ALL if code[3] == "2")

    def test_the_longer_prefix_wins_and_ignore_where_equal(self) -> None:
        assert registry.select(["EGL101"], ["EGL1"]) == ("EGL101",)
        assert registry.select(["EGL1"], ["EGL101"])[0] == "EGL102"
        assert registry.select(["EGL3"], ["EGL3"]) == ()
        assert registry.select(["EGL301"], ["unimported-typing-name"]) == ()

    @pytest.mark.parametrize("name", ["EGL999", "EGL4", "egl101", "E", "", "X", "missing"])
    def test_unknown_names(self, name: str) -> None:
        with pytest.raises(UsageError, match="unknown code"):
            registry.select([name])
        with pytest.raises(UsageError, match="unknown code"):
            registry.select(ignore=[name])

    def test_near_misses_are_named(self) -> None:
        with pytest.raises(UsageError, match=r"did you mean EGL101"):
            registry.select(["egl101"])


def test_message_ids_of_pylint() -> None:
    assert pylint_id("EGL101", "error") == "E7311"
    assert pylint_id("EGL206", "warning") == "W7326"
    assert len({pylint_id(code.code, code.severity) for code in CODES}) == len(CODES)


def test_rule_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["rule"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(registry.all_codes())


@pytest.mark.parametrize("name", ["EGL101", "egl101", "missing-eagle3-delegation"])
def test_rule_page(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert dispatch(["rule", name]) == 0
    text = capsys.readouterr().out
    assert text.startswith("# EGL101 missing-eagle3-delegation\n\nError, on by default; pylint calls it E7311.\n")
    assert registry.documentation("EGL101") in text


@pytest.mark.parametrize("name", ["EGL999", "missing-eagle3-delegatio", "EGL1"])
def test_rule_unknown(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert dispatch(["rule", name]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"eagle3-lint: error: unknown rule {name!r}")
    assert error.count("\n") == 1
