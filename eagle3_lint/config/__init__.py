"""Configuration files: ``[tool.eagle3-lint]`` of ``pyproject.toml``, ``[eagle3-lint]`` of ``setup.cfg`` and ``tox.ini``.

The nearest file upwards that has the table is the one that counts, alone. A file that doesn't name the program is not
parsed, so a project without a table pays for one read of each file.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from eagle3_lint.errors import ConfigurationError
from eagle3_lint.sources.upwards import upwards

Value = str | bool | tuple[str, ...]

_NAME = b"eagle3-lint"
_FILES = ("pyproject.toml", "setup.cfg", "tox.ini")


@dataclass(frozen=True)
class Setting:
    """One value of a configuration file and the line that its key is on."""

    value: Value
    line: int


@dataclass(frozen=True)
class Configuration:
    """The settings of one file, by option; paths are absolute already."""

    path: str
    settings: dict[str, Setting]

    def get(self, option: str) -> Value | None:
        """The value of ``option`` (a long option without its dashes), or None where the file doesn't set it."""
        setting = self.settings.get(option)
        return setting.value if setting else None

    def error(self, option: str, reason: str) -> ConfigurationError:
        """An error about the value of ``option``, with the file, the line and the key."""
        return ConfigurationError(f"{self.path}:{self.settings[option].line}: {option}: {reason}")


def find_configuration(directory: str) -> Configuration | None:
    """The configuration that counts in ``directory``, an absolute path; None where no file has one.

    Raises ConfigurationError for a file with the table that can't be parsed or read, and for unknown keys and bad
    values in it, with the file, the line and the key.
    """
    for folder in upwards(directory):
        for name in _FILES:
            found = _load(os.path.join(folder, name))
            if found is not None:
                return found
    return None


def _load(path: str) -> Configuration | None:
    data = _read(path)
    if data is None or _NAME not in data:
        return None
    from eagle3_lint.config.reading import read_ini, read_toml

    read = read_toml if path.endswith(".toml") else read_ini
    settings = read(path, data)
    return None if settings is None else Configuration(path, settings)


def _read(path: str) -> bytes | None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        with open(path, "rb") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigurationError(f"{path}: can't be read: {error.strerror}") from None
