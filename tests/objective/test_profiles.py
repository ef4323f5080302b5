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
    measure_id,
    measure_title,
)
from planner.term import TERMS

LOST_WORK: Measure = ("D4", "D5")
DEFAULT_ORDER: tuple[Measure, ...] = (
    ("D0",),
    ("D1",),
    ("D2",),
    ("D3",),
    LOST_WORK,
    ("D7",),
    ("D8",),
)


@pytest.mark.parametrize(
    ("name", "levels", "caps"),
    [
        ("no-regret", DEFAULT_ORDER, (("D0",), ("D1",), ("D2",), LOST_WORK)),
        ("least-disruption", DEFAULT_ORDER, ()),
        # "Smallest number" counts those being evicted already, which the other terms leave out.
        ("min-count", (("count",), ("D2",), ("D3",), LOST_WORK), ()),
        ("min-lost-work", (("D0",), ("D1",), LOST_WORK, ("D2",)), ()),
        ("min-cost", (("cost",),), ()),
        ("kueue-like", (("victims@each",), ("time",), ("D2",)), ()),
        ("kube-like", (("pdb",), ("D1",), ("prio",), ("D2p",), ("time",)), ()),
        ("fewest-pods", (("D0",), ("D1",), ("D2p",), ("D4",)), ()),
        ("fewest-tenants", (("D0",), ("D1",), ("D8",), ("D2",), ("D4",)), ()),
        ("fair", (("D0",), ("D1",), ("D9",), ("D2",), ("D4",)), ()),
        ("milestones", (("D0",), ("D1",), ("D6",), ("D2",)), ()),
        (
            "stable",
            (("D11",), *DEFAULT_ORDER[:4], ("D10",), *DEFAULT_ORDER[4:]),
            (),
        ),
        ("exact-fit", (("D0",), ("D1",), ("D7",), ("D2",), ("D4",)), ()),
        ("weighted", (("D4", "D5", "toll"), ("D8",)), ()),
    ],
)
def test_levels_and_caps(name: str, levels: tuple[Measure, ...], caps: tuple[Measure, ...]) -> None:
    assert (PROFILES[name].name, PROFILES[name].levels, PROFILES[name].caps) == (
        name,
        levels,
        caps,
    )


def test_terms_of_a_profile_are_named_once() -> None:
    assert PROFILES["no-regret"].terms == ("D0", "D1", "D2", "D3", "D4", "D5", "D7", "D8")


def test_the_default_is_the_one_without_regret() -> None:
    assert DEFAULT_PROFILE == "no-regret"
    assert next(iter(PROFILES)) == DEFAULT_PROFILE


def test_every_measure_is_made_of_known_terms_of_one_unit() -> None:
    for profile in PROFILES.values():
        assert profile.summary
        for measure in (*profile.levels, *profile.caps):
            assert len({TERMS[term].unit for term in measure}) == 1


def test_measures_have_ids_and_titles() -> None:
    assert measure_id(LOST_WORK) == "D4+D5"
    assert measure_title(LOST_WORK) == "lost work and restart cost"


def written(folder: Path, text: str) -> Path:
    path = folder / "gentle.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_all_keys(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        'name = "mine"\nsummary = "pods, then work"\n'
        'levels = ["D0", "D2p", "D4 + D5"]\ncaps = ["D4+D5", "D2"]\n',
    )
    expected = Profile(
        "mine",
        "pods, then work",
        levels=(("D0",), ("D2p",), ("D4", "D5")),
        caps=(("D4", "D5"), ("D2",)),
    )
    assert read_profile(path) == expected
    assert find_profile(str(path)) == expected


def test_levels_are_enough_and_the_file_gives_the_name(tmp_path: Path) -> None:
    assert read_profile(written(tmp_path, 'levels = ["D6"]')) == Profile("gentle", "", (("D6",),))


def test_protection_and_budgets(tmp_path: Path) -> None:
    found = read_profile(
        written(
            tmp_path,
            'levels = ["D2"]\n[protect]\nmin_runtime = "30m"\nqueue = { "root.a" = "2h" }\n'
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
            'levels = ["early"]\n[protect]\nannotated = true\nqueue.a = "1m"\n'
            '[protect.soft]\nmin_runtime = "1h"\n[protect.soft.cohort]\nsoft = "2h"\n',
        )
    )
    assert found.wishes.min_runtime_s == {"queue/a": 60}
    assert found.wishes.soft_runtime_s == {"all": 3600, "cohort/soft": 7200}
    assert found.wishes.annotated


