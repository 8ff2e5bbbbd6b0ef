"""The contract: what this release's runtime calls on a target.

The names move between files and functions from release to release, so they are read from the runtime of the tree that
is linted. Which calls belong to the contract:

- A *capture setter* (``set_…_to_capture``), called on anything that no name says to be the draft, a submodule of a
  model, a runner or a worker: no draft has one.
- ``get_embed_and_head`` (also its variants, ``get_embed_and_head_for_…``) and ``get_embed`` in the same way, save on
  the own model of a speculative worker, which is the draft.
- ``get_input_embeddings``, and every method named after a protocol or after auxiliary hidden states, called in
  ``srt/model_executor`` on a runner's model.
- Every other method that ``srt/speculative`` calls on what a name says is the target. What every ``torch.nn.Module``
  has, ``forward``, ``load_weights``, private methods and the calling of submodules are left out.

Whose a value is, its names tell: those of its attributes and calls, local names replaced by what they were given. Calls
through ``getattr`` and through a local name that holds the method count too. A guard is a test around the call, or an
exit before it, that names the method; a method is required where no way through the caller does without it.

Sources: the runtimes of the releases 0.4.6 to 0.5.23; https://docs.sglang.ai (speculative decoding).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from eagle3_lint.project.contract.model import (
    CAPTURE_SETTER,
    CAPTURE_SETTERS,
    EMBED_GETTER,
    PROTOCOLS,
    CallSite,
    Contract,
    ContractMethod,
    Protocol,
    builtin_contract,
    capture_setter,
)

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable

    from eagle3_lint.sources.text import SourceText

__all__ = [
    "CAPTURE_SETTER",
    "CAPTURE_SETTERS",
    "EMBED_GETTER",
    "PROTOCOLS",
    "CallSite",
    "Contract",
    "ContractMethod",
    "Protocol",
    "builtin_contract",
    "capture_setter",
    "read_contract",
]


def read_contract(root: str, read: Callable[[str], SourceText], parse: Callable[[SourceText], ast.Module]) -> Contract:
    """What the runtime below ``<root>/sglang/srt`` calls on a target.

    ``read`` and ``parse`` are asked for the few files that matter, ``parse`` for parts of them too (so that it must not
    keep trees by path). A file that they refuse with ``UnreadableSourceError``, ``OSError``, ``SyntaxError`` or
    ``ValueError`` is taken to call nothing; nothing else is raised. Where the tree has no runtime, the built-in contract
    is returned; where the runtime has no call of any capture setter, or lacks the folder of the speculative workers, the
    built-in default fills the gap.
    """
    # A contract that is known from an earlier run must not cost the import of what reads one.
    from eagle3_lint.project.contract.reading import contract_below

    return contract_below(root, read, parse)
