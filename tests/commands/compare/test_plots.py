"""Plots: which there are, that they are the same twice, and what they show."""

import io
import sys
from pathlib import Path

import pytest
from matplotlib.image import imread

from planner.commands.compare import Comparison, compare
from planner.errors import InputError
from planner.report.plots import MARKERS, PALETTE, pairs
from planner.report.plots import draw_comparison as draw
from tests.commands.compare.clusters import nothing_of_its_own, one_would_do, two_borrowers

NAMES = {"victims", "lost-work", "gaps", "time"}
STATES = {"one": one_would_do(), "two": two_borrowers(), "three": nothing_of_its_own()}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare(STATES, ["greedy", "kueue-fair", "optimum:no-regret", "yunikorn"])


@pytest.mark.parametrize(("style", "begins"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_drawn_and_the_same_twice(comparison: Comparison, style: str, begins: bytes) -> None:
    drawn = draw(comparison, style)
    assert drawn.keys() == {f"{name}.{style}" for name in NAMES}
    assert all(data.startswith(begins) and len(data) > 5_000 for data in drawn.values())
    assert draw(comparison, style) == drawn


def test_no_dates_and_no_versions(comparison: Comparison) -> None:
    for data in draw(comparison).values():
        assert b"dc:date" not in data
        assert b"Matplotlib v" not in data


@pytest.mark.parametrize("others", [["optimum:no-regret"], ["optimum:no-regret", "kueue-fair"]])
def test_nothing_is_cut(others: list[str]) -> None:
    """Where letters are cut, the margin of the picture is not white."""
    for name, data in draw(compare(STATES["one"], ["greedy", *others]), "png").items():
        points = imread(io.BytesIO(data))
        margins = (points[0], points[-1], points[:, 0], points[:, -1])
        assert all((margin == 1).all() for margin in margins), name


def test_points_are_cases_of_two_plans(comparison: Comparison) -> None:
    """In the third cluster only fair sharing has a plan, and a plan for YuniKorn there is none."""
    victims = pairs(comparison, "victims")
    assert victims == {
        "kueue-fair": [(4, 4), (1, 1)],
        "optimum:no-regret": [(4, 1), (1, 1)],
        "yunikorn": [],
    }
    (first, _) = pairs(comparison, "lost_work")["optimum:no-regret"]
    assert first == ((190 * 60 + 240) / 3600, (4 + 240) / 3600)


@pytest.mark.parametrize("name", ["$x_{", "<b>&amp;", "名前", "a\nb", "n" * 300])
def test_any_name_can_be_drawn(tmp_path: Path, name: str) -> None:
    path = tmp_path / "own.toml"
    quoted = name.replace("\n", "\\n")
    path.write_text(f'name = "{quoted}"\nlevels = ["D2"]\n')
    drawn = draw(compare(STATES["one"], ["greedy", f"optimum:{path}"]))
    assert drawn.keys() == {f"{one}.svg" for one in NAMES}


def test_one_algorithm_or_nothing() -> None:
    assert draw(compare(STATES["one"], ["greedy"])).keys() == {"time.svg"}
    nothing = draw(compare({}, ["greedy", "optimum:no-regret"]))
    assert nothing.keys() == {"victims.svg", "lost-work.svg", "gaps.svg"}


def test_colours_differ_in_lightness_or_shape() -> None:
    """Who sees no colour at all still has the shapes."""
    assert len(set(MARKERS)) == len(MARKERS) > len(PALETTE)


def test_without_matplotlib(comparison: Comparison, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match="matplotlib is not installed"):
        draw(comparison)
