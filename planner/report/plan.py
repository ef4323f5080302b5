"""A plan in every format: the parts that the plans of all schedulers have.

A screen has the answer in brief, or with its details all that a page has in words. The module of a
scheduler adds what only its plans have, as `Particulars` and as plain lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, NamedTuple, Protocol, TypeVar, Unpack

from msgspec.structs import replace

from planner.plan import TREES, AnyPlan, Certificate, Record, Status, Verdict
from planner.quantity import plural
from planner.report import document as doc
from planner.report import words
from planner.report.covered import answer_cell, assumed, effects, uncovered_lines
from planner.report.document import NONE, NOTHING, Cell, Column, Fact, Section, name, table
from planner.report.style import Look, Said, Value, each, field_lines, free, line, rendered
from planner.report.text import hours, moment
from planner.scheduler import scheduler_of
from planner.term import lost_by

MANY, FIRST = 100, 20
"""More than ``MANY`` victims have a summary by queue, and a screen lists the ``FIRST`` only."""

PREEMPTION: Final = "Preemption plan"
SHORT_DIGEST: Final = 16
NO_GREEDY: Final = "{scheduler} itself finds nobody to {verb} here."
BOTH, SPARED, INSTEAD = "in both", "spared", "only in this plan"


class Particulars(NamedTuple):
    """The parts that a scheduler's own module makes: preemptor, request, victims, usage.

    ``asks`` is the word for a preemptor and ``asking`` where it waits; ``found`` are facts of the
    plan itself, such as the node that it chooses. ``shares`` are those of fair sharing, ``nodes``
    the pictures of a topology, ``commands`` those that carry the plan out. ``brief`` are facts of
    the request in a line each, ``columns`` those of any victims in brief, and ``remarks`` what is
    to be said of the victims at any length.
    """

    asks: str
    asking: tuple[tuple[str, Cell], ...]
    request: tuple[doc.Block, ...]
    victims: tuple[doc.Block, ...]
    usage: tuple[doc.Block, ...]
    shares: tuple[doc.Block, ...] = ()
    found: tuple[tuple[str, Cell], ...] = ()
    nodes: tuple[doc.Block, ...] = ()
    commands: tuple[doc.Block, ...] = ()
    brief: tuple[tuple[str, Cell], ...] = ()
    columns: tuple[Column[Any], ...] = ()
    remarks: tuple[doc.Block, ...] = ()


Plan_contra = TypeVar("Plan_contra", contravariant=True)


class Reporting(Protocol[Plan_contra]):
    """What pages and plain lines of plans ask of a scheduler."""

    def particulars(self, plan: Plan_contra) -> Particulars:
        """Return the parts of a document that only its plans have."""
        ...

    def lines(self, plan: Plan_contra) -> Iterable[str]:
        """Yield the plain lines of a plan."""
        ...

    def asking(self, plan: Plan_contra) -> Iterable[str]:
        """Yield the plain lines on where the preemptor is."""
        ...


def render(
    plans: Sequence[AnyPlan],
    style: str,
    *,
    alone: bool,
    details: bool = False,
    **look: Unpack[Look],
) -> str:
    """Return plans in a style; ``alone`` says that there is one, and no list of them.

    A ``table`` is brief unless it is to have ``details``.
    """
    if alone:
        whole: Record = plans[0]
    else:
        from planner.report.plans import Plans  # noqa: PLC0415 - they can be of any scheduler

        whole = Plans(plans=tuple(plans))
    write = document
    if style == "table" and not details:
        from planner.report.brief import brief as write  # noqa: PLC0415 - of the parts of a page
    lines = (scheduler_of(plan).reporting.lines(plan) for plan in plans)
    # Several end with their overview; an HTML page has contents instead.
    several = [plans] if len(plans) > 1 and style != "html" else []
    documents = chain(map(write, plans), map(overview, several))
    return rendered(style, whole, lines, documents, PREEMPTION.lower(), **look)


def overview(plans: Sequence[AnyPlan]) -> doc.Document:
    """Return several plans, a line each: the answer, how many victims, and their lost work."""
    itself, *others = {words.scheduler_name(plan) for plan in plans}
    itself = "Scheduler" if others else itself

    work = words.work_of(*plans)

    def victims(plan: AnyPlan | None) -> str:
        return f"{len(plan.victims):,}" if plan else NOTHING

    def lost(plan: AnyPlan | None) -> str:
        return work.lost(plan.terms.get("lost_work", 0)) if plan else NOTHING

    columns: list[Column[AnyPlan]] = [
        Column("Preemptor", lambda plan: name(plan.about.name), folds=True, least=24),
        Column("Answer", answer_cell, folds=True),
        Column("Victims", lambda p: victims(p) if has_plan(p) else NOTHING, number=True),
        Column(itself, lambda plan: victims(plan.greedy), number=True),
        Column(f"Lost {work.short}", lambda p: lost(p) if has_plan(p) else NOTHING, number=True),
        Column(f"{itself} {work.short}", lambda plan: lost(plan.greedy), number=True),
    ]
    counts = Counter(answer_cell(plan).text for plan in plans)
    said = ", ".join(f"{count:,} {badge.lower()}" for badge, count in counts.items())
    head = Fact("Overview", Cell(f"{len(plans):,} pending: {said}"), "title")
    rows = table("Each plan starts from the same state", columns, plans)
    return doc.Document("Overview", (head,), (Section("", (rows,)),))


def document(plan: AnyPlan) -> doc.Document:
    """Return the document of a plan."""
    anybody = plan.victims or (plan.greedy and plan.greedy.victims)
    rows = words.term_rows(plan) if anybody else []
    disruption = words.terms_tables(rows, words.scheduler_name(plan), words.work_of(plan))
    own = scheduler_of(plan).reporting.particulars(plan)
    sections = (
        Section("Request", own.request),
        Section("Victims", (*own.victims, *own.remarks)),
        Section("Quota, before and after", own.usage),
        Section("Nodes", own.nodes),
        Section(f"{words.scheduler_name(plan)}'s own answer", tuple(_beside_greedy(plan))),
        Section("Rules", (doc.Only("screen", tuple(_outside(plan))),)),
        Section("Disruption", tuple(disruption)),
        Section("Shares", own.shares),
        Section("Certificate", tuple(_certificate(plan))),
        Section("Not modelled", (doc.Only("page", tuple(effects(plan.coverage))),)),
        words.noted(plan.notes, cautioned=words.cautions(plan)),
        Section("Commands", own.commands),
    )
    return doc.Document(PREEMPTION, tuple(_head(plan, own)), sections, tuple(_tiles(plan)))


def _head(plan: AnyPlan, own: Particulars) -> Iterator[Fact]:
    yield from assumed(plan.coverage, plan.assume)
    asks = Cell(plan.about.name, is_name=True, aside=f"priority {plan.priority}", aside_tone="")
    yield Fact(own.asks, asks, "title")
    yield from (Fact(*row) for row in own.asking)
    yield Fact("Priority", Cell(f"{plan.priority:,}"), only="page")
    yield Fact("Scheduler", Cell(scheduler_at(plan)), only="screen")
    rules = f"{words.scheduler_name(plan)}, {words.rules_name(plan)}"
    yield Fact("Scheduler", Cell(rules), only="page")
    yield Fact("Objective", Cell(plan.objective))
    yield Fact("Clock", Cell(moment(plan.now)), only="page")
    yield Fact("Answer", answer_cell(plan), "verdict")
    if plan.explanation:
        yield Fact("", Cell(plan.explanation), "answer")
    yield from (Fact(*row) for row in own.found)


def scheduler_at(plan: AnyPlan) -> str:
    """Say which scheduler, under which rules, and when."""
    return f"{words.scheduler_name(plan)}, {words.rules_name(plan)}   at {moment(plan.now)}"


def has_plan(plan: AnyPlan) -> bool:
    """Say whether there is a plan, and so a state after it."""
    return plan.claim in {"optimal", "feasible"}


def _tiles(plan: AnyPlan) -> Iterator[doc.Tile]:
    """Yield the numbers to see first, each beside the scheduler's own where it has an answer."""
    if not has_plan(plan):
        return
    theirs = plan.greedy if plan.greedy and plan.greedy.victims else None
    itself, called = f"{words.scheduler_name(plan)} itself", scheduler_of(plan).words
    count, nouns = plural(len(plan.victims), called.noun).split(" ", 1)
    beside = f"{itself}: {f'{len(theirs.victims):,}' if theirs else 'nobody'}"
    yield doc.Tile(count, f"{nouns} to {called.verb}", beside if plan.greedy else "")
    if plan.victims:
        work, lost = words.work_of(plan), lost_by(plan.terms)
        spent = lost_by(theirs.terms) if theirs else lost
        beside = f"{itself}: {work.lost(spent)}" if theirs else ""
        tone: doc.Tone = "warn" if lost > spent else ""
        yield doc.Tile(work.lost(lost), f"{work.hours} lost, restarts included", beside, tone)
    if plan.certificate and (levels := plan.certificate.levels):
        closed = closed_levels(plan.certificate)
        tone = "good" if closed == len(levels) else "warn"
        yield doc.Tile(f"{closed} of {len(levels)}", "levels of the objective proved", tone=tone)


