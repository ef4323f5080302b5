"""The search of the site, as the page in a browser does it (Material's worker, on lunr)."""

import html
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from lunr.builder import Builder
from lunr.index import Index
from lunr.stemmer import stemmer
from lunr.stop_word_filter import stop_word_filter
from lunr.trimmer import trimmer

STEPS: Final = {"stopWordFilter": stop_word_filter, "stemmer": stemmer, "trimmer": trimmer}


class Search:
    """The index of a built site."""

    def __init__(self, site: Path) -> None:
        index = json.loads((site / "search" / "search_index.json").read_bytes())
        self._index = _index_of(index["config"], index["docs"])

    def pages(self, question: str) -> list[str]:
        """Return the pages that are found, best first: each stands where its best section does."""
        words = question.lower().split()
        scores: dict[str, float] = {}
        for found in self._index.search(" ".join(f"{word}*" for word in words)):
            page, _, section = found["ref"].partition("#")
            met = sum(
                any(term.startswith(word) for term in found["match_data"].metadata)
                for word in words
            )
            # A page counts for more than a section of one, and so does who has more of the words.
            score = found["score"] * (1 + ((not section) + met / len(words)) ** 2)
            scores[page] = max(scores.get(page, 0), score)
        return sorted(scores, key=lambda page: -scores[page])


def _index_of(config: Mapping[str, Any], sections: list[dict[str, Any]]) -> Index:
    builder = Builder()
    builder.ref("location")
    builder.b(0)
    for step in config["pipeline"]:
        builder.pipeline.add(STEPS[step])
        builder.search_pipeline.add(STEPS[step])
    for field, of in config["fields"].items():
        builder.field(field, boost=of["boost"])
    separator = re.compile(config["separator"])
    for section in sections:
        words = {
            field: [word for word in separator.split(_plain(section[field]).lower()) if word]
            for field in ("title", "text")
        }
        builder.add(
            {"tags": [], "location": section["location"], **words}, {"boost": section["boost"]}
        )
    return builder.build()


def _plain(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", " ", text))
