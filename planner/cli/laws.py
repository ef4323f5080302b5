"""``planner laws``: the rules, the disruption terms and the objectives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from planner.cli.exit_code import OPTIMAL
from planner.cli.given import Given, define
from planner.cli.option import output_option, page_format_option

if TYPE_CHECKING:
    from planner.report.catalogue import Catalogue

EPILOG: Final = """\b
Examples:
  planner laws
  planner laws --format plain | grep KQ-07
  planner laws -o laws.json

"""


@define(page_format_option, output_option, epilog=EPILOG)
def command(given: Given) -> int:
    """List the scheduler's rules with their sources, and what disruption is measured by.

    The ids of the laws and terms are the same in plans, certificates, error texts and sources.
    """
    from planner.report.catalogue import render

    given.show(render, _catalogue())
    return OPTIMAL


def _catalogue() -> Catalogue:
    from planner.laws import RULE_SETS
    from planner.objective.profiles import PROFILES, measure_id
    from planner.report.catalogue import Catalogue, LawEntry, ObjectiveEntry, RuleSet, TermEntry
    from planner.term import TERMS

    return Catalogue(
        rule_sets=tuple(
            RuleSet(
                name=name,
                laws=tuple(
                    LawEntry(
                        id=law.id,
                        name=law.name,
                        title=law.title,
                        statement=law.statement,
                        source=law.source,
                        reasons=law.reasons,
                    )
                    for law in laws
                ),
            )
            for name, laws in RULE_SETS.items()
        ),
        terms=tuple(
            TermEntry(id=term.id, title=term.title, unit=term.unit) for term in TERMS.values()
        ),
        objectives=tuple(
            ObjectiveEntry(
                name=profile.name,
                summary=profile.summary,
                caps=tuple(map(measure_id, profile.caps)),
                levels=tuple(map(measure_id, profile.levels)),
            )
            for profile in PROFILES.values()
        ),
    )
