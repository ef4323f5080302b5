"""``planner laws``: the rules, the disruption terms and the objectives."""

from __future__ import annotations

from planner.cli import option
from planner.cli.exit_code import OPTIMAL
from planner.cli.option import define


class Options(option.Paged):
    """What `planner laws` is given."""


@define(Options)
def command(given: Options) -> int:
    """List the scheduler's rules with their sources, and what disruption is measured by.

    The ids of laws and the names of terms are the same in plans, certificates and error texts; the
    ids of terms are those of the theory.

      planner laws
      planner laws --format plain | grep KQ-07
      planner laws -o laws.json
    """
    from planner.laws import RULE_SETS
    from planner.objective.profiles import PROFILES, measure_name
    from planner.report.catalogue import Catalogue, ObjectiveEntry, RuleSet, TermEntry, render
    from planner.term import TERMS
    from planner.wing import rule_sets

    added = {one.name: one.laws for one in rule_sets()}
    catalogue = Catalogue(
        rule_sets=tuple(
            RuleSet.model_validate({"name": name, "laws": laws}, from_attributes=True)
            for name, laws in {**RULE_SETS, **added}.items()
        ),
        terms=tuple(
            TermEntry.model_validate(term, from_attributes=True) for term in TERMS.values()
        ),
        objectives=tuple(
            ObjectiveEntry(
                name=profile.name,
                summary=profile.summary,
                caps=tuple(map(measure_name, profile.caps)),
                levels=tuple(map(measure_name, profile.levels)),
            )
            for profile in PROFILES.values()
        ),
    )
    given.show(render, catalogue)
    return OPTIMAL
