"""The long run: ``python -m tests.fuzz --minutes N``; ``--replay KIND:NUMBER`` runs one input again.

Inputs that the program does wrong are printed with their kind and number, and kept in ``--keep DIR``.
"""

from __future__ import annotations

import argparse
import faulthandler
import itertools
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.fuzz.cases import KINDS, run_case
from tests.fuzz.corpus import Corpus
from tests.fuzz.judging import MOST_SECONDS

# generating is slow here, so these come less often
_SELDOM = {"hypothesmith": 10, "cache": 2, "baseline": 2}


def main() -> int:
    """Run inputs until the time is over; 1 if one of them was done wrong."""
    options = _arguments()
    corpus = Corpus(options.release)
    if options.replay:
        kind, _, number = options.replay.partition(":")
        run_case(kind, int(number), corpus, options.keep)
        return 0
    kinds = options.only or list(KINDS)
    started = time.monotonic()
    counts: Counter[str] = Counter()
    faults: dict[str, list[str]] = {}
    slowest = (0.0, "")
    for number in itertools.count(options.start):
        for kind in kinds:
            if number % _SELDOM.get(kind, 1):
                continue
            if time.monotonic() - started > options.minutes * 60:
                _summary(counts, faults, slowest, time.monotonic() - started)
                return 1 if faults else 0
            before = time.monotonic()
            faulthandler.dump_traceback_later(MOST_SECONDS * 7, exit=True)
            try:
                run_case(kind, number, corpus, options.keep)
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # noqa: BLE001 - faults of every kind are counted
                where = traceback.extract_tb(error.__traceback__)[-1]
                signature = f"{type(error).__name__} {Path(where.filename).name}:{where.lineno} {str(error)[:160]!r}"
                if signature not in faults:
                    print(f"{kind}:{number}: {signature}", flush=True)
                faults.setdefault(signature, []).append(f"{kind}:{number}")
            faulthandler.cancel_dump_traceback_later()
            counts[kind] += 1
            slowest = max(slowest, (time.monotonic() - before, f"{kind}:{number}"))
    return 0


def _summary(counts: Counter[str], faults: dict[str, list[str]], slowest: tuple[float, str], seconds: float) -> None:
    print(f"{sum(counts.values())} inputs in {seconds:.0f} s: {dict(counts)}")
    print(f"slowest: {slowest[1]} {slowest[0]:.2f} s; {len(faults)} kinds of faults")
    for signature, where in faults.items():
        print(f"{len(where)} x {signature}: {', '.join(where[:5])}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--start", type=int, default=0, help="the number of the first inputs")
    parser.add_argument("--only", action="append", choices=list(KINDS))
    parser.add_argument("--release", help="the source root of a release, whose files are mutated too")
    parser.add_argument("--keep", type=Path, help="where inputs that show a fault are put")
    parser.add_argument("--replay", metavar="KIND:NUMBER")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
