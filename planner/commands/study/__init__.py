"""A question about many states: a row for each answer, and what many rows say together.

instance.py  packed states of files, folders and recorded lines, and the instances they open to
run.py       the answers of every state, as a batch that can be stopped and goes on
tally.py     how values are distributed; the columns of a flat table

Source: docs/design/theory.md §1; docs/design/needs.md §1.
"""
