"""The kinds of inputs, each numbered: the same kind and number give the same input again."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

from tests.fuzz.artefacts import fuzz_baseline, fuzz_cache, fuzz_configuration, fuzz_wheel
from tests.fuzz.corpus import Corpus, Tree, write_tree
from tests.fuzz.judging import MOST_SECONDS, judge_tree, time_limit
from tests.fuzz.mutations import mutated
from tests.fuzz.programs import model_tree

Run = Callable[[Path, Random, Corpus], None]


def run_case(kind: str, number: int, corpus: Corpus, keep: Path | None = None, seconds: float = MOST_SECONDS) -> None:
    """Make the input ``number`` of ``kind`` and judge what the program does with it.

    Raises what the program raises, Fault for a wrong answer, Hang after ``seconds``; the input is then in ``keep``.
    """
    folder = Path(tempfile.mkdtemp(prefix="eagle3-fuzz-"))
    try:
        with time_limit(seconds):
            KINDS[kind](folder, Random(f"{kind}:{number}"), corpus)
    except BaseException:
        if keep is not None:
            shutil.copytree(folder, keep / f"{kind}-{number}", dirs_exist_ok=True)
        raise
    finally:
        shutil.rmtree(folder)


def _programs(folder: Path, random: Random, corpus: Corpus) -> None:
    _judge(folder, model_tree(random), random)


def _files(folder: Path, random: Random, corpus: Corpus) -> None:
    files = corpus.tree(random)
    for name in random.sample(sorted(files), random.randint(1, len(files))):
        files[name] = mutated(files[name], random)
    _judge(folder, files, random)


def _mixed(folder: Path, random: Random, corpus: Corpus) -> None:
    """Files of one tree under the names of another's."""
    files, others = corpus.tree(random), {**corpus.tree(random), **model_tree(random)}
    names = [name for name in files if "/models/" in name]
    for name in names:
        if random.random() < 0.5:
            files[name] = random.choice(list(others.values()))
    _judge(folder, {**others, **files}, random)


def _judge(folder: Path, files: Tree, random: Random) -> None:
    root = folder / "root"
    write_tree(root, files)
    judge_tree(str(root), str(folder / "cache"), random, engines=("auto",) * 9 + ("astroid",))


def _configuration(folder: Path, random: Random, corpus: Corpus) -> None:
    fuzz_configuration(folder, random)


def _baseline(folder: Path, random: Random, corpus: Corpus) -> None:
    write_tree(folder / "root", corpus.tree(random))
    fuzz_baseline(folder, str(folder / "root"), random)


def _cache(folder: Path, random: Random, corpus: Corpus) -> None:
    write_tree(folder / "root", corpus.tree(random))
    fuzz_cache(folder / "cache", str(folder / "root"), random)


def _wheel(folder: Path, random: Random, corpus: Corpus) -> None:
    fuzz_wheel(folder, random)


def _hypothesmith(folder: Path, random: Random, corpus: Corpus) -> None:
    """A program of hypothesmith's: any syntax at all."""
    from tests.fuzz.generated import program

    _judge(folder, {"sglang/srt/models/a.py": program(random.getrandbits(32)).encode("utf-8", "surrogatepass")}, random)


KINDS: dict[str, Run] = {
    "programs": _programs,
    "files": _files,
    "mixed": _mixed,
    "configuration": _configuration,
    "baseline": _baseline,
    "cache": _cache,
    "wheel": _wheel,
    "hypothesmith": _hypothesmith,
}