def test_rates(tmp_path: Path) -> None:
    found = read_profile(written(tmp_path, 'levels = ["D0", "rated"]\n[rates]\nD4 = 1\nD2 = 600\n'))
    assert found.rates == {"D4": 1, "D2": 600}


def test_names_are_those_of_the_program() -> None:
    assert find_profile("min-count") is PROFILES["min-count"]
    with pytest.raises(SchemaError, match=r'there is no profile "best"'):
        find_profile("best")


@pytest.mark.parametrize(
    ("text", "where", "found"),
    [
        ("", "levels", "nothing to minimise"),
        ("levels = []", "levels", "nothing to minimise"),
        ('levels = "D0"', "levels", "'D0' cannot be used"),
        (f"levels = {['D0'] * 5000}", "levels", "there are 5,000"),
        (f"levels = ['D0']\ncaps = {['D2'] * 101}", "caps", "there are 101"),
        ('levels = ["D0", 2]', "levels[1]", "2 cannot be used"),
        ('levels = ["D0", "D99"]', "levels[1]", 'there is no term "D99"'),
        ('levels = [""]', "levels[0]", 'there is no term ""'),
        ('levels = ["D2+D4"]', "levels[0]", "workloads and accelerator-seconds do not add up"),
        ('levels = ["D4+D4"]', "levels[0]", '"D4+D4" names a term twice'),
        ('levels = ["D0"]\ncaps = ["D2", "x"]', "caps[1]", 'there is no term "x"'),
        ('levels = ["D0"]\nlevel = ["D2"]', "level", "there is no such key"),
        ('levels = ["rated"]\nrates = 3', "rates", "3 cannot be used"),
        ('levels = ["rated"]\nrates.D99 = 3', "rates.D99", 'there is no term "D99" to rate'),
        ('levels = ["rated"]\nrates.rated = 3', "rates.rated", "there is no term"),
        ('levels = ["rated"]\nrates.D2 = 0', "rates.D2", "0 cannot be used"),
        ('levels = ["rated"]\nrates.D2 = 1.5', "rates.D2", "1.5 cannot be used"),
        ('levels = ["rated"]\nrates.D2 = true', "rates.D2", "True cannot be used"),
        ('levels = ["D0"]\nprotect = 3', "protect", "3 cannot be used"),
        ('levels = ["D0"]\nprotect.min_runtime = 3', "protect.min_runtime", "3 cannot be used"),
        ('levels = ["D0"]\nprotect.queue.a = "1d"', "protect.queue.a", "'1d' cannot be used"),
        ('levels = ["D0"]\nprotect.total = 3', "protect.total", "there is no such key"),
        ('levels = ["D0"]\nprotect.soft = true', "protect.soft", "True cannot be used"),
        ('levels = ["D0"]\nprotect.annotated = 1', "protect.annotated", "1 cannot be used"),
        ('levels = ["D0"]\nprotect.soft.soft = {}', "protect.soft.soft", "there is no such key"),
        ('levels = ["D0"]\nprotect.soft.queue.a = 1', "protect.soft.queue.a", "1 cannot be used"),
        ('levels = ["D0"]\nbudget.queue = 3', "budget.queue", "3 cannot be used"),
        ('levels = ["D0"]\nbudget.total = -1', "budget.total", "-1 cannot be used"),
        ('levels = ["D0"]\nbudget.total = true', "budget.total", "True cannot be used"),
        ('levels = ["D0"]\nbudget.user.me = 1', "budget.user", "there is no such key"),
        ('levels = ["D0"]\nname = 3', "name", "3 cannot be used"),
        ('levels = ["D0"]\nname = ""', "name", "'' cannot be used"),
        ('levels = ["D0"]\nname = "min-count"', "name", "is a profile of the program"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, text: str, where: str, found: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(SchemaError) as caught:
        read_profile(path)
    assert caught.value.where == f"{path}: {where}"
    assert found in caught.value.found
    assert caught.value.expected
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "text",
    [
        'levels = ["{}"]',
        'levels = ["D0+{}"]',
        'levels = ["D0"]\n{} = 1',
        'levels = ["rated"]\nrates.{} = 1',
        'levels = ["rated"]\nrates = {{ D2 = 1, {} = 1 }}',
        'levels = ["D0"]\nprotect.{} = 1',
        'levels = ["D0"]\nbudget.queue.{} = -1',
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


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(InputError) as caught:
            read_profile(path)
        assert caught.value.where == str(path)
