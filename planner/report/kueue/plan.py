"""A plan for a pending workload of Kueue: demand, flavors, victims, quota, shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from planner.laws import law_behind
from planner.plan.base import name_some
from planner.plan.kueue import (
    Cascade,
    Demand,
    FlavorChoices,
    JointPlan,
    NodesAround,
    NodeShare,
    Plan,
    PodSetPlaces,
    Victim,
)
from planner.plan.record import Command, Commands
from planner.quantity import UNLIMITED, format_briefly, format_units, plural
from planner.report import document as doc
from planner.report import plan as shared
from planner.report.document import MAX_NAMES, NONE, REPEATED, Cell, Column, name, table
from planner.report.labelled import row_lines
from planner.report.style import Repeated, Said, each, fields, free, joined, line
from planner.report.text import age, clean, short, some_of, thousandths
from planner.report.words import RARELY_SHOWN, TermRow, Work, sum_of, term_rows, work_of
from planner.state.kueue_release import KnownBy

MAX_AMOUNTS: Final = 3
MOST_IN_BRIEF: Final = 2
"""Resources in brief."""
LEAVING: Final = "(leaving)"
STABLE: Final = "Stable: no victim would preempt anybody once it is pending again."
_KNOWN_BY: Final[Mapping[KnownBy, str]] = {
    "given": "as you say",
    "recorded": "which decided the recorded instance",
    "image": "the image of its manager",
    "labels": "the labels of its chart",
    "gates": "the newest that knows the feature gates that are set",
}


def particulars(plan: Plan) -> shared.Particulars:
    """Return the parts of a document that only plans of Kueue have."""
    # Charts of the tree, usage against quota: first of what is short or contested.
    charts = [_chart(plan, item) for item in _by_need(plan.demand)] if plan.tree else []
    wanted = sum(item.contested or bool(item.shortfall) for item in plan.demand) or 1
    rest = tuple(charts[wanted:])
    remarks = list[doc.Paragraph]()
    # That no victim would preempt is said only if the terms count them.
    if plan.stability is not None and (plan.stability or "unstable" in plan.terms):
        said = cascades_in_words(plan.stability)
        remarks.append(doc.Paragraph(said, "warn" if plan.stability else ""))
    return shared.Particulars(
        asks="Preemptor",
        asking=(("ClusterQueue", name(plan.cluster_queue)), *release_facts(plan)),
        request=tuple(_request(plan)),
        victims=tuple(_victims(plan)),
        usage=(*charts[:wanted], *([doc.Fold("What is not short", rest)] if rest else [])),
        shares=(_shares(plan),) if plan.shares else (),
        nodes=tuple(slots_in(plan.nodes)),
        commands=tuple(_commands(plan.commands)) if plan.commands else (),
        brief=tuple(_brief(plan)),
        columns=(*_columns(plan, MOST_IN_BRIEF), *shared.cost_columns(plan)),
        remarks=tuple(remarks),
    )


def _brief(plan: Plan) -> Iterator[tuple[str, Cell]]:
    """Yield the queue, what is short in it, and what an option of the user's own has chosen."""
    yield "ClusterQueue", name(plan.cluster_queue)
    short_of = [item for item in plan.demand if item.shortfall]
    said = [
        f"{format_briefly(one.shortfall, one.resource)} {clean(one.resource)} in flavor "
        f"{clean(one.flavor)}"
        for one in short_of[:MOST_IN_BRIEF]
    ]
    if len(said) == 1:
        (one,) = short_of
        amounts = one.requested, one.available - one.excess
        asked, available = (format_briefly(units, one.resource) for units in amounts)
        said = [f"{said[0]} (asks for {asked}, {available} available)"]
    if said:
        yield "Short of", Cell(some_of(said, len(short_of)))
    yield from (("", Cell(more)) for more in islice(_overused(plan), 1))
    if plan.flavors is not None:
        chosen = dict.fromkeys(row.flavor for row in _flavor_rows(plan, plan.flavors))
        yield "Flavors", name(name_some([*chosen], MOST_IN_BRIEF))
        yield "", Cell(_flavors_in_words(plan, plan.flavors))


def _commands(commands: Commands) -> Iterator[doc.Block]:
    if commands.reason:
        yield doc.Paragraph(f"No commands carry this plan out: {commands.reason}.")
    yield from map(doc.Paragraph, commands.notes)
    if commands.steps:
        yield command_listing(commands.steps)


def command_listing(steps: Iterable[Command]) -> doc.Listing:
    """Return commands to be copied, each below what it is for."""
    pairs = ((f"# {step.title}", step.command) for step in steps)
    return doc.Listing(tuple(clean(text) for pair in pairs for text in pair))


