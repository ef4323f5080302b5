"""A question about many states: a row for each answer, and what many rows say together.

instance.py  packed states of files, folders and recorded lines, and the instances they open to
record.py    the answers about a state: rows, and failures
run.py       the answers about every state, as a batch that can be stopped and goes on
tally.py     what victims hold, and how the values of many rows are distributed

Source: docs/design/theory.md §1; docs/design/needs.md §1.
"""
