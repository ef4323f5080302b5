"""Terms have names: in objectives that users write, in fronts, and in plans."""

from pathlib import Path

import pytest

from planner.errors import SchemaError
from planner.objective.profile_file import find_profile, parse_front
from planner.term import TERMS, name_of
from tests.told import told


def test_no_name_is_that_of_two_terms() -> None:
    """Nor is it the id of another one, so that either can stand in an objective."""
    assert len({term.id for term in TERMS.values()}) == len(TERMS)
    for name, term in TERMS.items():
        assert name_of(term.name) == name_of(term.id) == term.name == name
    assert name_of("victims@-7") == "victims@-7"


def written(folder: Path, text: str) -> str:
    """Return the path of an objective of the user's own."""
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_an_objective_in_names_is_the_one_in_ids(tmp_path: Path) -> None:
    ids = 'levels = ["D0", "rated"]\ncaps = ["D4 + D5"]\n[rates]\nD4 = 1\nD2 = 600\n'
    names = (
        'levels = ["last_resort", "rated"]\ncaps = ["lost_work + D5"]\n'
        "[rates]\nlost_work = 1\nworkloads = 600\n"
    )
    assert find_profile(written(tmp_path, names)) == find_profile(written(tmp_path, ids))


@pytest.mark.parametrize(
    "text",
    [
        'levels = ["lost_work+D4"]',
        'levels = ["rated"]\n[rates]\nD4 = 1\nlost_work = 2',
        'levels = ["lost"]',
    ],
)
def test_a_term_counts_once_under_whatever_name(tmp_path: Path, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        find_profile(written(tmp_path, text))
    told(caught.value)


def test_fronts() -> None:
    expected = ("workloads",), ("lost_work", "restart_cost")
    assert parse_front("pareto:D2,lost_work+restart_cost") == expected
    with pytest.raises(SchemaError, match="two measures"):
        parse_front("pareto:lost_work,D4")
