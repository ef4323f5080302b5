"""Plans carried out where Kueue runs.

cluster.py  single objects, as they are now, and the calls that change them; the two treatments:
            the condition Evicted for victims, or boosts of priorities
carry.py    whether the cluster is still as the plan has it; the order of the steps: hold, change,
            lift, wait; how they are taken back; the commands at the end of a plan

Source: docs/design/applying.md §3: what was tried on a live Kueue, and which of it works.
"""
