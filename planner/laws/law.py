"""The record of a law, and the register of functions by the ids of their laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class Law:
    """One rule of a scheduler, with every text about it.

    - ``id``: The name of the law in plans, certificates, error texts and sources.
    - ``name``: The name of the function that states the law in models and in the verifier.
    - ``title``, ``statement``: The law in a few words, which an explanation uses where it has no
      text with the numbers of the problem; and the law in full.
    - ``source``: Where the rule comes from.
    - ``rule_sets``: Keys of `planner.laws.RULE_SETS`: the rule sets it belongs to. Laws of a wing's
      rule set name none, nor do the checks of a certificate and of the facts that a plan states,
      CT-01 to CT-11.
    - ``beside``: For a law that is added to other rule sets: the names of these.
    - ``reasons``: The scheduler's reason codes of the victims that the law permits.
    - ``drop``: Its place in the order in which an explanation drops laws that clash, the least
      informative first, so that of several minimal sets of clashing laws it finds the set that
      names what a user has configured. ``None`` if no explanation of "no plan" names the law.
    - ``no_model``, ``no_reference``: Why no model states the law, and why no step of the
      scheduler's own algorithm keeps it; empty where a model or step does. The verifier checks
      every law.
    """

    id: str
    name: str
    title: str
    statement: str
    source: str
    rule_sets: tuple[str, ...] = field(kw_only=True, default=())
    beside: tuple[str, ...] = field(kw_only=True, default=())
    reasons: tuple[str, ...] = field(kw_only=True, default=())
    drop: int | None = field(kw_only=True, default=None)
    no_model: str = field(kw_only=True, default="")
    no_reference: str = field(kw_only=True, default="")


def laws_in(module: Mapping[str, object]) -> tuple[Law, ...]:
    """Return the laws in a module and in its tuples of laws; the module is given as ``vars()``."""
    each = (one if isinstance(one, tuple) else (one,) for one in module.values())
    return tuple(law for some in each for law in some if isinstance(law, Law))


F = TypeVar("F", bound=Callable[..., object])


class Register(dict[str, F]):
    """The functions of one room that state, check or word laws: one function for each law, by id.

    Callers look the function of a law up by its id, so a new law is a record and the functions
    that are registered for it.
    """

    def of(self, *laws: Law) -> Callable[[F], F]:
        """Return a decorator that registers a function for laws.

        The decorator raises ``ValueError`` if a law has a function already.
        """

        def enter(function: F) -> F:
            for law in laws:
                if law.id in self:
                    message = f"{law.id} is registered twice"
                    raise ValueError(message)
                self[law.id] = function
            return function

        return enter