def release_facts(plan: Plan | JointPlan) -> Iterator[tuple[str, Cell]]:
    """Say which release of Kueue a plan is for; nothing where it was only assumed."""
    if plan.kueue is not None and plan.kueue.known_by != "assumed":
        yield "Kueue", Cell(f"{clean(plan.kueue.release)}, {_KNOWN_BY[plan.kueue.known_by]}")


def _request(plan: Plan) -> Iterator[doc.Block]:
    if plan.demand:

        def available(item: Demand) -> str:
            return format_briefly(item.available - item.excess, item.resource)

        def shortfall(item: Demand) -> Cell:
            missing = format_briefly(item.shortfall, item.resource)
            return Cell(missing, tone="bad") if item.shortfall else NONE

        columns: list[Column[Demand]] = [
            Column("Resource", lambda item: name(item.resource), folds=True),
            Column("Flavor", lambda item: name(item.flavor), folds=True),
            Column("Asked", lambda o: format_briefly(o.requested, o.resource), number=True),
            Column("Available", available, number=True),
            Column("Short", shortfall, number=True),
            Column("Mode", lambda item: "Preempt" if item.contested else "Fit"),
        ]
        caption = "What the workload asks for, and what its queue has for it today"
        yield table(caption, columns, plan.demand)
        for said in _overused(plan):
            yield doc.Paragraph(f"{said}: victims give that back, too.")
    if plan.flavors is not None:
        yield from _flavors(plan, plan.flavors)
    if plan.places:

        def where(item: PodSetPlaces) -> Cell:
            found = [f"{'/'.join(one.values)} {one.count}" for one in item.domains]
            return name(name_some(found, MAX_NAMES))

        places: list[Column[PodSetPlaces]] = [
            Column("Podset", lambda item: name(item.name), folds=True),
            Column("Flavor", lambda item: name(item.flavor), folds=True),
            Column("Pods", lambda item: str(sum(one.count for one in item.domains)), number=True),
            Column("Where", where),
        ]
        yield table("Where the pods go once the victims are gone", places, plan.places)


def _overused(plan: Plan) -> Iterator[str]:
    """Yield where more is used than there is, which victims give back before anything is free."""
    roots = [node for node in plan.tree if node.parent is None]
    for item in plan.demand:
        if not item.excess:
            continue
        place = item.flavor, item.resource
        over = [
            root
            for root in roots
            for use in root.uses
            if (use.flavor, use.resource) == place and use.before - use.quota == item.excess
        ]
        who = "Queue and cohorts use"
        if over:
            who = f"{over[0].kind} {clean(over[0].name)} uses"
        than = "more than its quota" if over else "beyond their quotas and limits"
        much = format_briefly(item.excess, item.resource)
        what = f"{clean(item.resource)} in flavor {clean(item.flavor)}"
        yield f"{who} {much} {what} {than}"


class FlavorRow(NamedTuple):
    """The flavor of one resource of a podset, and the one that Kueue would assign."""

    pod_set: str
    resource: str
    flavor: str
    kueue: str | None


def _flavor_rows(plan: Plan, choices: FlavorChoices) -> list[FlavorRow]:
    kueue = {
        (pods.name, resource): choice.flavor
        for pods in choices.kueue.assignment.pod_sets
        for resource, choice in pods.flavors.items()
    }
    return [
        FlavorRow(pods.name, resource, choice.flavor, kueue.get((pods.name, resource)))
        for pods in plan.assignment.pod_sets
        for resource, choice in sorted(pods.flavors.items())
    ]


def _cost_rows(plan: Plan, choices: FlavorChoices) -> list[TermRow]:
    """Return the terms of a plan beside those of the best plan under Kueue's own flavors."""
    theirs = choices.kueue.terms
    return [replace(row, greedy=sum_of(row.id, theirs), bound=None) for row in term_rows(plan)]


