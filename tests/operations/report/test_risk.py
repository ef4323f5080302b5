"""One, none and many: what is counted of risk is told in sentences that read as such."""

import planner
from planner.operations.report import risk as risks
from planner.operations.risk import Question, risk
from planner.report.document import Paragraph
from tests.cli.running import cluster
from tests.cluster import pending, queue, running, state_of
from tests.report.test_one_and_many import head
from tests.told import told


def test_risk_of_one_preemptor() -> None:
    """Of two that run, the one of higher priority is nobody's victim."""
    state = state_of(
        queue("a", 2, within="LowerPriority"),
        running("low", "a", 1, 1),
        running("high", "a", 1, 9),
        pending("a", 1, 5),
    )
    found = risk(state, Question(shapes="pending"))
    document = risks.document(found)
    assert head(document)["Preemptors"] == "1"
    blocks = [block for section in document.sections for block in section.blocks]
    said = [block.text for block in blocks if isinstance(block, Paragraph)]
    told(said)


def test_what_is_left_out_of_a_count_of_risk() -> None:
    found = risk(planner.read(cluster()), Question(limit=2))
    text = risks.render(found, "table", width=200, color=False)
    assert "1 pending, 1 shape of what runs, once more\n" in text
