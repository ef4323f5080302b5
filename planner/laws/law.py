"""What a law is, and functions by the ids of the laws that they are for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class Law:
    """One rule of a scheduler, with all that is said of it anywhere.

    - ``id``: What it is called in plans, certificates, error texts and sources.
    - ``name``: The name of the function that states it in models and in the verifier.
    - ``title``, ``statement``: It in a few words, which an explanation says where nothing says it
      with the numbers of a problem; and in full.
    - ``source``: Where the rule comes from.
    - ``rule_sets``: Keys of `planner.laws.RULE_SETS`: the rule sets it belongs to. What the
      verifier asks of a certificate and of the facts that a plan states, CT-01 to CT-08, belongs to
      none.
    - ``beside``: Of a law of precedence: the rule sets beside which it is asked.
    - ``reasons``: The scheduler's reason codes of the victims that it permits.
    - ``drop``: Its place in the order in which an explanation tries to do without laws that clash,
      the least telling first: of several minimal sets the one that names what somebody has set is
      found. ``None`` for one that no explanation of "no plan" names.
    - ``no_model``, ``no_reference``: Why no model states it, and why no step of the scheduler's own
      algorithm keeps it; empty where one does. The verifier checks every law.
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
    """Return the laws of a module, given by its ``vars()``, and of the tuples of laws in it."""
    each = (one if isinstance(one, tuple) else (one,) for one in module.values())
    return tuple(law for some in each for law in some if isinstance(law, Law))


F = TypeVar("F", bound=Callable[..., object])


class Register(dict[str, F]):
    """The functions of one room that state, check or word laws: one for each law, by its id.

    Whoever needs the function of a law looks it up, so a new law is a record and the functions
    that are registered for it.
    """

    def of(self, *laws: Law) -> Callable[[F], F]:
        """Return a decorator that registers a function for some laws.

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