def _flavors(plan: Plan, choices: FlavorChoices) -> Iterator[doc.Block]:
    if shared.has_plan(plan):

        def theirs(row: FlavorRow) -> Cell:
            if row.kueue in {None, row.flavor}:
                return Cell("the same", tone="dim") if row.kueue else NONE
            return Cell(row.kueue or "", tone="dim", is_name=True)

        columns: list[Column[FlavorRow]] = [
            Column("Podset", lambda row: name(row.pod_set), folds=True),
            Column("Resource", lambda row: name(row.resource), folds=True),
            Column("Flavor", lambda row: Cell(row.flavor, tone="strong", is_name=True), folds=True),
            Column("Kueue's own", theirs, folds=True),
        ]
        rows = _flavor_rows(plan, choices)
        yield table("The flavors chosen for least disruption", columns, rows)
    yield doc.Paragraph(_flavors_in_words(plan, choices))
    costs = [row for row in _cost_rows(plan, choices) if row.greedy not in {None, row.value}]
    usual = [row for row in costs if row.level or row.id not in RARELY_SHOWN]
    if usual:
        yield _costs(usual, "What Kueue's own flavors would cost", work_of(plan))
    if others := [row for row in costs if row not in usual]:
        rest = _costs(others, "The same, in other measures", work_of(plan))
        yield doc.Fold("Other measures", (rest,))


def _costs(rows: Sequence[TermRow], caption: str, work: Work) -> doc.Table:
    def more(row: TermRow) -> Cell:
        more = (row.greedy or 0) - row.value
        return Cell(work.difference(row.unit, more), tone="good" if more > 0 else "warn")

    columns: list[Column[TermRow]] = [
        Column("Term", lambda row: row.id),
        Column("Disruption", lambda row: row.title, only="page"),
        Column("This plan", lambda row: work.amount(row.unit, row.value), number=True),
        Column("Kueue's flavors", lambda row: work.amount(row.unit, row.greedy or 0), number=True),
        Column("Costs more", more, number=True, only="screen"),
        Column("Unit", lambda row: work.unit(row.unit), below="Term"),
    ]
    return table(caption, columns, rows)


def _flavors_in_words(plan: Plan, choices: FlavorChoices) -> str:
    own, victims = choices.kueue, choices.kueue.victims
    more = "" if choices.complete else "more than "
    counted = f"The rules permit {more}{plural(choices.permitted, 'assignment')} of flavors."
    if not shared.has_plan(plan):
        return counted
    if own.status not in {"optimal", "feasible"}:
        return f"{counted} With Kueue's own: {own.explanation}."
    if own.assignment == plan.assignment:
        return f"{counted} None is better than Kueue's own."
    if not victims:
        return f"{counted} With Kueue's own nobody needs to go either."
    least = "the best plan" if own.status == "optimal" else "the best plan found"
    evicted = f"{plural(len(victims), 'workload')}: {_list(victims)}"
    return f"{counted} With Kueue's own {least} evicts {evicted}."


def _list(keys: Sequence[str]) -> str:
    return some_of([short(key) for key in keys[:MAX_NAMES]], len(keys))


def _victims(plan: Plan) -> Iterator[doc.Block]:
    """Yield the victims in the plan's order, and what they free together."""
    victims = plan.victims
    if not victims:
        return

    def law_id(victim: Victim) -> str:
        law = law_behind(plan.laws, victim.reason)
        return law.id if law else ""

    columns: list[Column[Victim]] = [
        *_columns(plan),
        Column("Reason", lambda victim: victim.reason, rank=REPEATED, only="screen"),
        Column("Law", lambda victim: law_id(victim) or "-", only="screen"),
        Column("Why it may go", lambda one: Cell(one.reason, law_id(one)), only="page"),
        *shared.cost_columns(plan),
    ]
    # A note for each reason that occurs, with the law behind it.
    found = {victim.reason: law_behind(plan.laws, victim.reason) for victim in victims}
    notes = [f"{law.id} {code}: {law.title}" if law else code for code, law in found.items()]
    if any(victim.evicted for victim in victims):
        notes.append(f"{LEAVING}: is being evicted or deleted already, and costs nothing more")
    yield from shared.victims_of(plan, table("Whom to evict", columns, victims, notes))


def _columns(plan: Plan, most: int | None = None) -> Iterator[Column[Victim]]:
    """Yield who a victim is, and what it holds; in brief of the ``most`` resources in need."""

    def who(victim: Victim) -> Cell:
        return Cell(victim.workload, aside=LEAVING if victim.evicted else "", is_name=True)

    queue = Column[Victim]("ClusterQueue", lambda one: name(one.cluster_queue), folds=True)
    yield Column("Victim", who, plural(len(plan.victims), "victim"), folds=True)
    yield replace(queue, below="Victim") if most is None else replace(queue, rank=REPEATED)
    yield Column("Priority", lambda victim: str(victim.priority), number=True)
    yield from islice((one for one in _amounts(plan) if most is None or not one.only), most)
    yield Column("Age", lambda victim: age(victim.age_s), number=True)


