"""The laws of rule sets that the wing adds: checked, stated and kept, each by one function."""

import pytest

import planner.models
import planner.research
import planner.verifier
from planner.laws import LAWS, RULE_SETS, Law, law_behind
from planner.reference.laws import KEPT
from planner.report.words import rules_name, scheduler_name
from planner.rules import RuleSet
from planner.wing import rule_sets
from tests.laws.test_who_checks import modules_of, registered
from tests.report.factory import make_plan
from tests.told import told

ADDED = [law for rules in rule_sets() for law in rules.laws]
EACH = pytest.mark.parametrize("law", ADDED, ids=lambda law: law.id)
FUNCTIONS = registered(planner.research)


def function_names(law: Law, module: str) -> list[str]:
    """Return the functions of a law in the modules of a name, but for those of the core."""
    found = [one for one in FUNCTIONS.get(law.id, ()) if one.__module__.endswith(f".{module}")]
    return [one.__name__ for one in found if one.__module__.startswith("planner.research")]


def test_no_law_has_the_id_of_another() -> None:
    assert {rules.name for rules in rule_sets()} == {"kep83", "strict"}
    ids = [law.id for law in (*LAWS, *ADDED)]
    assert len(set(ids)) == len(ids)
    assert {name for law in ADDED for name in law.beside} <= RULE_SETS.keys()


@EACH
def test_the_verifier_checks_it_in_one_function_of_its_name(law: Law) -> None:
    assert function_names(law, "verifier") == [law.name]


@EACH
def test_a_model_states_it_or_the_record_says_why_none_does(law: Law) -> None:
    stated = [one for one in FUNCTIONS[law.id] if not one.__module__.endswith(".verifier")]
    assert bool(stated) != bool(law.no_model)


@EACH
def test_the_replay_keeps_it(law: Law) -> None:
    assert list(modules_of(planner.research))
    assert KEPT[law.id]


@pytest.mark.parametrize("rules", rule_sets(), ids=lambda one: one.name)
def test_a_reason_code_has_one_law(rules: RuleSet) -> None:
    for law in rules.laws:
        for reason in law.reasons:
            assert law_behind(rules.laws, reason) is law


def test_how_plans_call_them() -> None:
    proposed = make_plan(rules="kep83", rule_options="kep83:wait=5")
    assert scheduler_name(proposed) == "KEP-83"
    told(rules_name(proposed))
    strict = make_plan(rule_options="strict")
    assert scheduler_name(strict) == "Kueue"
    told(rules_name(strict))
