"""Lines, tables and documents that follow from the labels of a record's fields."""

from typing import Annotated

from planner.plan import Record
from planner.plan.label import Label
from planner.report.labelled import labelled_document, labelled_facts, labelled_lines
from planner.report.markdown import text_of
from tests.told import told


class Room(Record):
    """A room, with one field that only JSON has."""

    number: Annotated[str, Label("Room", "key", unit="room")]
    beds: Annotated[int, Label("Beds")]
    wakes_s: Annotated[int | None, Label("Wakes", unit="s", plain="wakes")] = None
    word: Annotated[str, Label("Word", "text")] = ""
    guests: Annotated[tuple[str, ...], Label(role="name")] = ()
    keys: Annotated[tuple[str, ...], Label("Keys", "count")] = ()
    colors: Annotated[tuple[str, ...], Label("Colors", "list", absent="none")] = ()
    costs: Annotated[dict[str, int], Label(role="list")] = {}
    leaks: Annotated[int, Label("Leaks", unit="times")] = 0
    inside: str = "dust"


class Bill(Record):
    """Totals, with parts by name."""

    nights: Annotated[int, Label()]
    meals: Annotated[dict[str, int], Label(plain="meal")]


class Inn(Record):
    """An answer with several rooms."""

    name: Annotated[str, Label("Inn", "title")]
    state: Annotated[str, Label("Now", "verdict", said={"open": ("Come in", "good")})]
    bill: Annotated[Bill, Label(plain="total", role="totals")]
    rooms: Annotated[tuple[Room, ...], Label("Rooms", unit="room")]
    walks: Annotated[tuple[Room, ...], Label(role="numbered")] = ()
    rules: Annotated[tuple[str, ...], Label("Rules", "caution")] = ()
    mood: Annotated[str, Label()] = "calm"


INN = Inn(
    name="ns/oak",
    state="open",
    bill=Bill(nights=3, meals={"soup": 2, "cake": 1}),
    rooms=(
        Room(number="1", beds=1200, wakes_s=3600, guests=("ann", "bob"), keys=("a", "b")),
        Room(number="2", beds=0, word="no view", colors=("red", "blue"), costs={"light": 4}),
    ),
    walks=(Room(number="9", beds=1, guests=("cid",)),),
    rules=("no dogs",),
)


def test_plain_lines_have_every_labelled_fact_once() -> None:
    told([*labelled_lines(INN)])


def test_a_document_has_facts_tables_and_cautions() -> None:
    lines = text_of(labelled_document("Inn", INN)).splitlines()
    told([line for line in lines if line])


def test_a_schema_has_the_titles_of_labels() -> None:
    properties = Room.model_json_schema()["properties"]
    titles = {field: about.get("title") for field, about in properties.items()}
    assert (titles["number"], titles["wakes_s"], titles["inside"]) == ("Room", "Wakes", "Inside")


def test_facts_of_one_record_are_told_by_title() -> None:
    told = [(title, cell.text) for title, cell in labelled_facts(INN.rooms[0])]
    numbers = [("Room", "1"), ("Beds", "1,200"), ("Wakes", "1h"), ("Keys", "2"), ("Leaks", "-")]
    assert told == numbers
