"""Parses the models of a project before the rules ask for them, and reads the contract: a job for two processes."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from eagle3_lint.engine.partner import Job, Partner
from eagle3_lint.engine.second_process import WORTH_A_PROCESS
from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.facts.encoding import decode, encode
from eagle3_lint.facts.extract import facts_of_tree
from eagle3_lint.project.contract.encoding import decode as decode_contract
from eagle3_lint.project.contract.encoding import encode as encode_contract
from eagle3_lint.sources.reading import parse_source

if TYPE_CHECKING:
    from eagle3_lint.engine.opened import OpenedProject

Plain = tuple[Any, ...]

# Reading the contract takes as long as so many bytes of models.
_CONTRACT = 900_000


class Loading:
    """The facts of the modules at ``paths``, and the contract, as far as neither is known from an earlier run.

    Beside the facts of each module goes what was asked of its text in passing.
    """

    def __init__(self, opened: OpenedProject, paths: Sequence[str]) -> None:
        self._opened = opened
        sizes = {path: opened.size_of(path) for path in paths if _is_unknown(opened, path)}
        self._size = sum(sizes.values())
        self._reads_contract = not opened.knows_contract
        mine, others = _halves(sizes, self._size // 2 + (_CONTRACT if self._reads_contract else 0) // 2)
        self._items: list[str | None] = [*mine, *([None] if self._reads_contract else ()), *others]
        self._count_of_mine = len(mine)
        self._own: dict[str, Plain] = {}
        self._own_contract: Any = None
        self._is_shared = False

    @property
    def count(self) -> int:
        """The modules, and the contract."""
        return len(self._items)

    @property
    def mine(self) -> int:
        """The first half of the modules.

        The contract is the other process's: what takes longest to check has names late in the alphabet (``qwen``,
        ``transformers``), so who begins with the first half has more time for loading.
        """
        return self._count_of_mine

    def argument(self) -> Any:
        """Nothing: the partner knows the items."""
        return None

    def here(self, number: int) -> None:
        """Load one module, or the contract."""
        self._load(number)
        path = self._items[number]
        if path is not None:
            self._keep(path, self._own[path])

    def there(self, argument: Any, numbers: Iterable[int]) -> Any:
        """Load them for the other process, and keep them here for the jobs to come."""
        for number in numbers:
            self._load(number)
        return self.own()

    def take(self, answer: Any) -> None:
        """Take what was loaded in the other process, and keep it for later runs."""
        self.install(answer)
        for path, plain in answer[0].items():
            self._keep(path, plain)

    def install(self, answer: Any) -> None:
        """Take what was loaded in the other process for the jobs to come."""
        found, contract = answer
        if contract is not None:
            self._opened.install_contract(decode_contract(contract))
        for path, plain in found.items():
            self._install(path, plain)

    @property
    def elsewhere(self) -> frozenset[str]:
        """The modules that a partner has loaded."""
        if not self._is_shared:
            return frozenset()
        return frozenset(path for path in self._items if path is not None and path not in self._own)

    def own(self) -> Any:
        """What was loaded in this process."""
        return self._own, self._own_contract

    def _load(self, number: int) -> None:
        path = self._items[number]
        if path is not None:
            self._own[path] = self._read(path)
            return
        contract = self._opened.read_contract()
        self._opened.install_contract(contract)
        self._own_contract = encode_contract(contract)

    def _read(self, path: str) -> Plain:
        try:
            source = self._opened.modules.source(path)
            tree = parse_source(source)
            facts, statements = facts_of_tree(tree)
        except UnreadableSourceError as error:
            self._opened.modules.install_unreadable(path, error)
            return (error.reason, error.line, error.column)
        self._opened.modules.install(source, facts, statements)
        return marshal.dumps(encode(facts)), self._opened.look_beside(path, tree)

    def _install(self, path: str, plain: Plain) -> None:
        if isinstance(plain[0], str):
            self._opened.modules.install_unreadable(path, UnreadableSourceError(*plain))
            return
        packed, _ = plain
        # Most facts are never asked for: the partner looks at the families that it has loaded.
        self._opened.modules.install_later(path, lambda: decode(marshal.loads(packed)))

    def _keep(self, path: str, plain: Plain) -> None:
        if isinstance(plain[0], str):
            return
        packed, looked_at = plain
        if self._opened.memory is not None:
            self._opened.memory.keep_facts(self._opened.content_digest(path), marshal.loads(packed))
        self._opened.looked_at(path, looked_at)

    def share_with(self, partner: Partner, following: Job | None = None) -> None:
        """Load everything with ``partner``, which is started for it where that pays; else it is loaded when asked for.

        ``following`` is the job that the partner gets next.
        """
        if self._opened.parallel and self._size >= WORTH_A_PROCESS:
            partner.start()
            self._is_shared = True
            partner.share(self, following)
            if self._reads_contract:
                self._opened.remember_contract()


def load_models(opened: OpenedProject, paths: Sequence[str]) -> None:
    """Load the modules at ``paths`` and the contract, in two processes where that pays."""
    loading = Loading(opened, paths)
    with Partner(loading) as partner:
        loading.share_with(partner)


def _is_unknown(opened: OpenedProject, path: str) -> bool:
    return opened.memory is None or not opened.memory.knows_facts(opened.content_digest(path))


def _halves(sizes: Mapping[str, int], most: int) -> tuple[list[str], list[str]]:
    """The files of these ``sizes`` in two parts, the first of about ``most`` bytes: who has one file of a family often has
    the others.

    Files of one family tend to have names that begin alike. In each part the largest come first: small ones are left at the
    end, with which both processes end at the same time.
    """
    size = 0
    parts: tuple[list[str], list[str]] = ([], [])
    for path in sorted(sizes):
        parts[size > most].append(path)
        size += sizes[path]
    for part in parts:
        part.sort(key=sizes.__getitem__, reverse=True)
    return parts
