"""Where mutated files come from: the trees of the fixtures, and groups of model files of a release."""

from __future__ import annotations

from pathlib import Path
from random import Random

Tree = dict[str, bytes]
_FIXTURES = Path(__file__).parents[1] / "fixtures"
_MODELS = "sglang/srt/models"


class Corpus:
    """Small trees of real files; ``release`` is the source root of a release, to take model files from as well."""

    def __init__(self, release: str | None = None) -> None:
        self._trees = sorted(path.parent for path in (_FIXTURES / "models").glob("*/*/sglang"))
        self._typing = sorted(path for name in ("egl301", "egl302") for path in (_FIXTURES / name).rglob("*.py"))
        self._release = sorted((Path(release) / _MODELS).glob("*.py")) if release else []
        self._root = Path(release) if release else None

    def tree(self, random: Random) -> Tree:
        """The files of one tree, by their path below its root."""
        roll = random.random()
        if self._root is not None and roll < 0.5:
            chosen = random.sample(self._release, random.randint(1, 3))
            return {path.relative_to(self._root).as_posix(): path.read_bytes() for path in chosen}
        if roll > 0.9 and self._typing:
            path = random.choice(self._typing)
            return {f"{_MODELS}/{path.name}": path.read_bytes()}
        root = random.choice(self._trees)
        return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*.py")}


def write_tree(root: Path, files: Tree) -> None:
    """Write ``files`` below ``root``."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
