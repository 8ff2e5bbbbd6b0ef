"""A method's name is a near miss of the EAGLE-3 interface, and nothing calls it.

## What it does

Finds methods of targets (registered classes, what they inherit from, and what they hold) whose name differs in a letter
or two, or in a word, from a method of the interface family, and which nothing calls: the name stands nowhere else in
the tree, models and runtime, save in methods of the same name. What is called by its name is no slip of the pen.

## Why is this bad?

The runtime asks for the exact name. To it the class has no such method: the server stops, or keeps an inherited method
that was meant to be replaced.

## Example

```python
class ForCausalLM(nn.Module):
    def set_eagle3_layer_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = layer_ids or [2, 16, 29]
```

## Use instead

```python
class ForCausalLM(nn.Module):
    def set_eagle3_layers_to_capture(self, layer_ids=None):
        self.capture_aux_hidden_states = True
        self.model.layers_to_capture = layer_ids or [2, 16, 29]
```

## Fix

Renames the method. Safe where the old name stands nowhere else in the module and no inherited method is replaced.

## Sources

- No public report, and no release from 0.4.6 to 0.5.23 of sgl-project/sglang has such a method. The names are those
  that its runtime calls.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cached_property

from eagle3_lint.facts.module import Member
from eagle3_lint.findings.model import Evidence, Finding
from eagle3_lint.fixes.renaming import renaming_fix
from eagle3_lint.project.classes import ClassInfo
from eagle3_lint.project.modules import FunctionNode, Module
from eagle3_lint.project.project import Project
from eagle3_lint.project.roles import FAMILY
from eagle3_lint.project.subjects import delegating_subjects, interface_methods, registered_among
from eagle3_lint.rules.base import Rule
from eagle3_lint.rules.project_context import ProjectContext
from eagle3_lint.sources.identifiers import places

# Names of transformers' own model interface, one that many models have for the embedding of given ids, and words that
# make a name mean something else.
_OTHER_NAMES = frozenset(
    {"set_input_embeddings", "get_output_embeddings", "set_output_embeddings", "get_input_embedding"}
)
_VERBS = frozenset(("add", "clear", "compute", "get", "has", "init", "is", "reset", "set", "unset", "update", "use"))
_FILLERS = frozenset(
    ("and", "aux", "for", "layer", "layers", "lm", "model", "of", "the", "to", "token", "tokens", "weight")
)
# A slip leaves one of these in any of the long names; the short ones are compared whatever is in them.
_ROOTS = ("embed", "head", "layer", "capture", "eagle", "flash", "spark", "hidden")
_SHORT = range(8, 11)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def check(context: ProjectContext) -> Iterable[Finding]:
    """One finding for each suspect definition that nothing in the tree calls, and each class that leads to it."""
    suspects = context.ask(suspects_of)
    if not suspects:
        return
    project = context.project
    reached = _Reached(project, tuple(context.subjects(delegating_subjects(project, context.paths))))
    for path, index, number, meant in suspects:
        module = project.modules.at(path)
        assert module is not None
        info = project.names.info(module, index)
        member = info.facts.members[number]
        leading = reached.leading_to(info)
        if leading and not context.ask(is_mentioned, member.name):
            yield _finding(context, info, member, meant, registered_among(project, leading))


def suspects_of(project: Project) -> tuple[tuple[str, int, int, str], ...]:
    """Each method of the tree whose name is a near miss and that nothing in its own file calls: the path, the number of its
    class, its own, and what it misses."""
    return tuple((path, *one) for path, found in project.each_file(_suspects_in).items() for one in found)


def _suspects_in(project: Project, module: Module) -> tuple[tuple[int, int, str], ...]:
    names = project.once(_Names)
    return tuple(
        (info.index, number, meant)
        for info in project.classes_of(module)
        for number, member in enumerate(info.facts.members)
        if member.kind == "function"
        and not member.decorators
        and (meant := names.meant_by(member.name))
        and meant not in info.members
        and not _is_mentioned_in(module, member.name)
    )


class _Names:
    """Which method of the interface each name of a method is a near miss of."""

    def __init__(self, project: Project) -> None:
        self._family = interface_methods(project)
        self._meant: dict[str, str] = {}

    def meant_by(self, name: str) -> str:
        """What ``near_miss`` says of ``name``."""
        meant = self._meant.get(name)
        if meant is None:
            meant = self._meant[name] = near_miss(name, self._family)
        return meant


class _Reached:
    """The classes whose methods the runtime may call: ``subjects``, what they inherit from, and what they hold."""

    def __init__(self, project: Project, subjects: tuple[ClassInfo, ...]) -> None:
        self._project = project
        self._subjects = subjects

    @cached_property
    def _all(self) -> dict[ClassInfo, set[ClassInfo]]:
        """Each of them, with the classes that inherit from it or hold it; drafts aside."""
        roles = self._project.roles
        found: dict[ClassInfo, set[ClassInfo]] = {}
        pending: list[tuple[ClassInfo, ClassInfo]] = [(info, info) for info in self._subjects]
        while pending:
            info, by = pending.pop()
            if roles.is_draft(info):
                continue
            known = info in found
            found.setdefault(info, set()).add(by)
            if known:
                continue
            held = [one.info for name in roles.held(info) for one in roles.candidates(info, name)]
            pending.extend((one, info) for one in (*info.project_classes[1:], *held))
        return found

    def leading_to(self, info: ClassInfo) -> tuple[ClassInfo, ...]:
        """The subjects that lead to ``info``."""
        seen: set[ClassInfo] = set()
        pending = [info]
        while pending:
            one = pending.pop()
            if one not in seen:
                seen.add(one)
                pending.extend(self._all.get(one, ()))
        return tuple(one for one in self._subjects if one in seen)


def near_miss(name: str, family: Iterable[str]) -> str:
    """The member of ``family`` that ``name`` looks like, or the empty string; empty for members themselves too."""
    plain = _CAMEL.sub("_", name).lower()
    if name in family or name in _OTHER_NAMES or name.startswith("_"):
        return ""
    if len(plain) not in _SHORT and not any(root in plain for root in _ROOTS):
        return ""
    words = plain.split("_")
    best = ""
    fewest = 99
    for meant in family:
        if meant == plain:
            return meant
        if abs(len(meant) - len(plain)) > 12 or (words[0] in _VERBS and words[0] != meant.partition("_")[0]):
            continue
        typos = _distance(plain, meant, _tolerance(meant))
        if typos is None and _same_words(words, meant.split("_")):
            typos = _tolerance(meant)
        if typos is not None and typos < fewest:
            best, fewest = meant, typos
    return best


def _tolerance(meant: str) -> int:
    return 1 if len(meant) < 16 else 2 if len(meant) < 24 else 3


def _distance(one: str, other: str, most: int) -> int | None:
    """How many letters are wrong, missing, too many or swapped with the next; None for more than ``most``.

    Optimal string alignment (https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance), with an early end.
    """
    # One slip changes two letters at most in what letters there are.
    if abs(len(one) - len(other)) > most or len(set(one) ^ set(other)) > 2 * most:
        return None
    before: list[int] = []
    last = list(range(len(other) + 1))
    for row, letter in enumerate(one, 1):
        line = [row]
        for column, wanted in enumerate(other, 1):
            cost = min(last[column] + 1, line[column - 1] + 1, last[column - 1] + (letter != wanted))
            if row > 1 and column > 1 and letter == other[column - 2] and one[row - 2] == wanted:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        if min(line) > most:
            return None
        before, last = last, line
    return last[-1] if last[-1] <= most else None


def _same_words(words: list[str], meant: list[str]) -> bool:
    """Whether ``words`` are those of ``meant`` in any order and number, with a filler too many or missing."""
    if len(meant) < 4 or words[0] != meant[0]:
        return False
    left = list(meant)
    extra: list[str] = []
    for word in words:
        same = next((one for one in left if _same_word(word, one)), None)
        if same is None:
            extra.append(word)
        else:
            left.remove(same)
    return len(extra) + len(left) <= 1 and all(word in _FILLERS for word in (*extra, *left))


def _same_word(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short == long or (len(short) > 3 and long.startswith(short) and long[len(short) :] in {"s", "ding", "dings"})


def is_mentioned(project: Project, name: str) -> bool:
    """Whether the tree speaks of ``name`` anywhere but in the methods of that name and in comments."""
    modules = project.modules
    for path in project.model_files:
        module = modules.at(path) if modules.mentions(path, name) else None
        if module is not None and _is_mentioned_in(module, name):
            return True
    return any(path not in project.model_paths for path in project.modules.mentioning(name, "sglang"))


def _is_mentioned_in(module: Module, name: str) -> bool:
    """Whether the code or a string of ``module`` names ``name``, but for the methods of that name."""
    whole = module.tree
    pending: list[ast.AST] = [whole]
    while pending:
        node = pending.pop()
        words = (value for _, value in ast.iter_fields(node) if isinstance(value, str))
        if any(places(word, name) for word in words):
            return True
        pending.extend(one for one in ast.iter_child_nodes(node) if not _is_method(one, name) or node is whole)
    return False


def _is_method(node: ast.AST, name: str) -> bool:
    return isinstance(node, FunctionNode) and node.name == name


def _finding(
    context: ProjectContext, info: ClassInfo, member: Member, meant: str, registered: tuple[ClassInfo, ...]
) -> Finding:
    project = context.project
    inherited = info.find(meant)
    instead = f"; {inherited.definer.name}'s {meant} is used instead" if inherited is not None else ""
    called = project.contract.method(meant)
    sites = called.call_sites if called is not None else ()
    return context.finding(
        "EGL106",
        info,
        info.module.name_span(member.place, member.name),
        f"{member.name} of {info.name} is called from nowhere and looks like {meant}, which the "
        f"{'runtime asks for' if meant not in FAMILY or sites else 'interface has'}{instead}. Rename it to {meant}.",
        registered=registered,
        methods=(meant,),
        evidence=tuple(Evidence(site.path, site.line, f"the runtime calls {meant}{site.shape}") for site in sites),
        certain=False,
        fix=lambda: renaming_fix(info, member, meant, replaces=inherited is not None),
        scope=f"{info.dotted}.{member.name}",
    )


RULE = Rule(
    code="EGL106",
    symbol="misspelled-eagle3-method",
    severity="warning",
    summary="A method's name is a near miss of the EAGLE-3 interface, and nothing calls it.",
    scope="project",
    check_project=check,
)
