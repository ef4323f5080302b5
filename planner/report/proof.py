"""What the levels of a plan rest on, in one line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from planner.plan import Certificate
from planner.plan.proof import steps_of
from planner.report.text import plural

CHECK_IT: Final = "check with planner check"
ENGINES: Final = ("CP-SAT", "SCIP", "HiGHS")
ONE_ENGINE: Final = ENGINES[0]
CORRECTED: Final = "the search for trees found {plans} better than the solver's"


def proof_in_words(certificate: Certificate, *, ties: bool = True) -> str:
    """Return what a certificate rests on; empty if it claims nothing.

    ``ties`` says whether which of equals was taken is part of what is claimed.
    """
    parts = list(_infeasible(certificate) if not certificate.levels else _levels(certificate, ties))
    if parts and certificate.corrected:
        parts.append(CORRECTED.format(plans=plural(certificate.corrected, "plan")))
    return "; ".join(parts)


def steps_in(certificate: Certificate) -> int:
    """Return how many steps the trees of a certificate have, those left out included."""
    return steps_of(certificate.trees) + certificate.trees_omitted


def _levels(certificate: Certificate, ties: bool) -> Iterator[str]:  # noqa: FBT001 - as above
    levels, steps = certificate.levels, steps_in(certificate)
    how = f"certified by trees of {plural(steps, 'step')}" if steps else "certified"
    certified = sum(level.proof == "certified" for level in levels)
    first = certificate.ties == "certified" and ties
    if certified == len(levels) and (first or not ties):
        also = " and ties" if ties else ""
        yield f"{certified} of {plural(len(levels), 'level')}{also} {how}"
        yield CHECK_IT
        return
    by_solver = sum(level.proof == "solver" for level in levels)
    alone = sum(level.proof is None and level.value == level.bound for level in levels)
    unproved = len(levels) - certified - by_solver - alone
    counts = (
        (certified, how),
        (by_solver, f"by {_engines(certificate.engines)}"),
        (alone, f"by {ONE_ENGINE} alone"),
        (unproved, "not proved"),
    )
    said = ", ".join(f"{count} {rests}" for count, rests in counts if count)
    yield f"of {plural(len(levels), 'level')} {said}"
    if ties:
        resting = {"certified": "certified", "solver": f"by {ONE_ENGINE} alone", None: "not proved"}
        yield f"ties {resting[certificate.ties]}"


def _infeasible(certificate: Certificate) -> Iterator[str]:
    if certificate.trees or certificate.trees_omitted:
        yield f"certified by a tree of {plural(steps_in(certificate), 'step')}"
        yield CHECK_IT
    elif certificate.engines:
        yield f"by {_engines(certificate.engines)}"


def _engines(engines: Sequence[str]) -> str:
    """Return engines by their short names, which every version has."""
    names = [next((name for name in ENGINES if name in engine), engine) for engine in engines]
    return " and ".join(names) or "two engines"