def _by_need(demand: Sequence[Demand]) -> list[Demand]:
    """Return the demand with what is short first and what is contested next."""
    return sorted(demand, key=lambda item: (not item.shortfall, not item.contested))


def _amounts(plan: Plan) -> Iterator[Column[Victim]]:
    """Yield a column of victims' usage for each flavor-resource; a screen has a few that matter."""
    for rank, item in enumerate(_by_need(plan.demand)):
        matters = rank < MAX_AMOUNTS and (item.shortfall or item.contested)

        def held(victim: Victim, place: tuple[str, str] = (item.flavor, item.resource)) -> int:
            return sum(one.units for one in victim.usage if (one.flavor, one.resource) == place)

        def show(units: int, resource: str = item.resource) -> str:
            return format_briefly(units, resource)

        title = f"{item.resource.rpartition('/')[2]}\n{item.flavor}"
        column = shared.amount_column(title, plan.victims, held, show, rank)
        yield column if matters else replace(column, only="page")


def cascades_in_words(cascades: Sequence[Cascade]) -> str:
    """Return which victims would preempt whom, line by line."""
    if not cascades:
        return STABLE
    victims = plural(len(cascades), "victim")
    lines = [f"Not stable: {victims} would preempt again once pending:"]
    for one in cascades[:MAX_NAMES]:
        back = " (the preemptor itself)" if one.preemptor else ""
        lines.append(f"  {short(one.victim)} would preempt {_list(one.targets)}{back}")
    left_out = len(cascades) - MAX_NAMES
    return "\n".join([*lines, f"  and {left_out:,} more"] if left_out > 0 else lines)


def _chart(plan: Plan, item: Demand) -> doc.Gauges:
    depths: dict[str, int] = {}
    gauges = []
    for node in plan.tree:  # parents come first
        depth = 0 if node.parent is None else depths.get(node.parent, -1) + 1
        if node.kind == "Cohort":
            depths[node.name] = depth
        own = node.kind == "ClusterQueue" and node.name == plan.cluster_queue
        notes = ["asks here"] if own else []
        notes += [f"{node.hidden:,} not shown"] if node.hidden else []
        for use in node.uses:
            if (use.flavor, use.resource) != (item.flavor, item.resource):
                continue
            lendable = use.quota if use.lending_limit is None else use.lending_limit
            endless = use.borrowing_limit is None or UNLIMITED in {use.quota, use.borrowing_limit}
            limit = None if endless else use.quota + (use.borrowing_limit or 0)
            lends = node.parent and use.quota != UNLIMITED
            gauge = doc.Gauge(
                name=node.name,
                kind=node.kind,
                depth=depth,
                before=use.before,
                after=use.after if shared.has_plan(plan) else None,
                mark=use.quota,
                limit=limit,
                kept=max(0, use.quota - lendable) if lends else 0,
                notes=tuple(notes),
                tone="" if node.touched else "dim",
            )
            gauges.append(gauge)
    return doc.Gauges(
        f"{item.resource} in flavor {item.flavor}",
        tuple(gauges),
        mark="quota",
        limit="borrowing limit",
        over="borrowed",
        kept="never lent, adds nothing above",
        show=lambda units: format_briefly(units, item.resource),
    )


def _shares(plan: Plan) -> doc.Table:
    columns: list[Column[NodeShare]] = [
        Column("Share of", lambda share: name(share.name), folds=True),
        Column("Kind", lambda share: share.kind),
        Column("Weight", lambda share: f"{share.weight:g}", number=True),
        Column("Today", lambda share: thousandths(share.before), number=True),
        Column("With preemptor", lambda share: thousandths(share.with_preemptor), number=True),
    ]
    if shared.has_plan(plan):
        columns.append(Column("After plan", lambda share: thousandths(share.after), number=True))
    note = "share: borrowed thousandths of what the parent could lend, divided by weight"
    return table("Shares", columns, plan.shares, (note,))


