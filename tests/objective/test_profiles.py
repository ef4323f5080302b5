"""The profiles as data (docs/design/objectives.md §4 and §5), and those read from TOML files."""

from pathlib import Path

import pytest

from planner.errors import InputError, ParseError, SchemaError
from planner.objective.profile_file import find_profile, read_profile
from planner.objective.profiles import (
    DEFAULT_PROFILE,
    PROFILES,
    Measure,
    Profile,
    measure_name,
    measure_title,
)
from planner.term import TERMS
from tests.told import told

LOST_WORK: Measure = ("lost_work", "restart_cost")
DEFAULT_ORDER: tuple[Measure, ...] = (
    ("last_resort",),
    ("highest_priority",),
    ("workloads",),
    ("priority_weight",),
    LOST_WORK,
    ("excess_freed",),
    ("queues",),
)


@pytest.mark.parametrize(
    ("name", "levels", "caps"),
    [
        (
            "no-regret",
            DEFAULT_ORDER,
            (("last_resort",), ("highest_priority",), ("workloads",), LOST_WORK),
        ),
        ("least-disruption", DEFAULT_ORDER, ()),
        # "Smallest number" counts those being evicted already, which the other terms leave out.
        ("min-count", (("victims",), ("workloads",), ("priority_weight",), LOST_WORK), ()),
        ("min-lost-work", (("last_resort",), ("highest_priority",), LOST_WORK, ("workloads",)), ()),
        ("min-cost", (("cost",),), ()),
        ("kueue-like", (("victims@each",), ("run_time",), ("workloads",)), ()),
        (
            "kube-like",
            (
                ("disruption_budgets",),
                ("highest_priority",),
                ("priority_sum",),
                ("pods",),
                ("run_time",),
            ),
            (),
        ),
        ("fewest-pods", (("last_resort",), ("highest_priority",), ("pods",), ("lost_work",)), ()),
        (
            "fewest-tenants",
            (("last_resort",), ("highest_priority",), ("queues",), ("workloads",), ("lost_work",)),
            (),
        ),
        (
            "fair",
            (
                ("last_resort",),
                ("highest_priority",),
                ("unfairness",),
                ("workloads",),
                ("lost_work",),
            ),
            (),
        ),
        (
            "milestones",
            (("last_resort",), ("highest_priority",), ("milestone_cost",), ("workloads",)),
            (),
        ),
        (
            "stable",
            (("unstable",), *DEFAULT_ORDER[:4], ("past_preemptions",), *DEFAULT_ORDER[4:]),
            (),
        ),
        (
            "exact-fit",
            (
                ("last_resort",),
                ("highest_priority",),
                ("excess_freed",),
                ("workloads",),
                ("lost_work",),
            ),
            (),
        ),
        ("weighted", (("lost_work", "restart_cost", "toll"), ("queues",)), ()),
    ],
)
def test_levels_and_caps(name: str, levels: tuple[Measure, ...], caps: tuple[Measure, ...]) -> None:
    assert (PROFILES[name].name, PROFILES[name].levels, PROFILES[name].caps) == (name, levels, caps)


def test_terms_of_a_profile_are_named_once() -> None:
    assert PROFILES["no-regret"].terms == (
        "last_resort",
        "highest_priority",
        "workloads",
        "priority_weight",
        "lost_work",
        "restart_cost",
        "excess_freed",
        "queues",
    )


def test_the_default_is_the_one_without_regret() -> None:
    assert DEFAULT_PROFILE == "no-regret"
    assert next(iter(PROFILES)) == DEFAULT_PROFILE


def test_every_measure_is_made_of_known_terms_of_one_unit() -> None:
    for profile in PROFILES.values():
        assert profile.summary
        for measure in (*profile.levels, *profile.caps):
            assert len({TERMS[term].unit for term in measure}) == 1


def test_measures_have_ids_and_titles() -> None:
    assert measure_name(LOST_WORK) == "lost_work+restart_cost"
    told(measure_title(LOST_WORK))


def written(folder: Path, text: str) -> Path:
    path = folder / "gentle.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_keys(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        'name = "mine"\nsummary = "pods, then work"\n'
        'levels = ["last_resort", "pods", "lost_work + restart_cost"]\n'
        'caps = ["lost_work+restart_cost", "workloads"]\n',
    )
    expected = Profile(
        "mine",
        "pods, then work",
        levels=(("last_resort",), ("pods",), ("lost_work", "restart_cost")),
        caps=(("lost_work", "restart_cost"), ("workloads",)),
    )
    assert read_profile(path) == expected
    assert find_profile(str(path)) == expected


def test_levels_are_enough_and_the_file_gives_the_name(tmp_path: Path) -> None:
    assert read_profile(written(tmp_path, 'levels = ["milestone_cost"]')) == Profile(
        "gentle", "", (("milestone_cost",),)
    )


def test_protection_and_budgets(tmp_path: Path) -> None:
    found = read_profile(
        written(
            tmp_path,
            'levels = ["workloads"]\n[protect]\nmin_runtime = "30m"\nqueue = { "root.a" = "2h" }\n'
            "[budget]\ntotal = 3\n[budget.namespace]\nml = 0\n",
        )
    )
    assert found.wishes.min_runtime_s == {"all": 1800, "queue/root.a": 7200}
    assert found.wishes.budget == {"all": 3, "namespace/ml": 0}
    assert not found.wishes.annotated


