"""The page of a what-if: the answers beside each other, and names that break at their signs."""

import planner
from tests.cluster import pending, queue, state_of
from tests.conftest import QUICKSTART
from tests.report.page import Page
from tests.report.test_html import rows

EDIT = "clusterqueue/nlp.preemption.reclaimWithinCohort=Never"


def test_answers_stand_beside_each_other() -> None:
    answer = planner.whatif(planner.read(QUICKSTART), [EDIT])
    text = planner.render(answer, "html")
    read = Page.of(text)
    assert answer.before
    assert rows(read, "The answers") == [
        ["", "Before", "After"],
        ["Kueue", "Kueue preempts 7 workloads", "Kueue preempts 4 workloads"],
        [
            "Plan",
            f"Proved optimal{answer.before.explanation}",
            f"Proved optimal{answer.after.explanation}",
        ],
    ]
    assert "Before" not in read.texts("dt")
    assert "clusterqueue/<wbr>nlp.<wbr>preemption.<wbr>reclaimWithinCohort=<wbr>Never" in text


def test_a_name_cannot_be_markup() -> None:
    answer = planner.whatif(planner.read(QUICKSTART), [EDIT])
    evil = answer.model_copy(update={"edits": ("queue/<b>.x=&",)})
    text = planner.render(evil, "html")
    assert "queue/<wbr>&lt;b&gt;.<wbr>x=<wbr>&amp;" in text


def test_what_plan_and_scheduler_both_say_is_said_once() -> None:
    """Where no flavor does, there is one reason for both."""
    state = state_of(queue("a", 4), pending("a", 5))
    answer = planner.whatif(state, ["clusterqueue/a.quota.default/gpu.nominal=6"])
    assert answer.before is not None
    assert answer.before.greedy is not None
    assert answer.before.explanation == answer.before.greedy.explanation
    text = planner.render(answer, "table", width=500)
    assert text.count("can never use more than 4") == 1
