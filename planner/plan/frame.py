"""The victims of a plan as a pandas DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from planner.errors import UnsupportedError
from planner.plan.covered import Covered

if TYPE_CHECKING:
    from pandas import DataFrame


class _OfVictims(Protocol):
    @property
    def victims(self) -> Sequence[Any]: ...


class Evicting(Covered):
    """An answer with victims."""

    def to_frame(self: _OfVictims) -> DataFrame:
        """Return a row for each victim, in the order of the plan, indexed by its key.

        The columns are the fields of a victim (``age_s`` in seconds); then what it uses of each
        flavor-resource, such as ``h100/nvidia.com/gpu``, or resource type, 0 where it uses none
        (milli-cores of ``cpu`` and ``vcore``, whole units of the rest: bytes, devices, pods); then
        what it adds to each term of disruption, such as ``D4``, in the unit of the term.

        Raises
        ------
        UnsupportedError
            If pandas is not installed.
        """
        try:
            import pandas as pd  # noqa: PLC0415 - an extra
        except ImportError:
            hint = "pip install pandas"
            raise UnsupportedError("to_frame", "pandas is not installed", hint=hint) from None
        fields = [victim.model_dump(exclude={"usage", "costs"}) for victim in self.victims]
        used = [{one.place: one.units for one in victim.usage} for victim in self.victims]
        places = dict.fromkeys(place for uses in used for place in uses)
        rows = [
            {**known, **dict.fromkeys(places, 0), **uses, **victim.costs}
            for known, uses, victim in zip(fields, used, self.victims, strict=True)
        ]
        keys = [victim.key for victim in self.victims]
        return pd.DataFrame(rows, index=pd.Index(keys, name="victim", dtype="object"))