def test_soft_protection_has_the_same_keys(tmp_path: Path) -> None:
    found = read_profile(
        written(
            tmp_path,
            'levels = ["cut_short"]\n[protect]\nannotated = true\nqueue.a = "1m"\n'
            '[protect.soft]\nmin_runtime = "1h"\n[protect.soft.cohort]\nsoft = "2h"\n',
        )
    )
    assert found.wishes.min_runtime_s == {"queue/a": 60}
    assert found.wishes.soft_runtime_s == {"all": 3600, "cohort/soft": 7200}
    assert found.wishes.annotated


def test_rates(tmp_path: Path) -> None:
    found = read_profile(
        written(
            tmp_path, 'levels = ["last_resort", "rated"]\n[rates]\nlost_work = 1\nworkloads = 600\n'
        )
    )
    assert found.rates == {"lost_work": 1, "workloads": 600}


def test_names_are_those_of_the_program() -> None:
    assert find_profile("min-count") is PROFILES["min-count"]
    with pytest.raises(SchemaError) as caught:
        find_profile("best")
    told(caught.value)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "levels"),
        ("levels = []", "levels"),
        ('levels = "last_resort"', "levels"),
        (f"levels = {['last_resort'] * 5000}", "levels"),
        (f"levels = ['last_resort']\ncaps = {['workloads'] * 101}", "caps"),
        ('levels = ["last_resort", 2]', "levels[1]"),
        ('levels = ["last_resort", "D99"]', "levels[1]"),
        ('levels = [""]', "levels[0]"),
        ('levels = ["workloads+lost_work"]', "levels[0]"),
        ('levels = ["lost_work+lost_work"]', "levels[0]"),
        ('levels = ["last_resort"]\ncaps = ["workloads", "x"]', "caps[1]"),
        ('levels = ["last_resort"]\nlevel = ["workloads"]', "level"),
        ('levels = ["rated"]\nrates = 3', "rates"),
        ('levels = ["rated"]\nrates.D99 = 3', "rates.D99"),
        ('levels = ["rated"]\nrates.rated = 3', "rates.rated"),
        ('levels = ["rated"]\nrates.workloads = 0', "rates.workloads"),
        ('levels = ["rated"]\nrates.workloads = 1.5', "rates.workloads"),
        ('levels = ["rated"]\nrates.workloads = true', "rates.workloads"),
        ('levels = ["last_resort"]\nprotect = 3', "protect"),
        ('levels = ["last_resort"]\nprotect.min_runtime = 3', "protect.min_runtime"),
        ('levels = ["last_resort"]\nprotect.queue.a = "1d"', "protect.queue.a"),
        ('levels = ["last_resort"]\nprotect.total = 3', "protect.total"),
        ('levels = ["last_resort"]\nprotect.soft = true', "protect.soft"),
        ('levels = ["last_resort"]\nprotect.annotated = 1', "protect.annotated"),
        ('levels = ["last_resort"]\nprotect.soft.soft = {}', "protect.soft.soft"),
        ('levels = ["last_resort"]\nprotect.soft.queue.a = 1', "protect.soft.queue.a"),
        ('levels = ["last_resort"]\nbudget.queue = 3', "budget.queue"),
        ('levels = ["last_resort"]\nbudget.total = -1', "budget.total"),
        ('levels = ["last_resort"]\nbudget.total = true', "budget.total"),
        ('levels = ["last_resort"]\nbudget.user.me = 1', "budget.user"),
        ('levels = ["last_resort"]\nname = 3', "name"),
        ('levels = ["last_resort"]\nname = ""', "name"),
        ('levels = ["last_resort"]\nname = "min-count"', "name"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, text: str, where: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(SchemaError) as caught:
        read_profile(path)
    assert caught.value.where == f"{path}: {where}"
    told(caught.value.found)
    assert caught.value.expected
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "text",
    [
        'levels = ["{}"]',
        'levels = ["last_resort+{}"]',
        'levels = ["last_resort"]\n{} = 1',
        'levels = ["rated"]\nrates.{} = 1',
        'levels = ["rated"]\nrates = {{ workloads = 1, {} = 1 }}',
        'levels = ["last_resort"]\nprotect.{} = 1',
        'levels = ["last_resort"]\nbudget.queue.{} = -1',
    ],
)
def test_a_long_word_is_cut_short(tmp_path: Path, text: str) -> None:
    with pytest.raises(SchemaError) as caught:
        read_profile(written(tmp_path, text.format("x" * 100_000)))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "data", [b"levels = [", b"\xff\xfe", b"levels = " + b"[" * 5000, b"#" * (2**20 + 1)]
)
def test_what_is_no_toml_is_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "gentle.toml"
    path.write_bytes(data)
    with pytest.raises(ParseError) as caught:
        read_profile(path)
    assert caught.value.where == str(path)


def test_how_a_text_is_stored_decides_nothing(tmp_path: Path) -> None:
    text = 'name = "mine"\nlevels = ["pods"]\n'
    expected = read_profile(written(tmp_path, text))
    for other in ("\ufeff" + text, text.replace("\n", "\r\n")):
        assert read_profile(written(tmp_path, other)) == expected


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(InputError) as caught:
            read_profile(path)
        assert caught.value.where == str(path)