def victims_of(plan: AnyPlan, shown: doc.Table) -> Iterator[doc.Block]:
    """Yield the victims; if many, by queue, then the first on a screen, all folded on a page."""
    if len(plan.victims) <= MANY:
        yield shown
        return
    queues: dict[str, list[Any]] = {}
    for victim in plan.victims:
        queues.setdefault(victim.runs_in, []).append(victim)
    work = words.work_of(plan)

    def priorities(row: tuple[str, list[Any]]) -> str:
        found = [victim.priority for victim in row[1]]
        least, most = min(found), max(found)
        return f"{least}" if least == most else f"{least} to {most}"

    def lost(victims: Iterable[Any]) -> str:
        return work.lost(sum(victim.costs.get("lost_work", 0) for victim in victims))

    queue, count = scheduler_of(plan).words.queue, plural(len(queues), "queue")
    columns: list[Column[tuple[str, list[Any]]]] = [
        Column(queue, lambda row: name(row[0]), count, folds=True),
        Column("Victims", lambda row: f"{len(row[1]):,}", f"{len(plan.victims):,}", number=True),
        Column("Priority", priorities, number=True),
        Column(f"Lost {work.short}", lambda row: lost(row[1]), lost(plan.victims), number=True),
    ]
    rows = sorted(queues.items(), key=lambda row: -len(row[1]))
    yield table("Victims by queue", columns, rows)
    yield doc.Only("screen", (replace(shown, most=FIRST),))
    yield doc.Only("page", (doc.Fold(f"All {len(plan.victims):,} victims", (shown,)),))


