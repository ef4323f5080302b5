"""Audits as pages and in Markdown: numbers, distributions, links, and nothing of the names' own."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

import planner
from planner.commands.audit.record import Audit, Case
from planner.commands.study.record import Failure
from planner.report.audit import MAX_CASES, distributions, render
from planner.report.document import Histogram
from tests.conftest import FOR_EVER_S, QUICKSTART, YUNIKORN
from tests.report.audit_factory import make_audit, make_case, make_judgement, make_summary
from tests.report.page import Page
from tests.report.test_html import EVIL, SHOWN, rows
from tests.report.test_markdown import MADE_TAGS, read_back
from tests.told import told

WORST = "Victims of the scheduler itself and of the optima, most lost beyond the best first"


def written(audit: Audit, folder: Path | None = None) -> str:
    """Return an audit as a page."""
    return render(audit, "html", width=80, color=False, folder=folder)


def in_markdown(audit: Audit) -> str:
    """Return an audit in Markdown."""
    return render(audit, "markdown", width=80, color=False)


def bins(histogram: Histogram) -> dict[str, tuple[int, ...]]:
    """Return the counts of every series by the name of the range."""
    counts = zip(*(series.counts for series in histogram.series), strict=True)
    return dict(zip(histogram.bins, counts, strict=True))


def test_page_is_well_formed_and_alone() -> None:
    text = written(make_audit())
    read = Page.of(text)
    assert "://" not in text
    assert not {e.tag for e in read.elements} & {"script", "link", "img", "iframe"}
    assert text == written(make_audit())


def test_an_audit_without_findings_says_so() -> None:
    summary = make_summary(findings={}, clean=3)
    read = Page.of(written(make_audit(cases=(), failures=(), summary=summary)))
    assert read.texts("span", "badge") == ["No findings"]
    told(read.texts("p"))


def test_distributions_count_every_comparable_case_once() -> None:
    victims, work, ratios = distributions(make_audit())
    assert bins(victims) == {"0": (1,), "1": (0,), "2": (1,)}
    # 7,200 + 1,800 accelerator-seconds are 2.5 accelerator-hours.
    assert bins(work) == {"0": (1,), "to 0.1": (0,), "to 1": (0,), "to 10": (1,)}
    assert bins(ratios) == {"to 1": (1, 2), "to 1.5": (0, 0), "to 2": (0, 0), "to 3": (1, 0)}
    told(work.notes)


@pytest.mark.parametrize(
    ("hours", "name"),
    [
        (-20, "< -10"),
        (-10, "-10 to -1"),
        (-1, "-10 to -1"),
        (-0.5, "-1 to 0"),
        (0, "0"),
        (0.1, "to 0.1"),
        (1, "to 1"),
        (10, "to 10"),
        (100, "to 100"),
        (101, "> 100"),
    ],
)
def test_lost_work_is_in_the_range_that_names_it(hours: float, name: str) -> None:
    gaps = {"lost_work": round(hours * 3600), "restart_cost": 0}
    case = make_case(judgements=(make_judgement(gaps=gaps),))
    _, work, _ = distributions(make_audit(cases=(case,)))
    assert bins(work) == {name: (1,)}


def test_answers_outside_the_rules_are_not_compared() -> None:
    case = make_case(outside_rules=("FS-07 ...",))
    assert not list(distributions(make_audit(cases=(case,))))


def test_the_worst_lose_most_beyond_the_best_and_then_evict_most() -> None:
    def case(name: str, victims: int, hours: float, **changes: object) -> Case:
        gaps = {"workloads": victims - 1, "lost_work": round(3600 * hours), "restart_cost": 0}
        own = tuple(f"ns/{number}" for number in range(victims))
        judged = (make_judgement(gaps=gaps),)
        return make_case(pending=name, victims=own, judgements=judged, needless=(), **changes)

    cases = [
        case("many", 9, 0),
        case("some", 2, 0.5),
        case("outlaw", 2, 99, findings=("rules",), outside_rules=("FS-07 ...",)),
        case("most", 1, 12),
        case("less", 12, -1),
    ]
    read = rows(Page.of(written(make_audit(cases=cases))), WORST)
    place = read[0].index("More accelerator-hours lost than by the best")
    assert [(row[1], row[place]) for row in read[1:-1]] == [
        ("most", "12.00"),
        ("some", "0.50"),
        ("many", "0.00"),
        ("outlaw", "-"),
        ("less", "-1.00"),
    ]


def test_nobody_needless_needs_no_column() -> None:
    audit = make_audit(cases=[make_case(needless=())])
    assert "Needless" not in rows(Page.of(written(audit)), WORST)[0]


def test_only_the_worst_are_listed() -> None:
    cases = [make_case(pending=f"ns/{number}") for number in range(MAX_CASES + 2)]
    read = Page.of(written(make_audit(cases=cases)))
    assert len(rows(read, WORST)) == 1 + MAX_CASES + 1
    told(read.texts("p", "note"))


def test_states_on_disk_are_linked_from_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "javascript:alert(1)").write_text("", encoding="utf-8")
    (tmp_path / "a state#1?.json").write_text("", encoding="utf-8")
    (tmp_path / "pages").mkdir()
    names = ["javascript:alert(1)", "a state#1?.json", "a state#1?.json: line 3", "gone.json"]
    audit = make_audit(cases=[make_case(state=name) for name in names], failures=())
    for folder, up in ((None, ""), (Path("pages"), "../"), (tmp_path / "pages", "../")):
        links = Page.of(written(audit, folder=folder)).all("a")
        assert [(link.text, link.attributes["href"]) for link in links] == [
            ("javascript:alert(1)", f"{up}javascript%3Aalert%281%29"),
            ("a state#1?.json", f"{up}a%20state%231%3F.json"),
        ]


@pytest.mark.parametrize("name", [EVIL, "x" * 5000])
def test_hostile_names_are_text(name: str) -> None:
    case = make_case(state=name, pending=name, needless=(name,))
    audit = make_audit(cases=[case], failures=(Failure(state=name, pending=name, detail=name),))
    text = written(audit)
    read = Page.of(text)
    shown = SHOWN if name == EVIL else "x" * 329 + "…"
    assert text.replace("\n", "").isprintable()
    assert rows(read, WORST)[1][:2] == [shown, shown]
    assert "script" not in {element.tag for element in read.elements}
    assert {e.tag for e in read_back(in_markdown(audit)).elements} <= MADE_TAGS


def lost(day: int, own: dict[str, int], best: dict[str, int], **changes: object) -> Case:
    """Return a case of a day in March 2026: hours that are lost by queue."""
    seconds = [{queue: 3600 * hours for queue, hours in one.items()} for one in (own, best)]
    now = datetime(2026, 3, day, 23, tzinfo=UTC)
    return make_case(
        now=now, lost=seconds[0], judgements=(make_judgement(lost=seconds[1]),), **changes
    )


def test_hours_lost_by_queue_and_by_week() -> None:
    """The 1st of March 2026 is a Sunday, the last day of its week; who breaks rules is left out."""
    cases = (
        lost(1, {"a": 5, "b": 1}, {"a": 2}),
        lost(2, {"a": 1}, {"c": 3}),
        lost(8, {"b": 4}, {"b": 4}),
        lost(8, {"b": 99}, {}, outside_rules=("FS-07 ...",)),
    )
    read = Page.of(written(make_audit(cases=cases)))
    assert rows(read, "Accelerator-hours lost, restarts included, by queue") == [
        ["Queue", "Lost", "By the best", "More than the best"],
        ["a", "6.00", "2.00", "4.00"],
        ["b", "5.00", "4.00", "1.00"],
        ["c", "0.00", "3.00", "-3.00"],
        ["All", "11.00", "9.00", "2.00"],
    ]
    assert rows(read, "Accelerator-hours lost, restarts included, by week")[1:] == [
        ["2026-02-23", "6.00", "2.00", "4.00"],
        ["2026-03-02", "5.00", "7.00", "-2.00"],
        ["All", "11.00", "9.00", "2.00"],
    ]
    (tile,) = (text for text in read.texts("li") if "needlessly" in text)
    told(tile)
    assert any("Where the best loses more" in text for text in read.texts("p"))


def test_what_the_best_loses_more_is_not_lost_needlessly() -> None:
    """The objective looks at priority first, so that the optimum may lose more."""
    text = in_markdown(make_audit(cases=(lost(1, {"a": 5}, {"a": 2, "b": 7}),)))
    (tile,) = (line for line in text.splitlines() if "lost by its choices" in line)
    told(tile)
    assert "needlessly" not in text


@pytest.mark.parametrize("source", [QUICKSTART, YUNIKORN], ids=["Kueue", "YuniKorn"])
def test_what_queues_lose_is_what_is_lost(source: Path) -> None:
    (case,) = planner.audit(planner.read(source), time_limit=FOR_EVER_S).cases
    judged = [(one.lost, one.terms) for one in case.judgements]
    for by_queue, terms in [(case.lost, case.terms), *judged]:
        assert sum(by_queue.values()) == terms["lost_work"] + terms["restart_cost"] > 0
    assert case.now == planner.greedy(planner.read(source)).now


def test_a_single_bar_is_no_picture() -> None:
    case = make_case(
        judgements=(make_judgement(gaps={"workloads": 2, "lost_work": 0, "restart_cost": 0}),)
    )
    read = Page.of(written(make_audit(cases=(case,))))
    said = [picture.attributes["aria-label"] for picture in read.all("svg")]
    told([one.partition(":")[0] for one in said])


def test_what_is_less_than_in_the_optimum_is_explained() -> None:
    said = "Where the scheduler's own answer has less of a measure"
    audit = make_audit()
    gaps = [one.model_copy(update={"less": 0}) for one in audit.summary.gaps]
    none = audit.model_copy(update={"summary": make_summary(gaps=tuple(gaps))})
    more = [one.model_copy(update={"less": 1}) for one in gaps]
    some = audit.model_copy(update={"summary": make_summary(gaps=tuple(more))})
    assert said not in written(none)
    assert said.replace("'", "&#39;") in written(some)
