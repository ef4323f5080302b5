"""A page read back: what it says, and whether it is well-formed."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

VOID: Final = {"meta", "br", "wbr", "hr", "rect", "line"}
"""Elements without an end; those of SVG end themselves."""


TOLD: Final = {"title", "h1", "h2", "h3", "p", "li", "dt", "dd", "caption", "summary", "pre"}
CELLS: Final = {"th", "td"}


@dataclass
class Element:
    """An element: its tag, its attributes, and all text in it."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page(HTMLParser):
    """Everything on a page, in order. Reading fails where elements do not nest."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Turn character references into text."""
        super().__init__(convert_charrefs=True)

    @classmethod
    def of(cls, text: str) -> Page:
        """Read a page, which must be complete."""
        page = cls()
        page.feed(text)
        page.close()
        assert not page.open, f"never closed: {[element.tag for element in page.open]}"
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        attributes = {name: value or "" for name, value in attrs}
        assert len(attributes) == len(attrs), f"an attribute twice: {attrs}"
        element = Element(tag, attributes)
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element that ends itself."""
        assert tag in VOID, f"<{tag}/> does not end in HTML"
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        """Close the element that was opened last."""
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop().tag == tag, f"</{tag}> closes another element"

    def handle_data(self, data: str) -> None:
        """Add text to all elements that are open."""
        for element in self.open:
            element.text += data

    def all(self, tag: str, style: str = "") -> list[Element]:
        """Return the elements of a tag, and of a class if one is given."""
        return [
            element
            for element in self.elements
            if element.tag == tag
            and (not style or style in element.attributes.get("class", "").split())
        ]

    def texts(self, tag: str, style: str = "") -> list[str]:
        """Return the texts of the same, without spaces at the ends."""
        return [" ".join(element.text.split()) for element in self.all(tag, style)]

    def told(self) -> str:
        """Return what the page says: a line for each text and picture, one for each row."""
        lines: list[str] = []
        for element in self.elements:
            label = element.attributes.get("aria-label", "")
            text = " ".join((label or element.text).split())
            if element.tag in CELLS:
                lines[-1] += f" | {text}"
            elif element.tag == "tr" or element.tag in TOLD or label:
                style = element.attributes.get("class", "").split()
                mark = ".".join([element.tag, *style])
                lines.append(mark if element.tag == "tr" else f"{mark}: {text}")
            elif element.tag == "span" and "badge" in element.attributes.get("class", ""):
                lines.append(f"badge: {text}")
        return "".join(f"{line}\n" for line in lines)
