"""Which calls of a runtime make up the contract: every way that the target travels, and the draft beside it."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from contract_trees import GRAPH, PLAIN_RUNNER, RUNNER, WORKER, contract_of, shapes, sites_of, write_runtime

from eagle3_lint.errors import UnreadableSourceError
from eagle3_lint.project.contract import CAPTURE_SETTER, EMBED_GETTER, builtin_contract, read_contract
from eagle3_lint.sources.reading import parse_source, read_source
from eagle3_lint.sources.text import SourceText

WITHOUT = "()"
WITH_IDS = "(layer_ids)"

FOLLOWED = {
    "the runner's own model": (
        {RUNNER: PLAIN_RUNNER},
        {CAPTURE_SETTER: [WITH_IDS]},
    ),
    "the model of a graph runner's runner": (
        {
            GRAPH: """
            class CudaGraphRunner:
                def __init__(self, model_runner):
                    self.model_runner = model_runner
                    if model_runner.spec_algorithm.is_eagle3():
                        self.model_runner.model.set_eagle3_layers_to_capture()
            """
        },
        {CAPTURE_SETTER: [WITHOUT]},
    ),
    "the model of the target's worker": (
        {
            RUNNER: PLAIN_RUNNER,
            WORKER: """
            class EAGLEWorker:
                def __init__(self, target_worker):
                    self.target_worker = target_worker
                    embed, head = self.target_worker.model_runner.model.get_embed_and_head()
                    self.draft_model_runner.model.set_embed_and_head(embed, head)
            """,
        },
        {CAPTURE_SETTER: [WITH_IDS], EMBED_GETTER: [WITHOUT]},
    ),
    "a parameter that a runner hands its model to": (
        {
            RUNNER: """
            from sglang.srt.model_executor.components.capture import configure

            class ModelRunner:
                def initialize(self):
                    configure(model=self.model, ids=self.ids)
            """,
            "model_executor/components/capture.py": """
            def configure(*, model, ids):
                model.set_eagle3_layers_to_capture(ids)
            """,
        },
        {CAPTURE_SETTER: ["(ids)"]},
    ),
    "a parameter called target_model": (
        {
            RUNNER: PLAIN_RUNNER,
            "speculative/helpers.py": """
            def bind(target_model, draft_model):
                draft_model.set_embed_and_head(*target_model.get_embed_and_head())
            """,
        },
        {CAPTURE_SETTER: [WITH_IDS], EMBED_GETTER: [WITHOUT]},
    ),
    "a parameter whose name tells nothing": (
        {
            RUNNER: PLAIN_RUNNER,
            WORKER: """
            def share(owner, taker):
                taker.set_embed(owner.get_embed())

            class EAGLEWorker:
                def start(self):
                    share(self.target_worker.model_runner.model, self.draft_runner.model)
            """,
        },
        {CAPTURE_SETTER: [WITH_IDS], "get_embed": [WITHOUT]},
    ),
    "a local alias": (
        {
            RUNNER: PLAIN_RUNNER,
            WORKER: """
            class DFlashWorker:
                def start(self):
                    found = self.target_worker.model_runner.model
                    again = found
                    return again.get_input_embeddings()
            """,
        },
        {CAPTURE_SETTER: [WITH_IDS], "get_input_embeddings": [WITHOUT]},
    ),
    "an alias that is given the draft first": (
        {
            RUNNER: PLAIN_RUNNER,
            WORKER: """
            class EAGLEWorker:
                def start(self):
                    one = self.draft_runner.model
                    one.set_embed(None)
                    one = self.target_worker.model_runner.model
                    return one.get_embed_and_head()
            """,
        },
        {CAPTURE_SETTER: [WITH_IDS], EMBED_GETTER: [WITHOUT]},
    ),
    "getattr of an attribute": (
        {
            RUNNER: PLAIN_RUNNER,
            WORKER: """
            class EAGLEWorker:
                def start(self):
                    found = getattr(self.target_worker.model_runner, "model")
                    return found.get_embed_and_head()
            """,
        },
        {CAPTURE_SETTER: [WITH_IDS], EMBED_GETTER: [WITHOUT]},
    ),
    "a closure": (
        {
            RUNNER: PLAIN_RUNNER,
            WORKER: """
            class EAGLEWorker:
                def start(self):
                    owner = self.target_worker.model_runner.model

                    def share():
                        return owner.get_embed_and_head()

                    return share()
            """,
        },
        {CAPTURE_SETTER: [WITH_IDS], EMBED_GETTER: [WITHOUT]},
    ),
    "a variable that holds the method": (
        {
            RUNNER: """
            class ModelRunner:
                def initialize(self):
                    setter = self.model.set_eagle3_layers_to_capture
                    setter(self.layer_ids)
            """
        },
        {CAPTURE_SETTER: [WITH_IDS]},
    ),
    "getattr of the method": (
        {
            RUNNER: """
            class ModelRunner:
                def initialize(self):
                    getattr(self.model, "set_eagle3_layers_to_capture")(self.layer_ids)
                    setter = getattr(self.model, "set_dflash_layers_to_capture", None)
                    if setter is not None:
                        setter(self.layer_ids)
            """
        },
        {CAPTURE_SETTER: [WITH_IDS], "set_dflash_layers_to_capture": [WITH_IDS]},
    ),
    "a further method that the workers call": (
        {
            RUNNER: PLAIN_RUNNER,
            "speculative/dspark_worker.py": """
            class DSparkWorker:
                def start(self):
                    target_model = self.target_worker.model_runner.model
                    target_model.set_projector(self.projector, width=3)
            """,
        },
        {CAPTURE_SETTER: [WITH_IDS], "set_projector": ["(projector, width=…)"]},
    ),
    "a method of a protocol that a runner calls": (
        {
            RUNNER: """
            class ModelRunner:
                def initialize(self):
                    self.model.set_eagle3_layers_to_capture(self.layer_ids)
                    return self.model.get_aux_hidden_states_width()
            """,
        },
        {CAPTURE_SETTER: [WITH_IDS], "get_aux_hidden_states_width": [WITHOUT]},
    ),
    "a folder that no release has called from yet": (
        {
            RUNNER: "class ModelRunner:\n    pass\n",
            "managers/capture.py": """
            def capture(model, layer_ids):
                model.set_eagle3_layers_to_capture(layer_ids)
            """,
        },
        {CAPTURE_SETTER: [WITH_IDS]},
    ),
}


@pytest.mark.parametrize(("files", "expected"), FOLLOWED.values(), ids=FOLLOWED)
def test_target_is_followed(tmp_path: Path, files: dict[str, str], expected: dict[str, list[str]]) -> None:
    assert shapes(contract_of(tmp_path, files)) == expected


SILENT = {
    "the draft's runner": """
        class EAGLEWorker:
            def start(self, embed, head):
                self.draft_model_runner.model.set_embed_and_head(embed, head)
                self.draft_runner_list[0].model.set_embed(embed)
                self.mtp_model_runner(0).model.get_embed_and_head()
        """,
    "the draft by its own name": """
        class DFlashWorker:
            def start(self):
                self.draft_model.set_embed(None)
                return self.draft_model.get_input_embeddings()
        """,
    "the own model of a speculative worker": """
        class EAGLEWorker(TpModelWorker):
            def start(self):
                return self.model_runner.model.get_embed_and_head()
        """,
    "an alias of the draft": """
        class EAGLEWorker:
            def start(self):
                one = self.target_worker.model_runner.model
                one = self.draft_runner.model
                return one.get_embed_and_head()
        """,
    "a loop over drafts": """
        class EAGLEWorker:
            def start(self):
                for index, runner in enumerate(self.draft_runner_list):
                    runner.model.get_embed_and_head()
        """,
    "the graph runner of the draft": """
        class EAGLEDraftCudaGraphRunner:
            def __init__(self, eagle_worker):
                self.model_runner = eagle_worker.model_runner
                self.model_runner.model.get_embed_and_head()
                self.model_runner.model.set_eagle3_layers_to_capture()
        """,
    "a body": """
        def tokens(target_model):
            target_model.language_model.set_dflash_layers_to_capture([1])
            return target_model.model.get_input_embeddings()
        """,
    "a method of the runner itself": """
        class TargetModelRunner:
            def set_dflash_layers_to_capture(self, layer_ids):
                self.layer_ids = layer_ids

            def start(self, target_runner):
                self.set_dflash_layers_to_capture([1])
                target_runner.set_dflash_layers_to_capture([1])
        """,
    "text about it": '''
        class EAGLEWorker:
            """Calls target_model.get_embed_and_head()."""

            def start(self):
                # self.target_worker.model_runner.model.get_embed_and_head()
                raise ValueError("target_model.set_dflash_layers_to_capture is missing: get_embed_and_head()")
        ''',
    "what every module has": """
        def inspect(target_model):
            target_model.eval()
            target_model.forward(None)
            target_model.load_weights([])
            target_model._private()
            target_model.lm_head(None)
            return list(target_model.named_parameters())
        """,
    "a reference that nothing calls": """
        def names(target_model):
            return [target_model.get_embed_and_head, "set_dflash_layers_to_capture"]
        """,
    "a name that the source doesn't decide": """
        def switch(target_model, protocol):
            getattr(target_model, f"set_{protocol}_layers_to_capture")([1])
            getattr(target_model, protocol)([1])
        """,
    "something that is no model": """
        class EAGLEWorker:
            def start(self, target_worker, config):
                target_worker.get_ready()
                config.target_layer_ids.get_first()
                return target_worker.model_runner.model_config.get_width()
        """,
    "a name of other code": """
        class EAGLEWorker:
            def start(self):
                return self.tree.get_embedding(), self.cache.set_embeddings(1)
        """,
}


@pytest.mark.parametrize("source", SILENT.values(), ids=SILENT)
def test_other_calls_are_left_out(tmp_path: Path, source: str) -> None:
    contract = contract_of(tmp_path, {RUNNER: PLAIN_RUNNER, WORKER: source})

    assert shapes(contract) == {CAPTURE_SETTER: [WITH_IDS]}


SHAPES = {
    "": ("()", 0, (), False),
    "ids": ("(ids)", 1, (), False),
    "self.layer_ids": ("(layer_ids)", 1, (), False),
    "config.eagle_aux_hidden_state_layer_ids": ("(layer_ids)", 1, (), False),
    "None": ("(None)", 1, (), False),
    "'all'": ("('…')", 1, (), False),
    "[1, 2]": ("(…)", 1, (), False),
    "self.pick(3)": ("(pick(…))", 1, (), False),
    "self.ids[0]": ("(ids)", 1, (), False),
    "layer_ids=self.ids": ("(layer_ids=…)", 0, ("layer_ids",), False),
    "ids, strict=True": ("(ids, strict=…)", 1, ("strict",), False),
    "*ids": ("(*ids)", 0, (), True),
    "**options": ("(**options)", 0, (), True),
    "ids, *more, strict=True, **options": ("(ids, *more, strict=…, **options)", 1, ("strict",), True),
}


@pytest.mark.parametrize("arguments", SHAPES)
def test_shape(tmp_path: Path, arguments: str) -> None:
    source = f"class ModelRunner:\n    def f(self, ids):\n        self.model.{CAPTURE_SETTER}({arguments})\n"
    (site,) = sites_of(contract_of(tmp_path, {RUNNER: source}), CAPTURE_SETTER)

    assert (site.shape, site.positional, site.keywords, site.starred) == SHAPES[arguments]


def test_place(tmp_path: Path) -> None:
    source = f'class ModelRunner:\n    def f(self):\n        "é", self.model.{CAPTURE_SETTER}()\n'
    (site,) = sites_of(contract_of(tmp_path, {RUNNER: source}), CAPTURE_SETTER)

    assert site.path == str(tmp_path / "sglang" / "srt" / RUNNER)
    assert (site.line, site.column, site.function) == (3, 14, "ModelRunner.f")


PROTOCOL_CASES = {
    "the worker's class": (
        "speculative/worker.py",
        "class EAGLEWorker:\n  def f(self, target_model):\n    CALL",
        ("eagle3",),
    ),
    "the file": ("speculative/dflash_worker.py", "class Worker:\n  def f(self, target_model):\n    CALL", ("dflash",)),
    "the folder": ("speculative/dspark_parts/draft.py", "def f(target_model):\n  CALL", ("dspark",)),
    "the function": ("speculative/eagle_worker.py", "def prepare_dflash(target_model):\n  CALL", ("dflash",)),
    "nothing": ("speculative/frozen_kv_mtp_worker.py", "def f(target_model):\n  CALL", ()),
    "a test": ("speculative/worker.py", "def f(target_model, a):\n  if a.is_dspark():\n    CALL", ("dspark",)),
    "a test by name": ("speculative/worker.py", "def f(target_model, a):\n  if a == 'EAGLE3':\n    CALL", ("eagle3",)),
    "a list of names": (
        "speculative/worker.py",
        "def f(target_model, a):\n  if a in ('EAGLE3', 'DFLASH'):\n    CALL",
        ("eagle3", "dflash"),
    ),
    "the other branch": (
        "speculative/eagle_worker.py",
        "def f(target_model, a):\n  if a.is_eagle3():\n    pass\n  else:\n    CALL",
        (),
    ),
    "an early exit": (
        "speculative/worker.py",
        "def f(target_model, a):\n  if not a.is_eagle3():\n    return\n  CALL",
        ("eagle3",),
    ),
    "layer ids that are there": (
        "speculative/worker.py",
        "def f(target_model, eagle_layer_ids):\n  if eagle_layer_ids is not None:\n    CALL",
        ("eagle3",),
    ),
}


@pytest.mark.parametrize("case", PROTOCOL_CASES)
def test_protocols(tmp_path: Path, case: str) -> None:
    path, source, expected = PROTOCOL_CASES[case]
    call = f"target_model.{EMBED_GETTER}()"
    (site,) = sites_of(contract_of(tmp_path, {RUNNER: PLAIN_RUNNER, path: source.replace("CALL", call)}), EMBED_GETTER)

    assert site.protocols == expected
    assert site.protocol == (expected[0] if expected else None)


def test_protocols_of_a_helper_are_those_of_its_callers(tmp_path: Path) -> None:
    contract = contract_of(
        tmp_path,
        {
            RUNNER: PLAIN_RUNNER,
            "speculative/sharing.py": """
            def resolve(target_model):
                return target_model.get_embed_and_head()

            def resolve_and_load(*, target_model, path):
                return resolve(target_model)
            """,
            WORKER: """
            from sglang.srt.speculative.sharing import resolve_and_load

            class EagleDraftWorker:
                def init_lm_head(self):
                    runner = self.target_worker.model_runner
                    resolve_and_load(target_model=runner.model, path=runner.path)
            """,
            "speculative/dflash_worker.py": """
            from sglang.srt.speculative.sharing import resolve_and_load

            class Worker:
                def start(self):
                    resolve_and_load(target_model=self.target_model, path="")
            """,
        },
    )

    (site,) = sites_of(contract, EMBED_GETTER)
    assert site.protocols == ("eagle3", "dflash")
    assert contract.required("eagle3") == contract.methods


def test_protocols_of_the_contract(tmp_path: Path) -> None:
    contract = contract_of(
        tmp_path,
        {
            RUNNER: """
            class ModelRunner:
                def initialize(self):
                    self.model.set_eagle3_layers_to_capture()
                    self.model.set_dspark_layers_to_capture()
            """
        },
    )

    assert contract.protocols == {CAPTURE_SETTER, "set_dspark_layers_to_capture"}


def test_built_in_contract_where_there_is_no_runtime(tmp_path: Path) -> None:
    contract = contract_of(tmp_path, {"models/llama.py": "class LlamaForCausalLM:\n    pass\n"})

    assert contract == builtin_contract()
    assert contract.source == "built-in"
    assert {method.name: method.called_with for method in contract.methods} == {
        CAPTURE_SETTER: (WITHOUT, WITH_IDS),
        EMBED_GETTER: (WITHOUT,),
    }
    assert [method.name for method in contract.required("eagle3")] == [EMBED_GETTER, CAPTURE_SETTER]


def test_built_in_getter_where_the_workers_are_not_there(tmp_path: Path) -> None:
    contract = contract_of(tmp_path, {RUNNER: PLAIN_RUNNER})

    assert contract.source == "runtime"
    assert contract.method(EMBED_GETTER) == builtin_contract().method(EMBED_GETTER)


def test_workers_that_no_longer_call_the_getter_do_not_require_it(tmp_path: Path) -> None:
    contract = contract_of(tmp_path, {RUNNER: PLAIN_RUNNER, WORKER: "class EAGLEWorker:\n    pass\n"})

    assert contract.method(EMBED_GETTER) is None


def test_built_in_setter_where_no_call_is_found(tmp_path: Path) -> None:
    contract = contract_of(
        tmp_path,
        {
            RUNNER: "class ModelRunner:\n    pass\n",
            WORKER: "class EAGLEWorker:\n    def f(self, target_model):\n        target_model.get_embed_and_head()\n",
        },
    )

    assert contract.method(CAPTURE_SETTER) == builtin_contract().method(CAPTURE_SETTER)
    assert contract.source == "runtime"


def test_model_files_are_no_runtime(tmp_path: Path) -> None:
    contract = contract_of(
        tmp_path,
        {
            RUNNER: PLAIN_RUNNER,
            "models/wrapper.py": f"class W:\n    def f(self):\n        self.llm.{CAPTURE_SETTER}(1, 2, 3)\n",
        },
    )

    assert shapes(contract) == {CAPTURE_SETTER: [WITH_IDS]}


BROKEN = {
    "a syntax error": "target_model.get_embed_and_head(\n",
    "nothing": "",
    "a loop of aliases": """
        def f(target_model):
            a = b
            b = a
            a.get_embed_and_head()
            return a[0](b)[0]
        """,
    "a value made of itself": """
        class EAGLEWorker:
            def f(self):
                self.x = self.x.model
                self.x = self.x[0]
                x = x[0]
                for x in x:
                    x = f"{x}{x}"
                getattr(self.x, x)(x)
                return self.x.set_dflash_layers_to_capture()
        """,
    "helpers that call each other": """
        def even(model):
            return odd(model) or model.get_embed_and_head()

        def odd(model):
            return even(odd(model))
        """,
    "a class that inherits from itself": """
        class EAGLEWorker(EAGLEWorker, Other[int]):
            def f(self):
                return self.source.get_embed_and_head() if super().f().model else super().source.get_embed()
        """,
    "deep nesting": f"def f(target_model):\n    return {'-' * 200}target_model{'.model' * 200}.get_embed_and_head()\n",
    "helpers that double": "".join(f"def f{i}(m):\n    return f{i + 1}(m) or f{i + 2}(m)\n" for i in range(60))
    + "def f60(m):\n    return m\ndef f61(m):\n    return m\ndef f(target_model):\n    f0(f0).get_embed_and_head()\n",
    "helpers that all call each other": "".join(
        f"def f{i}(model):\n    model.get_embed_and_head()\n" + "".join(f"    f{j}(model)\n" for j in range(8))
        for i in range(8)
    ),
    "unusual calls": """
        def f(*target_model, **draft_model):
            (lambda model: model.get_embed_and_head())(target_model[0])
            [m.get_embed_and_head() for m in target_model if hasattr(m)]
            getattr()(getattr(target_model), hasattr)
            first, *rest = target_model
            rest[0].get_embed_and_head(*rest, **draft_model)
            match target_model:
                case [model]:
                    model.get_embed_and_head()
        """,
}


@pytest.mark.parametrize("source", BROKEN.values(), ids=BROKEN)
def test_strange_code_does_no_harm(tmp_path: Path, source: str) -> None:
    contract = contract_of(tmp_path, {RUNNER: PLAIN_RUNNER, WORKER: source})

    assert [site.shape for site in sites_of(contract, CAPTURE_SETTER)] == [WITH_IDS]


def test_unreadable_files_are_passed_over(tmp_path: Path) -> None:
    write_runtime(tmp_path, {RUNNER: PLAIN_RUNNER, WORKER: "target_model.get_embed_and_head()\n"})

    def parse(source: SourceText) -> ast.Module:
        raise UnreadableSourceError("not today")

    assert read_contract(str(tmp_path), read_source, parse) == builtin_contract()


def test_files_without_the_names_are_not_parsed(tmp_path: Path) -> None:
    unrelated = {f"speculative/unrelated_{number}.py": "def f():\n    return 1\n" for number in range(5)}
    write_runtime(tmp_path, {RUNNER: PLAIN_RUNNER, **unrelated})
    parsed: list[str] = []

    def parse(source: SourceText) -> ast.Module:
        parsed.append(os.path.basename(source.path))
        return parse_source(source)

    read_contract(str(tmp_path), read_source, parse)
    assert set(parsed) == {"model_runner.py"}
