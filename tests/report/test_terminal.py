"""Any document on a screen: what is shown, what gives way, and what never gets through."""

import pytest
from msgspec.structs import replace

from planner.report.document import (
    MAX_NAMES,
    Block,
    Cell,
    Column,
    Document,
    Fact,
    Facts,
    Fold,
    Listing,
    Names,
    Paragraph,
    Section,
    table,
)
from planner.report.html.page import page
from planner.report.markdown import text_of as markdown
from planner.report.terminal import STYLES, text_of
from tests.report.page import Page
from tests.report.test_html import EVIL, SHOWN
from tests.report.test_markdown import MADE_TAGS, read_back
from tests.told import told

HEAD = (
    Fact("Before", Cell("Unknown", tone="warn"), "verdict"),
    Fact("About", Cell("ns/job", is_name=True), "title"),
    Fact("After", Cell("Proved optimal", tone="good"), "verdict"),
    Fact("", Cell("one goes\nand no other"), "answer"),
    Fact("Where", Cell("queue", is_name=True)),
    Fact("", Cell("in a cohort")),
)


def made(*blocks: Block, heads: bool = False) -> Document:
    return Document("Thing", HEAD, (Section("A part", blocks, heads=heads),))


def shown(document: Document, width: int = 80, *, color: bool = False) -> list[str]:
    return text_of([document], width=width, color=color).splitlines()


def test_facts_stand_in_their_order_and_verdicts_in_capitals() -> None:
    told(shown(made(Paragraph("That is all.")))[:9])


def test_a_page_makes_more_of_the_last_of_a_kind() -> None:
    document = made()
    assert (document.title.text, document.badge, document.tone) == (
        "ns/job",
        "Proved optimal",
        "good",
    )
    told(document.answer)
    assert [label for label, _ in document.facts] == ["Before", "Where", ""]
    told(markdown(document))


def test_a_screen_may_end_with_the_answer() -> None:
    document = replace(made(Paragraph("That is all.")), answer_last=True)
    lines = shown(document)
    told(lines[0])
    told(lines[-4:])
    told((document.badge, document.answer))


def test_without_a_title_the_kind_of_result_is_one() -> None:
    bare = Document("Thing", (), ())
    assert (bare.title.text, bare.badge, bare.answer) == ("Thing", "", "")
    assert markdown(bare) == "## Thing\n"


def _name_of(row: tuple[str, str, str]) -> str:
    return row[0]


ROWS = [("ns/a-name-of-some-length", "why it is so", "1"), ("ns/b", "because", "22")]
COLUMNS: list[Column[tuple[str, str, str]]] = [
    Column("Name", lambda row: Cell(row[0], is_name=True), "2 names", folds=True),
    Column("Some reason", lambda row: row[1], rank=2),
    Column("A long title of a column", lambda row: row[2], rank=1),
    Column("Number of them all", lambda row: row[2], number=True),
]


@pytest.mark.parametrize(
    ("width", "there", "left_out"),
    [
        (100, ["Name", "Some reason", "A long title of a column", "Number of them all"], []),
        (75, ["Name", "A long title of a column", "Number of them all"], ["Some reason"]),
        (65, ["Name", "Number of them all"], ["Some reason", "A long title of a column"]),
    ],
)
def test_columns_of_the_highest_rank_give_way_first(
    width: int, there: list[str], left_out: list[str]
) -> None:
    lines = shown(made(table("Things", COLUMNS, ROWS, ["a note"])), width)
    titles = next(line for line in lines if "Name" in line)
    assert [title for title in (column.title for column in COLUMNS) if title in titles] == there
    said = [f" not shown at this width: {', '.join(left_out)}"] if left_out else []
    assert [line for line in lines if "not shown" in line] == said
    assert max(map(len, lines)) <= width
    assert any("2 names" in line for line in lines)
    assert lines[-1] == " a note"


@pytest.mark.parametrize(
    ("width", "first"),
    [
        (80, ["ns/a-name-of-some-length  a-long-queue  ns/who-evicts-it-and-why"]),
        (60, ["ns/a-name-of-some-length    a-long-queue", "  ns/who-evicts-it-and-why"]),
    ],
)
def test_names_move_below_others_before_they_are_broken(width: int, first: list[str]) -> None:
    columns: list[Column[tuple[str, str, str]]] = [
        Column("Whom", _name_of, "2 names", folds=True),
        Column("Where", lambda row: Cell(row[1], is_name=True), folds=True),
        Column("By", lambda row: row[2], folds=True, below="Whom"),
    ]
    rows = [("ns/a-name-of-some-length", "a-long-queue", "ns/who-evicts-it-and-why")]
    lines = shown(made(table("Things", columns, [*rows, ("ns/b", "b", "-")])), width)
    rule = next(number for number, line in enumerate(lines) if "──" in line)
    assert [line[1:] for line in lines[rule + 1 : rule + 1 + len(first)]] == first
    assert lines[rule + 1 + len(first)].split() == ["ns/b", "b", *(["-"] if width == 80 else [])]
    assert lines[-1] == " 2 names"


