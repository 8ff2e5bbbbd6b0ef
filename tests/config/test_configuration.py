"""Configuration files: which one counts, what it may say, and how its faults are named."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eagle3_lint.config import Configuration, find_configuration
from eagle3_lint.config.options import OPTIONS
from eagle3_lint.errors import ConfigurationError


def found(directory: Path) -> Configuration:
    configuration = find_configuration(str(directory))
    assert configuration is not None
    return configuration


def test_toml_values_and_paths(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "x"\n\n[tool.eagle3-lint]\nselect = ["EGL1", "EGL301"]\npedantic = true\n'
        'baseline = "ci/baseline.json"\nsglang = "tree"\ntarget-version = "3.12"\n'
    )
    configuration = found(tmp_path)
    assert configuration.get("select") == ("EGL1", "EGL301")
    assert configuration.get("pedantic") is True
    assert configuration.get("baseline") == str(tmp_path / "ci" / "baseline.json")
    assert configuration.get("sglang") == str(tmp_path / "tree")
    assert configuration.get("target-version") == "3.12"
    assert configuration.get("ignore") is None


def test_a_version_of_sglang_is_no_path(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.eagle3-lint]\nsglang = "0.5.9"\n')
    assert found(tmp_path).get("sglang") == "0.5.9"


@pytest.mark.parametrize("name", ["setup.cfg", "tox.ini"])
def test_ini_values(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(
        "[metadata]\nname = x\n[eagle3-lint]\nselect = EGL1, EGL301\nignore =\n    EGL104\n    EGL106\n"
        "pedantic = yes\nquiet = off\ncache-dir = cache%dir\n"
    )
    configuration = found(tmp_path)
    assert configuration.get("select") == ("EGL1", "EGL301")
    assert configuration.get("ignore") == ("EGL104", "EGL106")
    assert configuration.get("pedantic") is True
    assert configuration.get("quiet") is False
    assert configuration.get("cache-dir") == str(tmp_path / "cache%dir")


def test_the_default_section_of_other_tools_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "setup.cfg").write_text("[DEFAULT]\nprefix = x\nquiet = true\n[eagle3-lint]\npedantic = true\n")
    assert list(found(tmp_path).settings) == ["pedantic"]


def test_the_nearest_file_with_a_table_counts_alone(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[tool.eagle3-lint]\nselect = ["EGL1"]\npedantic = true\n')
    (tmp_path / "a" / "tox.ini").write_text("[eagle3-lint]\nselect = EGL3\n")
    (inner / "pyproject.toml").write_text('[project]\ndependencies = ["eagle3-lint"]\n')
    (inner / "setup.cfg").write_text("[options]\ninstall_requires = eagle3-lint\n")
    configuration = found(inner)
    assert configuration.path == str(tmp_path / "a" / "tox.ini")
    assert configuration.get("select") == ("EGL3",)
    assert configuration.get("pedantic") is None


def test_in_one_folder_pyproject_comes_first(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.eagle3-lint]\nquiet = true\n")
    (tmp_path / "setup.cfg").write_text("[eagle3-lint]\nquiet = false\n")
    assert found(tmp_path).get("quiet") is True


def test_a_file_that_does_not_name_the_program_is_not_parsed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("not toml at all [")
    (tmp_path / "setup.cfg").write_text("no section\n")
    (tmp_path / "tox.ini").write_text("deps = eagle3-lint, without a section\n")
    assert find_configuration(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("name", "text", "line", "words"),
    [
        ("pyproject.toml", '[tool.eagle3-lint]\n\nselekt = ["EGL1"]\n', 3, ("selekt", "select")),
        ("pyproject.toml", "[tool.eagle3-lint]\npedantic = 1\n", 2, ("pedantic", "true or false")),
        ("pyproject.toml", '[tool.eagle3-lint]\nselect = "EGL1"\n', 2, ("select", "list")),
        ("pyproject.toml", "[tool.eagle3-lint]\nselect = [1]\n", 2, ("select", "list")),
        ("pyproject.toml", '[tool.eagle3-lint]\nformat = "xml"\n', 2, ("format", "sarif")),
        ("pyproject.toml", "[tool.eagle3-lint]\ntarget-version = 3.12\n", 2, ("target-version", "string")),
        ("pyproject.toml", '[tool.eagle3-lint]\ntarget-version = "2.7"\n', 2, ("target-version", "3.10")),
        ("pyproject.toml", '[tool.eagle3-lint]\noutput = ""\n', 2, ("output", "empty")),
        ("pyproject.toml", "# eagle3-lint\n[tool\nx = 1\n", 2, ()),
        ("pyproject.toml", "[tool]\neagle3-lint = 1\n", 2, ("table",)),
        ("pyproject.toml", "[tool.eagle3-lint]\nquiet = true\nquiet = true\n", 3, ()),
        ("pyproject.toml", "[tool]\neagle3-lint.quiet = 3\n", 2, ("quiet",)),
        ("setup.cfg", "[eagle3-lint]\nstdin-filename = x\n", 2, ("stdin-filename",)),
        ("setup.cfg", "[other]\nquiet = x\n[eagle3-lint]\nquiet = maybe\n", 4, ("quiet", "true or false")),
        ("setup.cfg", "[eagle3-lint]\nquiet = true\nquiet = true\n", 3, ("quiet",)),
        ("tox.ini", "[eagle3-lint]\nquiet\n", 2, ()),
        ("tox.ini", "x = 1\n[eagle3-lint]\n", 1, ()),
    ],
)
def test_faults_name_file_line_and_key(tmp_path: Path, name: str, text: str, line: int, words: tuple[str, ...]) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        find_configuration(str(tmp_path))
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert "\n" not in message
    for word in words:
        assert word in message


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b'[tool.eagle3-lint]\noutput = "\xff"\n')
    with pytest.raises(ConfigurationError, match=r"pyproject\.toml:2: is not UTF-8"):
        find_configuration(str(tmp_path))


def test_what_is_no_regular_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").mkdir()
    os.mkfifo(tmp_path / "setup.cfg")
    (tmp_path / "tox.ini").symlink_to("nowhere")
    assert find_configuration(str(tmp_path)) is None


def test_parsers_are_not_imported_without_a_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "x"\n')
    (tmp_path / "setup.cfg").write_text("[metadata]\n")
    program = (
        "import sys; from eagle3_lint.config import find_configuration; "
        f"assert find_configuration({str(tmp_path)!r}) is None; "
        "print(sorted({'tomllib', 'tomli', 'configparser', 're'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "tomllib" not in ran.stdout
    assert "configparser" not in ran.stdout


def test_every_kind_of_option_can_be_set(tmp_path: Path) -> None:
    samples = {"flag": "true", "text": '"x"', "path": '"x"', "tree": '"x"', "list": '["EGL1"]'}
    lines = [
        f"{name} = " + (f'"{option.choices[0]}"' if option.choices else samples[option.kind])
        for name, option in OPTIONS.items()
    ]
    (tmp_path / "pyproject.toml").write_text("[tool.eagle3-lint]\n" + "\n".join(lines) + "\n")
    configuration = found(tmp_path)
    assert set(configuration.settings) == set(OPTIONS)
    assert [configuration.settings[name].line for name in OPTIONS] == list(range(2, len(OPTIONS) + 2))