def lines(plan: Plan) -> Iterator[str]:
    """Yield the plain lines of a plan."""
    yield from shared.heading_lines(plan)
    if plan.rule_options:
        yield line("options", plan.rule_options)
    yield line("borrowing", _borrowing(plan))
    for item in plan.demand:
        amounts = fields(item, "requested available short=shortfall")
        amounts |= {"excess": item.excess} if item.excess else {}
        shown = {key: format_units(units, item.resource) for key, units in amounts.items()}
        place = joined(item.flavor, item.resource)
        yield line("demand", place, **shown, contested=item.contested)
    if plan.flavors is not None:
        yield from _flavor_lines(plan, plan.flavors)
    if plan.placement is not None:
        yield line("placement", plan.placement)
    for pods in plan.places:
        on = Repeated(f"{'/'.join(each.values)}={each.count}" for each in pods.domains)
        yield line("pods", pods.name, flavor=pods.flavor, on=on)
    yield line("victims", plan.victims)
    yield from _victim_lines("victim", plan)
    if plan.stability is not None:
        yield line("unstable", plan.stability)
        for one in plan.stability:
            targets = Repeated(one.targets)
            yield line("cascade", one.victim, preemptor=one.preemptor, target=targets)
    if plan.greedy is not None:
        yield line(f"{plan.scheduler}_victims", plan.greedy.victims)
        yield line(f"{plan.scheduler}_borrowing", _borrowing(plan.greedy))
        yield from _victim_lines(f"{plan.scheduler}_victim", plan.greedy)
    yield from shared.beside_lines(plan)
    for share in plan.shares:
        amounts = fields(share, "weight before with_preemptor after")
        shown = {key: f"{amount:g}" for key, amount in amounts.items()}
        yield line("share", share.name, kind=share.kind, **shown)
    yield from shared.certificate_lines(plan)
    yield from _command_lines(plan.commands or Commands())


def _command_lines(commands: Commands) -> Iterator[str]:
    if commands.reason:
        yield free("no_commands", commands.reason)
    yield from each("command_note", map(Said, commands.notes))
    for step in commands.steps:
        yield line("command", Said(step.title))
        yield clean(step.command)


def asking(plan: Plan) -> Iterator[str]:
    """Yield the lines on where the preemptor is."""
    yield line("cluster_queue", plan.cluster_queue)
    yield from release_lines(plan)


def release_lines(plan: Plan | JointPlan) -> Iterator[str]:
    """Yield the line on the release of Kueue; nothing where it was only assumed."""
    if plan.kueue is not None and plan.kueue.known_by != "assumed":
        yield line("kueue", plan.kueue.release, known_by=plan.kueue.known_by)


def _borrowing(plan: Plan) -> bool | str:
    """Say whether the attempt permits borrowing; the preemptor may stay within nominal quota."""
    if plan.borrowing is None:
        return "none"
    return "permitted" if plan.borrowing else False


def _victim_lines(label: str, plan: Plan) -> Iterator[str]:
    for number, victim in enumerate(plan.victims, start=1):
        law = law_behind(plan.laws, victim.reason)
        yield from row_lines(label, victim, number, law=law.id if law else "unknown")


def _flavor_lines(plan: Plan, choices: FlavorChoices) -> Iterator[str]:
    own = choices.kueue
    yield line("flavors", **fields(choices, "permitted distinct examined complete"))
    for row in _flavor_rows(plan, choices):
        kueue = row.kueue or "none"
        yield line("flavor", row.pod_set, row.resource, row.flavor, kueue=kueue)
    yield line("kueue_flavors", own.status, Said(own.explanation), victims=own.victims)
    yield from each("kueue_flavors_victim", own.victims)
    for cost in _cost_rows(plan, choices):
        if cost.greedy is not None:
            facts = {"plan": cost.value, "kueue_flavors": cost.greedy}
            yield line("flavors_term", cost.id, **facts, unit=Said(cost.unit))


NOT_PLACED = "With these victims gone, Kueue's own placement finds no place for all podsets."


def slots_in(pictures: Sequence[NodesAround]) -> Iterator[doc.Only]:
    """Yield a picture of the slots for each podset, for pages only."""
    for one in pictures:
        notes = [f"A slot is the place of a pod of {short(one.slot)}."]
        notes += [] if one.placed else [NOT_PLACED]
        notes += [f"{one.hidden:,} more are not shown."] if one.hidden else []
        changed = {each.domain for each in one.domains if each.freed or each.used}
        lowest = max((len(each.domain) for each in one.domains), default=0)
        rows = []
        for domain in one.domains:
            freed, stays = domain.freed - domain.reused, domain.taken - domain.freed
            free = domain.slots - stays - domain.used - freed
            left = (f"{domain.hidden:,} not shown",) if domain.hidden else ()
            counts = (len(domain.domain) - 1, stays, domain.used, freed, free)
            # A node is shown with those beside it: a rack is full, or not, by all of them.
            around = (
                {domain.domain, domain.domain[:-1]}
                if len(domain.domain) == lowest
                else {domain.domain}
            )
            rows.append(doc.SlotRow(domain.name, *counts, left, not around & changed))
        caption = f"{one.pod_set} in flavor {one.flavor}"
        yield doc.Only("page", (doc.Slots(caption, tuple(rows), tuple(notes)),))