def test_a_word_longer_than_a_line_is_broken_at_a_joint() -> None:
    path = "/".join(["part-of-a-path"] * 8)
    lines = shown(made(Paragraph(path)), 60)[-3:]
    assert "".join(line.strip() for line in lines) == path
    assert all(line.endswith(("-", "/", "path")) for line in lines)


def test_what_follows_is_indented_like_its_line() -> None:
    assert shown(made(Paragraph("  " + "word " * 20)), 60)[-2].startswith("   word")


def test_what_stands_below_another_is_not_said_to_be_left_out() -> None:
    columns: list[Column[tuple[str, str, str]]] = [
        Column("Name", lambda row: Cell(row[0], is_name=True), folds=True),
        Column("Node", lambda row: Cell(row[1], is_name=True), rank=2, below="Name"),
        Column("A long title of a column", lambda row: row[2], rank=1),
    ]
    rows = [("a" * 45, "worker-4", "1")]
    lines = shown(made(table("Things", columns, rows)), 60)
    assert "   worker-4" in lines
    told(lines[-1])


def test_every_rank_gives_way_where_nothing_fits() -> None:
    first: Column[tuple[str, str, str]] = Column("x" * 50, _name_of, folds=True, least=50)
    wide = [first, *COLUMNS[1:]]
    text = " ".join(shown(made(table("Things", wide, ROWS)), 60))
    told(text)


def test_a_table_says_how_many_rows_it_leaves_out() -> None:
    lines = shown(made(table("Things", COLUMNS, ROWS * 3, most=4)), 100)
    assert sum("ns/b" in line for line in lines) == 2
    assert any("... 2 more, use --format json" in line for line in lines)


def test_a_title_is_shown_only_where_it_heads() -> None:
    things = table("Things", COLUMNS, ROWS)
    for blocks in ((things,), (Paragraph("text"),), (Facts((("a", Cell("b")),)),)):
        assert not any("A part" in line for line in shown(made(*blocks)))
        lines = shown(made(*blocks, heads=True))
        assert lines[8] == " A part"
        assert lines[9] != ""


def test_texts_and_names_follow_without_a_gap_and_folds_are_for_pages() -> None:
    names = [Names("in both", ("ns/a", "ns/b")), Names("spared", ("ns/c",), "good")]
    folded = Fold("More", (Paragraph("out of the way"),))
    lines = shown(made(Paragraph("Both:"), *names, folded, Paragraph("Done.")))
    told(lines[8:])


def test_many_names_are_cut() -> None:
    lines = shown(made(Names("all", tuple(f"n{i}" for i in range(MAX_NAMES + 3)))))
    told(" ".join(lines))


def test_lines_to_be_copied_are_never_broken() -> None:
    long = "kubectl annotate " + "x" * 100
    lines = shown(made(Paragraph("Run:"), Listing((long, "second"))))
    assert lines[8:] == [" Run:", "", long, "second"]
    assert f"\n```\n{long}\nsecond\n```\n" in markdown(made(Listing((long, "second"))))
    assert "\n````\na ``` b\n````\n" in markdown(made(Listing(("a ``` b",))))


def test_nothing_steers_the_terminal() -> None:
    evil = "a\x1b[31mb\u202e"
    cell = Cell(evil, evil)
    column: Column[str] = Column(evil, lambda one: Cell(one, is_name=True), evil, folds=True)
    blocks = (
        Paragraph(evil),
        Facts(((evil, cell),)),
        Names(evil, (evil,)),
        Listing((evil,)),
        table(evil, [column], [evil], [evil]),
    )
    document = Document(evil, (Fact(evil, cell, "title"),), (Section(evil, blocks, heads=True),))
    text = text_of([document], width=80, color=False)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert text.count("a\\x1b[31mb") >= 10


def test_nothing_is_markup_on_a_page() -> None:
    cell = Cell(EVIL, EVIL, tone="strong")
    column: Column[str] = Column("Name", lambda one: Cell(one, is_name=True), EVIL)
    blocks = (
        Paragraph(EVIL),
        Facts(((EVIL, cell), ("", cell))),
        Names(EVIL, (EVIL,)),
        Listing((EVIL,)),
        table(EVIL, [column], [EVIL], [EVIL]),
    )
    head = (Fact(EVIL, cell, "title"), Fact("", cell, "badge"), Fact("", cell, "answer"))
    document = Document(EVIL, head, (Section(EVIL, blocks),))
    read = Page.of(page([document]))
    assert not {"script", "img"} & {element.tag for element in read.elements}
    assert read.texts("pre") == [SHOWN]
    text = markdown(document)
    assert text.replace("\n", "").isprintable()
    assert {element.tag for element in read_back(text).elements} <= {*MADE_TAGS, "pre"}


def test_tones_are_colours() -> None:
    text = "\n".join(shown(made(Paragraph("Beware", "bad")), color=True))
    assert "\x1b[1;31mBeware" in text
    assert "\x1b[1;32mPROVED OPTIMAL" in text
    assert set(STYLES) == {"", "good", "warn", "bad", "dim", "strong"}