def cost_columns(plan: AnyPlan) -> list[Column[Any]]:
    """Return columns of lost work, and of the user's own cost where that is the objective."""

    def cost(title: str, term: str, show: Callable[[int], str], page: str = "") -> Column[Any]:
        total = show(sum(victim.costs.get(term, 0) for victim in plan.victims))
        shown = Column[Any](title, lambda one: show(one.costs.get(term, 0)), total, number=True)
        return replace(shown, page=page)

    work = words.work_of(plan)
    lost = cost(f"Lost {work.short}", "lost_work", work.lost, page=f"Lost {work.hours}")
    return [lost, cost("Cost", "cost", "{:,}".format)] if "cost" in plan.objective else [lost]


def amount_column(
    title: str,
    victims: Sequence[Any],
    held: Callable[[Any], int],
    show: Callable[[int], str],
    rank: int,
) -> Column[Any]:
    """Return a column of the amount that each victim holds, with the sum of all."""

    def cell(victim: object) -> Cell:
        units = held(victim)
        return Cell(show(units)) if units else NONE

    return Column(title, cell, show(sum(map(held, victims))), number=True, rank=rank)


def _beside_greedy(plan: AnyPlan) -> Iterator[doc.Block]:
    """Yield the scheduler's own victims beside the plan's: in both, spared, only in the plan."""
    greedy = plan.greedy
    if greedy is None:
        return
    parts = words.contrast(plan, greedy)
    differ = bool(greedy.victims and (parts.spared or parts.instead))
    yield doc.Paragraph(f"{own_in_words(plan, greedy)}{':' if differ else ''}")
    if differ:
        # Lists of who is in both, spared or instead; a page begins with who is spared.
        names = words.victim_names(greedy) | words.victim_names(plan)

        def names_block(label: str, keys: Sequence[str], tone: doc.Tone) -> tuple[doc.Block, ...]:
            return (doc.Names(label, tuple(names[key] for key in keys), tone),) if keys else ()

        both = names_block(BOTH, parts.common, "")
        yield doc.Only("screen", both)
        yield from names_block(SPARED, parts.spared, "good")
        yield doc.Only("page", both)
        yield from names_block(INSTEAD, parts.instead, "warn")
    if not greedy.victims:
        return
    if more := words.more_than_greedy(plan):
        yield doc.Paragraph(more, "warn")
    yield doc.Only("page", tuple(_outside(plan)))
    if differ:
        whom = f"Whom {words.scheduler_name(plan)} itself would {scheduler_of(plan).words.verb}"
        yield doc.Fold(whom, scheduler_of(greedy).reporting.particulars(greedy).victims)


