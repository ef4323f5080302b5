"""From what kubectl and the schedulers print to a state.

source.py      bytes from files, directories and standard input, within bounds
bound.py       how many values may be made of them
parse.py       bytes to documents: json_text.py or yaml_text.py
quick.py       a large list of them, fast: workloads become facts; structs.py: the schema for it
scheduler.py   which scheduler the documents belong to
items.py       documents to single objects: lists are opened
collect.py     single objects to checked ones; kinds.py says which, checked.py makes them
complaint.py   what is wrong with one, and where; show.py: values and paths in messages
assemble.py    checked objects to one state: the clock, priority.py, the configuration
release.py     which release of Kueue a dump tells of
yunikorn.py    a state dump of YuniKorn to one state: yunikorn_queues.py, yunikorn_pods.py
taken.py       when the snapshot was taken that a dump is of
unknown.py     what was ignored, when somebody asks
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from planner.errors import UnsupportedError
from planner.garbage import without_garbage_collection
from planner.reader.assemble import Settings, assemble, canonical_digest
from planner.reader.bound import Budget
from planner.reader.parse import Document, parse
from planner.reader.release import GateRefused
from planner.reader.scheduler import yunikorn_files
from planner.reader.source import MAX_BYTES, Loadable, Source, load
from planner.reader.unknown import Ignored
from planner.stage import begin
from planner.state import AnyState, State
from planner.state.configuration import RequestsFrom
from planner.state.release import AUTO

__all__ = [
    "MAX_BYTES",
    "GateRefused",
    "Ignored",
    "Source",
    "load",
    "read",
    "read_kueue_objects",
    "read_loaded",
    "read_objects",
]


Readable = Loadable | Mapping[str, object] | list[Any]
"""What a state can be read from."""


def read(  # noqa: PLR0913 - what can be said of a state
    source: Readable,
    *,
    now: datetime | str | None = None,
    max_bytes: int = MAX_BYTES,
    ignored: Ignored | None = None,
    release: str = AUTO,
    requests: RequestsFrom = "template",
) -> AnyState:
    """Read the state of a cluster from a file, a directory of files, or standard input (``-``).

    The content says which scheduler it is of: objects of Kueue, or the full state dump of
    YuniKorn's core with queues.yaml, PriorityClasses and pods beside it. JSON and YAML are told
    apart by their content, too, and gzip is undone; a recorded instance brings its own clock.

    Parameters
    ----------
    source
        The name of a file; of a directory, of which the files ending in .json, .yaml, .yml, also
        with .gz, are read in the order of their names; or ``-``. Or what such a file holds: its
        bytes, an open file, or the value that ``json.load`` makes of it.
    now
        The clock of the decision. Without it, that of the recorded instance or of the state
        dump, or at which its snapshot was taken, else the newest timestamp in any object.
    max_bytes
        How much is read at most, unpacked.
    ignored
        Where to count the fields and kinds that the planner does not read.
    release
        The release of Kueue whose rules hold, such as ``0.18.6``, or ``main`` for the newest that
        are known. With ``auto`` it is that of the recorded instance, or the one that the manager's
        Deployment, the labels of a chart or the feature gates tell, else the newest.
    requests
        Where the requests of pending workloads of Kueue are taken from: ``template``, their pods
        with all that the Configuration makes of them, or ``recorded``, what Kueue itself wrote into
        ``status.resourceRequests``, where it did so for every podset.

    Raises
    ------
    InputError
        If the source cannot be read, or what it holds cannot be used.
    """
    if isinstance(source, Mapping | list):
        return read_objects(
            source,
            where="the value",
            now=now,
            ignored=ignored,
            release=release,
            requests=requests,
        )
    begin(f"reading {source}" if isinstance(source, str) else "reading")
    loaded = load(source, max_bytes)
    return read_loaded(loaded, now=now, ignored=ignored, release=release, requests=requests)


def read_loaded(
    loaded: Source,
    *,
    now: datetime | str | None = None,
    ignored: Ignored | None = None,
    release: str = AUTO,
    requests: RequestsFrom = "template",
) -> AnyState:
    """Read the state from texts that `load` returned, perhaps on another machine.

    Parameters and errors are those of `read`.
    """
    with without_garbage_collection():
        budget = Budget(loaded.max_bytes)
        quick = ignored is None  # which looks for what is not read
        documents = [
            document for text in loaded.texts for document in parse(text, budget, quick=quick)
        ]
        settings = Settings(loaded.name, loaded.digest, now, release, requests)
        return _state(documents, settings, ignored)


def read_objects(  # noqa: PLR0913 - what can be said of a state
    value: object,
    *,
    where: str,
    digest: str | None = None,
    now: datetime | str | None = None,
    ignored: Ignored | None = None,
    release: str = AUTO,
    requests: RequestsFrom = "template",
) -> AnyState:
    """Read a JSON value that is parsed already.

    It is a List of Kueue's objects, one object, or a list of objects; or a state dump or recorded
    instance of YuniKorn.

    Parameters
    ----------
    value
        What ``json.load`` returns.
    where
        What to call it in messages.
    digest
        The SHA-256 that names it; without it, that of its canonical JSON text.
    now, ignored, release, requests
        As for `read`.

    Raises
    ------
    InputError
        If it cannot be used.
    """
    with without_garbage_collection():
        known = canonical_digest(value, where) if digest is None else digest
        settings = Settings(where, known, now, release, requests)
        return _state([Document(where, value)], settings, ignored)


def read_kueue_objects(  # noqa: PLR0913 - what can be said of a state
    value: object,
    *,
    where: str,
    digest: str | None = None,
    now: datetime | str | None = None,
    release: str = AUTO,
    requests: RequestsFrom = "template",
) -> State:
    """Read a JSON value that is known to be of Kueue, as a recorded instance of it is.

    Parameters and errors are those of `read_objects`.
    """
    with without_garbage_collection():
        known = canonical_digest(value, where) if digest is None else digest
        settings = Settings(where, known, now, release, requests)
        return assemble([Document(where, value)], settings, None)


def _state(documents: Sequence[Document], settings: Settings, ignored: Ignored | None) -> AnyState:
    """Make one state of all documents, of whichever scheduler they are."""
    files = yunikorn_files(documents)
    if files is None:
        return assemble(documents, settings, ignored)
    source, digest, now, release, requests = settings
    if release != AUTO or requests != "template":
        what = "no release of Kueue applies" if release != AUTO else "Kueue recorded no requests"
        raise UnsupportedError(
            source, f"is a state of YuniKorn, to which {what}", "a state of Kueue"
        )
    # A tenth of what a small plan of Kueue takes to start.
    from planner.reader.yunikorn import read_yunikorn  # noqa: PLC0415

    return read_yunikorn(files, source=source, digest=digest, now=now, ignored=ignored)
