"""All documents to a state of YuniKorn, if they are YuniKorn's.

What a state is made with is imported only then: it takes a tenth of the time that a small plan of
Kueue takes to start.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from planner.errors import UnsupportedError
from planner.reader.parse import Document
from planner.reader.settings import Settings
from planner.reader.unknown import Ignored
from planner.reader.yunikorn_files import yunikorn_files
from planner.state import AUTO
from planner.state.yunikorn_release import is_known

if TYPE_CHECKING:
    from planner.state.yunikorn import YuniKornState


def read(
    documents: Sequence[Document], settings: Settings, ignored: Ignored | None
) -> YuniKornState | None:
    """Make one state of the documents of YuniKorn; None if none of them is YuniKorn's.

    Raises ``InputError`` if a document cannot be used, or a setting is given that holds for Kueue
    only, such as one of its releases.
    """
    files = yunikorn_files(documents)
    if files is None:
        return None
    of_release = settings.release != AUTO and not is_known(settings.release)
    if of_release or settings.requests != "template":
        what = "no release of Kueue applies" if of_release else "Kueue recorded no requests"
        raise UnsupportedError(
            settings.source, f"is a state of YuniKorn, to which {what}", "a state of Kueue"
        )
    from planner.reader.yunikorn import read_yunikorn  # noqa: PLC0415

    return read_yunikorn(files, settings, ignored)