def own_in_words(plan: AnyPlan, greedy: AnyPlan) -> str:
    """Say how many victims the scheduler itself would take, beside those of the plan."""
    called, itself = scheduler_of(plan).words, words.scheduler_name(plan)
    if not greedy.victims:
        said = greedy.explanation
        known = not said or (plan.explanation and said.endswith(plan.explanation))
        return NO_GREEDY.format(scheduler=itself, verb=called.verb) if known else said
    theirs = plural(len(greedy.victims), called.noun)
    if_ever = "If it came to that, " if greedy.about.never_comes else ""
    would = f"{if_ever}{itself} itself would {called.verb}"
    if {*greedy.keys} == {*plan.keys}:
        return f"{would} the same {theirs}."
    attempt = greedy.about.attempt
    theirs = f"{theirs} ({attempt})" if attempt else theirs
    as_many = len(greedy.victims) == len(plan.victims)
    beside = "but not the same" if as_many else f"this plan {len(plan.victims)}"
    return f"{would} {theirs}, {beside}"


def _outside(plan: AnyPlan) -> Iterator[doc.Paragraph]:
    return (doc.Paragraph(said, "warn") for _, said in words.outside_rules(plan.greedy or plan))


def closed_levels(certificate: Certificate) -> int:
    """Return how many levels of a certificate are proved: their value is their bound."""
    return sum(level.value == level.bound for level in certificate.levels)


def closed_in_words(certificate: Certificate) -> str:
    """Say how many levels of a certificate are proved; empty if it has none."""
    levels = plural(len(certificate.levels), "level")
    closed = f"value = bound on {closed_levels(certificate)} of {levels}"
    return closed if certificate.levels else ""


def _certificate(plan: AnyPlan) -> Iterator[doc.Block]:
    """Yield why the answer may be believed."""
    certificate = plan.certificate
    if certificate is None:
        return
    claims = list(_claims(plan, certificate))
    for medium in ("screen", "page"):
        rows = [(label, cell) for only, label, cell in claims if only in {None, medium}]
        yield doc.Only(medium, (doc.Facts(tuple(rows)),))
    yield doc.Only("page", tuple(doc.Paragraph(said, "bad") for said in _broken(certificate)))
    if certificate.verdicts:
        holds = {True: Cell("holds", tone="good"), False: Cell("broken", tone="bad")}
        columns: list[Column[Verdict]] = [
            Column("Law", lambda one: name(one.law)),
            Column("Verdict", lambda one: holds[one.holds]),
            Column("Rule", lambda one: one.title),
            Column("What was found", lambda one: one.detail),
        ]
        laws = table("The plan, law by law", columns, certificate.verdicts)
        yield doc.Fold("What the verifier says of every law", (laws,))
    if certificate.removal_order:
        names = words.victim_names(plan)
        order = tuple(names.get(key, key) for key in certificate.removal_order)
        yield doc.Fold("A legal order of removals", (doc.Names("Remove", order, ordered=True),))
    if said := [one for one in certificate.levels if one.says]:
        lines = (f"{one.term} ≥ {one.bound:,}: {one.says}" for one in said)
        yield doc.Fold("Levels that one sum proves", tuple(map(doc.Paragraph, lines)))


def _broken(certificate: Certificate) -> list[str]:
    verdicts = certificate.verdicts
    return [f"{one.law} {one.title}: {one.detail}" for one in verdicts if not one.holds]


def _claims(
    plan: AnyPlan, certificate: Certificate
) -> Iterator[tuple[doc.Medium | None, str, Cell]]:
    """Yield the facts of a certificate, each with the medium that has it, if not both.

    What is claimed stands in one line on a screen, and fact by fact on a page.
    """
    seconds = f"{certificate.wall_time_s:.2f} s"
    all_closed = closed_levels(certificate) == len(certificate.levels)
    held, checked = words.laws_held(certificate.verdicts)
    proved = closed_in_words(certificate)
    laws = f"laws {held}/{checked} hold" if checked else ""
    judge, sets = scheduler_of(plan).words.judge, plural(certificate.cut_off, "set")
    cut_off = f"{sets} of victims that the model permits and {judge} not"
    lawful: doc.Tone = "good" if held == checked else "bad"
    solver, seed = certificate.solver, f", seed {certificate.seed}"
    solver += seed if solver not in {"", TREES} else ""
    digest = f"input {certificate.digest[:SHORT_DIGEST]}" if certificate.digest else ""

    def joined(*parts: str | None) -> str:
        return "   ".join(part for part in parts if part)

    rows: list[tuple[doc.Medium | None, str, str | None, doc.Tone]] = [
        (
            "screen",
            "CERTIFICATE",
            joined(plan.status, proved, plan.about.attempt, laws, seconds),
            "",
        ),
        ("page", "Optimality", proved, "good" if all_closed else "warn"),
        ("page", "Attempt", plan.about.attempt, ""),
        ("page", "Laws", laws and f"{held} of {checked} hold", lawful),
        (None, "Proof", words.proof_in_words(certificate), ""),
        (None, "By hand", words.by_hand_in_words(certificate), ""),
        *(("screen", "Broken law", law, "bad") for law in _broken(certificate)),
        (None, "Solver-free", words.in_a_sentence(certificate), ""),
        (None, "Cut off", cut_off if certificate.cut_off else "", ""),
        ("screen", "Solver", joined(solver, digest), ""),
        ("page", "Solver", solver and f"{solver}, {seconds}", ""),
    ]
    yield "page", "Status", answer_cell(plan)
    for only, label, text, tone in rows:
        if text:
            yield only, label, Cell(text, tone=tone)
    if digest:
        yield "page", "Input", name(certificate.digest)


