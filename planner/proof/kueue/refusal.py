"""Refusals: a law refuses every set of a box.

Removals only lower usage. So the preemptor fits best, and its side's share is least, with
everything in the box gone; every other side uses most with only the least of it gone.
"""

from __future__ import annotations

from planner.proof.box import Box
from planner.proof.kueue.frame import Frame
from planner.quota.kueue.amount import add
from planner.verifier.kep83 import remove_kep83
from planner.verifier.kueue.case import remove_all, usage_with
from planner.verifier.kueue.fair_case import remove_fairly


def refusal(frame: Frame, box: Box) -> str:
    """Say which law refuses every set of a box, if one does; empty if none was found to."""
    setting, names = frame.setting, frame.tree.frs
    # Without the request, which the frame counts under fair sharing: it is what must fit here.
    least_used = frame.remove(box.most, setting.snapshot.usage)
    for fr, asked in sorted(setting.request.items()):
        if asked > max(0, least_used.available(setting.queue, fr)):
            return f"{names[fr]} does not fit, whoever goes"
    nowhere = frame.rooms.refusal(box)
    if nowhere:
        return nowhere
    found = stuck(frame, box)
    if found is not None:
        what = "is not over its quota" if found[1] == "over" else "has too small a share"
        return f"{frame.name(found[0])} {what} before its last victim goes"
    return _refused_set(frame, box) if box.is_single else ""


def stuck(frame: Frame, box: Box) -> tuple[int, str] | None:
    """Return a node that has no possible last victim in any set of a box, and by which law.

    That is ``over``, as it is not over its quota (KQ-07, FS-06, K83-06), or ``share`` (FS-07). A
    class that the box requires leaves the node with one member of it back; of any other class the
    box requires nobody, and one that goes besides and is put back changes nothing.
    """
    touched = frame.touched(box)
    can: set[int] = set()
    fair: set[int] = set()
    for top in {frame.setting.side(int(frame.queue[frame.below[n][0]]))[-1] for n in touched}:
        below, asked = frame.below[top], touched.intersection([top, *frame.strictly_below(top)])
        for k in below[box.most[below] > 0].tolist():
            reached = _may_be_last(frame, box, k)
            can.update(reached)
            if top in reached and (top in fair or _is_fair(frame, box, k, top)):
                fair.add(top)
            # Every node that is asked about has its last victim: the other classes need no look.
            if top in fair and asked <= can:
                break
    for node in sorted(touched):
        if node not in can and frame.has_law(node):
            return node, "over"
        if frame.fair is not None and node in frame.tops and node not in fair:
            return node, "share"
    return None


def _may_be_last(frame: Frame, box: Box, k: int) -> list[int]:
    """Return the nodes, from the queue of a class up, of which it may have the last victim."""
    usage, victim = frame.usage_after(box.least), frame.first[k]
    side = frame.setting.side(victim.queue)
    if box.least[k] > 0:
        frs = sorted({fr for node in side for fr in frame.watched[node]})
        # One of the class goes for certain, so that with the least gone it has to be put back.
        used = dict(usage_with(frame.setting, victim, usage, frs))
    else:
        used = {n: {fr: usage.amount[n][fr] for fr in frame.watched[n]} for n in side}
    reached = []
    for node in side:
        watched = [box.over[node]] if node in box.over else frame.watched[node]
        over = any(used[node][fr] > frame.enough(node, fr) for fr in watched)
        # The last victim of a node is the last one of all nodes between it and its queue, too.
        if not over and frame.has_law(node):
            break
        reached.append(node)
    return reached


def _is_fair(frame: Frame, box: Box, k: int, top: int) -> bool:
    """FS-07: say whether some strategy may permit a victim of a class to be the last."""
    if frame.fair is None or frame.fair.stays_within_nominal:
        return True
    shares, usage = frame.fair.shares, frame.usage_after(box.least)
    # The two ends of the box at once: no set has a lower share on this side and a higher one on
    # that.
    mine = shares.of(frame.usage_after(box.most), frame.fair.rival(top))
    after = before = shares.of(usage, top)
    if box.least[k] > 0:
        back = usage.copy()
        back.add(int(frame.queue[k]), frame.first[k].usage)
        before = shares.of(back, top)
    return frame.fair.is_fair(mine, before, after)


def _refused_set(frame: Frame, box: Box) -> str:
    """Judge the one set of a box step by step; say what is in its way."""
    victims = frame.members.take(box.least.tolist())
    if not frame.setting.floor.admits(victims):
        return "some podset finds no place on the nodes"
    if frame.fair is not None:
        return remove_fairly(frame.fair, victims).obstacle
    if frame.kep83 is not None:
        obstacle = remove_kep83(frame.kep83, victims).obstacle
        return obstacle or _over_nominal(frame, box, borrowing=frame.kep83.options.borrows)
    obstacle = remove_all(frame.setting, victims).obstacle
    if obstacle:
        return obstacle
    restricted = bool(frame.restricted[box.least > 0].any())
    reasons = [
        "a victim may not go while borrowing"
        if borrowing and restricted
        else _over_nominal(frame, box, borrowing=borrowing)
        for borrowing in (frame.attempts if box.attempt is None else (box.attempt,))
    ]
    # Legal in one attempt is legal.
    return reasons[0] if all(reasons) else ""


def _over_nominal(frame: Frame, box: Box, *, borrowing: bool) -> str:
    """KQ-02, K83-02: say which fr is over the nominal quota of the queue at the end."""
    queue = frame.setting.queue
    used = frame.usage_after(box.most).amount[queue]
    for fr, asked in () if borrowing else sorted(frame.setting.searched.items()):
        involved = frame.kep83 is None or fr in frame.setting.contested
        if involved and add(used[fr], asked) > frame.tree.nominal(queue, fr):
            return f"{frame.tree.frs[fr]} would be above the nominal quota"
    return ""
