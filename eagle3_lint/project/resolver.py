"""The seam between what the project asks of names and who answers: the index, or astroid.

Everything above it (construction, roles, delegation, the contract, the rules) is one code for both engines.
``auto`` has the index (``eagle3_lint.project.names``), which never needs astroid; ``astroid`` has
``eagle3_lint.project.with_astroid.resolver``. For expressions that have to be inferred both have
``eagle3_lint.project.completion``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from eagle3_lint.facts.module import Alternatives, BaseExpression, Member
    from eagle3_lint.project.classes import ClassInfo, Order
    from eagle3_lint.project.interpreter import Interpreter
    from eagle3_lint.project.modules import Module, Modules
    from eagle3_lint.project.values import Values

ENGINES = ("auto", "astroid")


class Resolver(Protocol):
    """What the names, bases and members of one project denote.

    With ``far`` imports are followed anywhere in the tree; without, only into the packages where models live, and
    anything else of the tree counts as external.
    """

    modules: Modules
    packages: tuple[str, ...]
    interpreter: Interpreter

    def info(self, module: Module, index: int) -> ClassInfo:
        """The class number ``index`` of ``module``; the same object each time."""

    def follows(self, dotted: str) -> bool:
        """Whether constructors are followed into the module ``dotted``."""

    def resolve(self, module: Module, name: str, *, far: bool = True) -> Values:
        """What ``name`` denotes after ``module`` has run."""

    def alternatives(self, module: Module, name: str, alternatives: Alternatives, *, far: bool = True) -> Values:
        """What ``name`` denotes at a point of ``module`` where it has these bindings."""

    def attribute(self, values: Values, name: str, *, far: bool = True) -> Values:
        """What ``.name`` of a module, a class, or of something external denotes; unknown for anything else."""

    def module_attribute(self, dotted: str, name: str, *, far: bool = True) -> Values:
        """What ``name`` of the module or package ``dotted`` denotes."""

    def base_values(self, info: ClassInfo, base: BaseExpression) -> Values:
        """What a base expression of ``info`` denotes at the point of its class statement."""

    def near_bases(self, info: ClassInfo) -> tuple[ClassInfo, ...]:
        """The classes of models that the bases of ``info`` may be; other files of the tree aren't read for it."""

    def order_of(self, info: ClassInfo) -> Order:
        """The method resolution order of ``info``."""

    def members_of(self, info: ClassInfo) -> dict[str, Member]:
        """The members of the class's own ``__dict__``, the last definition of each name."""


def open_resolver(engine: str, modules: Modules, packages: tuple[str, ...]) -> Resolver:
    """The resolver of ``engine``; astroid is imported for its own engine alone."""
    if engine == "astroid":
        from eagle3_lint.project.with_astroid.resolver import AstroidResolver

        return AstroidResolver(modules, packages)
    from eagle3_lint.project.names import Names

    return Names(modules, packages)