def heading_lines(plan: AnyPlan) -> Iterator[str]:
    """Yield the first lines: the answer, and the question with its objective and clock."""
    yield from field_lines(plan, "preemptor status")
    yield free("explanation", plan.explanation)
    yield from uncovered_lines(plan.coverage, plan.assume)
    yield from scheduler_of(plan).reporting.asking(plan)
    yield from field_lines(plan, "priority scheduler rules objective")
    yield line("now", moment(plan.now))


def beside_lines(plan: AnyPlan) -> Iterator[str]:
    """Yield how a plan differs from the scheduler's own, by the keys of victims, and its terms."""
    if plan.greedy is not None:
        yield from outside_lines(f"{plan.scheduler}_outside_rules", plan.greedy)
        for kind, keys in words.contrast(plan, plan.greedy)._asdict().items():
            yield from each(kind, keys)
        for one in plan.more_than_greedy:
            facts = {"plan": one.plan, plan.scheduler: one.greedy, "priority": one.priority}
            yield line("more", one.measure, **facts)
    else:
        yield from outside_lines("outside_rules", plan)
    yield from term_lines(words.term_rows(plan), plan.scheduler)


def outside_lines(label: str, plan: AnyPlan) -> Iterator[str]:
    """Yield a line for each law that the scheduler's own plan breaks: its id, and a sentence."""
    return (line(label, law, Said(said)) for law, said in words.outside_rules(plan))


def term_lines(rows: Iterable[words.TermRow], scheduler: str) -> Iterator[str]:
    """Yield a line for each row of terms; ``scheduler`` labels the values beside the plan's."""
    for row in rows:
        facts: dict[str, Any] = {"plan": row.value, scheduler: row.greedy}
        if row.level is not None:
            facts |= {"level": row.level, "bound": str(row.bound), "proof": row.proof or "none"}
            facts |= {"claimed": row.claimed}
        if row.unit == words.WORK_UNIT:
            facts["accelerator_hours"] = hours(row.value).replace(",", "")
        yield line("term", row.id, **facts, unit=Said(row.unit), title=Said(row.title))


def certificate_lines(plan: AnyPlan) -> Iterator[str]:
    """Yield why the answer may be believed: bounds, verdicts, and a summary."""
    certificate = plan.certificate
    if certificate is None:
        return
    for one in certificate.levels:
        if one.says:
            yield line("solver_free", one.term, Said(one.says), bound=one.bound)
    for cap in certificate.dropped:
        yield line("dropped_cap", cap.term, most=cap.most)
    for verdict in certificate.verdicts:
        detail = Said(verdict.detail) if verdict.detail else None
        yield line("law", verdict.law, detail, holds=verdict.holds)
    yield line("removal_order", *certificate.removal_order)
    facts = {
        "certified": sum(level.proof == "certified" for level in certificate.levels),
        "by_hand": certificate.shown.by_hand,
        "steps": words.steps_in(certificate),
        "ties": certificate.ties or "none",
        "corrected": certificate.corrected or None,
    }
    cut_off = certificate.cut_off or None
    yield certificate_line(plan.status, certificate, certificate.verdicts, cut_off, **facts)


def certificate_line(
    status: Status,
    certificate: Certificate,
    verdicts: Sequence[Verdict],
    cut_off: int | None,
    **more: Value,
) -> str:
    """Return the line that sums a certificate up; ``more`` follows the count of proved levels."""
    held, checked = words.laws_held(verdicts)
    return line(
        "certificate",
        status,
        levels=f"{closed_levels(certificate)}/{len(certificate.levels)}",
        **more,
        laws=f"{held}/{checked}",
        cut_off=cut_off,
        seconds=f"{certificate.wall_time_s:.3f}",
        seed=certificate.seed,
        solver=Said(certificate.solver),
        digest=certificate.digest,
    )
