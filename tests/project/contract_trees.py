"""Small runtimes for the tests of the contract, and what is read from them."""

from __future__ import annotations

import textwrap
from pathlib import Path

from eagle3_lint.project.contract import CallSite, Contract, read_contract
from eagle3_lint.sources.reading import parse_source, read_source

RUNNER = "model_executor/model_runner.py"
GRAPH = "model_executor/cuda_graph_runner.py"
WORKER = "speculative/eagle_worker.py"

PLAIN_RUNNER = """
    class ModelRunner:
        def initialize(self):
            self.model.set_eagle3_layers_to_capture(self.layer_ids)
    """
"""A runner that calls the setter, so that a test about something else has a complete runtime."""


def write_runtime(root: Path, files: dict[str, str]) -> None:
    """Write ``files``, by their paths below ``sglang/srt``."""
    for relative, text in files.items():
        path = root / "sglang" / "srt" / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")


def contract_of(root: Path, files: dict[str, str]) -> Contract:
    """The contract of a runtime with ``files``."""
    write_runtime(root, files)
    return read_contract(str(root), read_source, parse_source)


def sites_of(contract: Contract, name: str) -> tuple[CallSite, ...]:
    """The call sites of one method; none where the contract hasn't it."""
    method = contract.method(name)
    return method.call_sites if method is not None else ()


def shapes(contract: Contract) -> dict[str, list[str]]:
    """The methods that the contract found in the source, each with its shapes."""
    return {method.name: list(method.called_with) for method in contract.methods if method.call_sites}
