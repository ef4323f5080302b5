"""From what kubectl and the schedulers print to a state.

source.py      bytes from files, directories and standard input, within bounds
bound.py       how many values may be made of these bytes
parse.py       bytes to documents: JSON, or yaml_text.py
quick.py       a large list of objects, fast: the objects are left as text
settings.py    the name of a state, the settings that the user gives for it, and its clock
items.py       documents to single objects: lists are opened
complaint.py   what is wrong with a value, and where; show.py: values and paths in messages
kueue.py       objects of Kueue to one state: the clock, priorities, the configuration
kueue_kinds.py
               the kinds of objects that are read for Kueue
kueue_rows.py  workloads that were left as text to rows; structs.py: the schema for that
kueue_collect.py
               single objects to checked ones
kueue_release.py
               the release of Kueue that a dump is of
kueue_versions.py
               fields of older versions of its API, in objects of newer ones
yunikorn_read.py
               YuniKorn's part; yunikorn_files.py: which documents are YuniKorn's
yunikorn.py    a state dump of YuniKorn to one state: yunikorn_queues.py, yunikorn_pods.py
unknown.py     the fields and kinds that were ignored, if asked for
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain
from numbers import Integral
from typing import TYPE_CHECKING, Any, Unpack

from planner.errors import SchemaError, UnsupportedError
from planner.garbage import without_garbage_collection
from planner.reader.bound import Budget
from planner.reader.items import cut_off
from planner.reader.parse import Document, parse
from planner.reader.settings import Said, Settings, named
from planner.reader.source import MAX_BYTES as MAX_BYTES
from planner.reader.source import UNREAD, Loadable
from planner.reader.source import Source as Source
from planner.reader.source import load as load
from planner.reader.source import load_file as load_file
from planner.reader.unknown import Ignored as Ignored
from planner.scheduler import schedulers
from planner.stage import begin
from planner.state import AUTO, RequestsFrom

if TYPE_CHECKING:
    from planner.state import AnyState


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
    scheduler: str | None = None,
) -> AnyState:
    """Read the state of a cluster from a file, a directory of files, or standard input (``-``).

    The content says which scheduler it is of: objects of Kueue, or the full state dump of
    YuniKorn's core with queues.yaml, PriorityClasses and pods beside it. JSON and YAML are told
    apart by their content, too, and gzip is undone; a recorded instance brings its own clock.

    Parameters
    ----------
    source
        The name of a file; of a directory, of which the files ending in .json, .yaml, .yml, also
        with .gz, are read in the order of their names, and folders in it are not; or ``-``. Or what
        such a file holds: its bytes, an open file, or the value that ``json.load`` makes of it.
    now
        The clock of the decision. Without it, the clock of the recorded instance or of the state
        dump, or the time of the snapshot, else the newest timestamp in any object.
    max_bytes
        How much is read at most, unpacked.
    ignored
        Where to count the fields and kinds that the planner does not read.
    release
        The release whose rules hold. Of Kueue such as ``0.18.6``, or ``main`` for the newest that
        are known; with ``auto`` it is that of the recorded instance, or the one that the manager's
        Deployment, the labels of a chart or the feature gates show, else the newest. Of YuniKorn
        such as ``1.8.0``; with ``auto`` the one that the dump names, else the newest.
    requests
        Where the requests of pending workloads of Kueue are taken from: ``template``, their pods
        with all that the Configuration makes of them, or ``recorded``, what Kueue itself wrote into
        ``status.resourceRequests``, where it did so for every podset.
    scheduler
        The id of the scheduler that the state has to be of, ``kueue`` or ``yunikorn``. Type
        checkers then know the class of the state.

    Raises
    ------
    InputError
        If the source cannot be read, or what it holds cannot be used, or is of another scheduler.
    """
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, Integral):
        found = f"{type(max_bytes).__name__} cannot be used"
        raise SchemaError("max_bytes", found, "a whole number of bytes")
    if max_bytes < 0:
        raise SchemaError("max_bytes", f"{max_bytes} cannot be used", "0 bytes or more")
    said: Said = {"now": now, "release": release, "requests": requests}
    if isinstance(source, Mapping | list):
        state = read_objects(source, where="the value", ignored=ignored, **said)
    else:
        begin(f"reading {source}" if isinstance(source, str) else "reading")
        loaded = load(source, max_bytes)
        state = read_loaded(loaded, ignored=ignored, **said)
        if loaded.below:
            note = f"{loaded.name}: {UNREAD}: {', '.join(loaded.below)}"
            state = state.model_copy(update={"notes": (note, *state.notes)})
    if scheduler is not None and state.scheduler != scheduler:
        known = [one.id for one in schedulers()]
        if scheduler not in known:
            raise SchemaError("scheduler", f"{scheduler!r} is none", " or ".join(known))
        raise UnsupportedError(
            state.source, f"is a state of {state.scheduler}", f"one of {scheduler}"
        )
    return state


def read_loaded(
    loaded: Source, *, ignored: Ignored | None = None, **said: Unpack[Said]
) -> AnyState:
    """Read the state from texts that `load` returned, perhaps on another machine.

    Parameters and errors are those of `read`.
    """
    with without_garbage_collection():
        budget = Budget(loaded.max_bytes)
        quick = ignored is None  # fields that are not read are counted in parsed objects
        documents = [
            document for text in loaded.texts for document in parse(text, budget, quick=quick)
        ]
        return _state(documents, Settings(loaded.name, loaded.digest, **said), ignored)


def read_objects(
    value: object,
    *,
    where: str,
    digest: str | None = None,
    ignored: Ignored | None = None,
    **said: Unpack[Said],
) -> AnyState:
    """Read a JSON value that is parsed already, such as ``json.load`` returns.

    It is a List of Kueue's objects, one object, or a list of objects; or a state dump or recorded
    instance of YuniKorn. ``where`` names the value in messages; without a ``digest``, the SHA-256
    of its canonical JSON text is the digest. ``said`` may have ``now``, ``release`` and
    ``requests``, as for `read`.

    Raises ``InputError`` if the value cannot be used.
    """
    with without_garbage_collection():
        settings = named(value, where, digest, **said)
        return _state([Document(where, value)], settings, ignored)


def _state(documents: Sequence[Document], settings: Settings, ignored: Ignored | None) -> AnyState:
    """Make one state of all documents, of whichever scheduler they are.

    Kueue, which is registered first, comes last: it takes what no other scheduler does, or raises.
    """
    for one in reversed(schedulers()):
        state: AnyState | None = one.read_documents(documents, settings, ignored)
        if state is not None:
            notes = (*chain.from_iterable(map(cut_off, documents)), *state.notes)
            return state if notes == state.notes else state.model_copy(update={"notes": notes})
    raise UnsupportedError(settings.source, "no scheduler is registered that reads it")
