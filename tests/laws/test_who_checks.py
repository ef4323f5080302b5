"""Every law is checked three times: by the verifier, by a model, and by a step of the replay.

Each piece registers its functions by the ids of the laws and knows none of the others; only here
they meet. Where a model or the replay has none, the record of the law says why.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from inspect import getmembers
from pkgutil import walk_packages
from types import ModuleType

import pytest

import planner.commands.explain
import planner.laws
import planner.models
import planner.reference
import planner.verifier
from planner.laws import LAWS, RULE_SETS, Law, Register, in_drop_order, law_behind
from planner.laws.kueue import KQ_FITS, KQ_OVER_QUOTA
from planner.models.yunikorn.candidates import EXCLUSIONS
from planner.reference.laws import KEPT
from planner.wing import rule_sets

Functions = Mapping[str, list[Callable[..., object]]]

GENERIC = {"yunikorn-design", "yunikorn-written", "yunikorn-code"}
KUEUES = ("kueue-classical", "kueue-fair")
EXPLAINED = ("kueue-classical", "kueue-fair", *sorted(GENERIC), "yunikorn-required-node")


def modules_of(package: ModuleType) -> Iterator[ModuleType]:
    """Import and yield every module of a package."""
    yield package
    for found in walk_packages(package.__path__, f"{package.__name__}."):
        yield import_module(found.name)


def registered(package: ModuleType) -> Functions:
    """Return the functions of all registers of a package, by the ids of the laws."""
    registers = {
        id(register): register
        for module in modules_of(package)
        for _, register in getmembers(module, lambda value: isinstance(value, Register))
    }
    found: dict[str, list[Callable[..., object]]] = {}
    for register in registers.values():
        for law, function in register.items():
            found.setdefault(law, []).append(function)
    return found


@pytest.fixture(scope="module")
def checked() -> Functions:
    return registered(planner.verifier)


@pytest.fixture(scope="module")
def stated() -> Functions:
    return registered(planner.models)


@pytest.fixture(scope="module")
def kept() -> Functions:
    assert list(modules_of(planner.reference))
    return KEPT


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.id)
def test_the_verifier_checks_it_in_one_function_of_its_name(law: Law, checked: Functions) -> None:
    (check,) = checked[law.id]
    assert check.__name__ == law.name
    assert (check.__doc__ or "").startswith(f"{law.id}: ")


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.id)
def test_a_model_states_it_or_the_record_says_why_none_does(law: Law, stated: Functions) -> None:
    functions = stated.get(law.id, [])
    assert bool(functions) != bool(law.no_model)
    for function in functions:
        ids, _, _ = (function.__doc__ or "").partition(":")
        assert law.id in ids, f"{function.__qualname__} does not say that it states {law.id}"


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.id)
def test_the_replay_keeps_it_or_the_record_says_why_it_does_not(law: Law, kept: Functions) -> None:
    assert bool(kept.get(law.id)) != bool(law.no_reference)


@pytest.mark.parametrize("piece", ["checked", "stated", "kept"])
def test_nothing_is_registered_for_a_law_that_is_none(
    piece: str, request: pytest.FixtureRequest
) -> None:
    functions: Functions = request.getfixturevalue(piece)
    of_wings = (law for rules in rule_sets() for law in rules.laws)
    assert functions.keys() <= {law.id for law in (*LAWS, *of_wings)}


def test_every_record_is_in_the_list_of_laws_and_in_a_rule_set() -> None:
    records = [
        law
        for module in modules_of(planner.laws)
        for _, law in getmembers(module, lambda value: isinstance(value, Law))
    ]
    assert set(records) == set(LAWS)
    assert len({law.id for law in LAWS}) == len(LAWS)
    assert {law for laws in RULE_SETS.values() for law in laws} == set(LAWS)
    assert {name for law in LAWS for name in law.beside} <= set(RULE_SETS)


@pytest.mark.parametrize("rules", KUEUES)
def test_a_reason_code_has_one_law(rules: str) -> None:
    for law in RULE_SETS[rules]:
        for reason in law.reasons:
            assert law_behind(RULE_SETS[rules], reason) is law
    assert law_behind(RULE_SETS[rules], "Unheard of") is None


@pytest.mark.parametrize("rules", EXPLAINED)
def test_laws_that_clash_are_dropped_in_an_order_without_ties(rules: str) -> None:
    places = [law.drop for law in in_drop_order(rules)]
    assert None not in places
    assert len(set(places)) == len(places)
    # YK-01 is kept as far as that leaves a plan, so it never leaves none.
    assert {law.id for law in RULE_SETS[rules]} - {law.id for law in in_drop_order(rules)} <= {
        "YK-01"
    }


@pytest.mark.parametrize("rules", EXPLAINED)
def test_a_law_that_can_leave_no_plan_is_worded_with_its_numbers(rules: str) -> None:
    worded = registered(planner.commands.explain)
    assert {law.id for law in in_drop_order(rules)} <= worded.keys()


def test_laws_as_designed_written_and_coded_exclude_the_same() -> None:
    """The mask of an ask without a required node is made without knowing which they are."""
    for law in LAWS:
        if law.id in EXCLUSIONS and GENERIC.intersection(law.rule_sets):
            assert set(law.rule_sets) >= GENERIC


def test_a_law_has_one_function_per_register() -> None:
    register: Register[Callable[[], str]] = Register()
    register.of(KQ_FITS, KQ_OVER_QUOTA)(str)
    assert register == {"KQ-01": str, "KQ-07": str}
    with pytest.raises(ValueError, match="KQ-07 is registered twice"):
        register.of(KQ_OVER_QUOTA)(str)
