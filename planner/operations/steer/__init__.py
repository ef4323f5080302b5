"""A scheduler made to carry plans out, as long as it goes on.

record.py  the lines of a run, and the figures made of them
kueue/     how Kueue is steered: gates say when it may preempt, boosts whom it chooses
"""
