"""Plans in Markdown: what GitHub makes of it is read back with another implementation."""

import re
from html.parser import HTMLParser

import pytest
from markdown_it import MarkdownIt

from planner.plan import AnyPlan
from planner.report.markdown import MAX_ROWS, code, prose
from tests.report.factory import make_infeasible, make_plan, make_victim
from tests.report.page import Page
from tests.report.rendering import markdown
from tests.report.test_html import PLANS, SHOWN, evil_plan, rows
from tests.report.yunikorn_factory import make_yunikorn
from tests.told import told

OWN_TAGS = {"details", "summary", "br"}
TABLE_TAGS = {"table", "thead", "tbody", "tr", "th", "td"}
MADE_TAGS = {"h2", "h3", "p", "ul", "ol", "li", "strong", "code", "hr", *TABLE_TAGS, *OWN_TAGS}


def read_back(text: str) -> Page:
    """Return what Markdown becomes, with the HTML that is in it."""
    return Page.of(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


@pytest.mark.parametrize("plan", PLANS)
def test_markdown_becomes_texts_lists_and_tables_only(plan: AnyPlan) -> None:
    read = read_back(markdown.render(plan))
    assert {element.tag for element in read.elements} <= MADE_TAGS
    assert read.texts("h2")


@pytest.mark.parametrize("plan", PLANS)
def test_every_row_has_as_many_cells_as_its_title(plan: AnyPlan) -> None:
    text = markdown.render(plan)
    tables = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    for table in tables:
        counts = {len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}
        assert len(counts) == 1, table
    assert len(read_back(text).all("table")) == len(tables)


def test_hostile_names_are_text() -> None:
    text = markdown.render(evil_plan())
    read = read_back(text)
    assert {element.tag for element in read.elements} <= MADE_TAGS
    assert read.texts("h2") == [SHOWN]
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "name",
    [
        "a|b",
        "`",
        "a`b``c",
        "**bold**",
        "@everyone",
        "#1",
        "[x](https://x.example)",
        "\\",
        " ",
        "<b>",
    ],
)
def test_names_are_code_whatever_they_are(name: str) -> None:
    victim = make_victim(name, cluster_queue=name)
    read = read_back(markdown.render(make_plan(victims=[victim], preemptor=name)))
    heading = read.all("h2")[0]
    codes = [element.text for element in read.all("code")]
    assert heading.text == name
    assert codes.count(name) >= 3
    assert not read.all("a")


@pytest.mark.parametrize(
    "text",
    [
        "ask @everyone",
        "see #12",
        "GH-12",
        "https://x.example",
        "www.x.example",
        "- item",
        "1. item",
        "# title",
        "a*b_c",
        "<img>",
        "one\ntwo",
        "16 GPUs, 1.5 of 2",
    ],
)
def test_texts_neither_mention_nor_link_nor_mark_up(text: str) -> None:
    told(prose(text))


class Words(HTMLParser):
    """What a reader sees."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def handle_data(self, data: str) -> None:
        """Add a text."""
        self.text += data


@pytest.mark.parametrize(
    "text", ["@everyone #1 www.x https://x", "1. *a* _b_ `c` [d](e) <f> | ~g~"]
)
def test_a_reader_sees_the_text_as_it_is(text: str) -> None:
    words = Words()
    words.feed(MarkdownIt("commonmark", {"html": True}).render(prose(text)))
    told(words.text.strip())


def test_code_in_a_table_keeps_its_bars() -> None:
    assert code("a|b", in_table=True) == "`a\\|b`"
    assert code("a|b") == "`a|b`"


def test_long_lists_are_cut_and_say_so() -> None:
    victims = [make_victim(f"ns/job-{number:03d}") for number in range(MAX_ROWS + 3)]
    text = markdown.render(make_plan(victims=victims))
    assert text.count("... 3 more, use --format json") == 2  # victims, and those Kueue spares
    assert f"`ns/job-{MAX_ROWS - 1:03d}`" in text
    assert f"ns/job-{MAX_ROWS:03d}" not in text
    assert f"**{MAX_ROWS + 3} victims**" in text


def test_several_plans_stand_apart() -> None:
    text = markdown.render_all([make_plan(), make_infeasible(), make_yunikorn()])
    read = read_back(text)
    assert len(read.all("h2")) == 4  # the last is the overview of the three
    assert len(read.all("hr")) == 3
    assert rows(read, "none") == []
