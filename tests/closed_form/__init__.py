"""The closed form of legality, searched for counterexamples (docs/explanation/closed-form.md).

tree.py       a plain tree of queues and cohorts, and how usage moves in it
fairness.py   what fair sharing adds to it
steps.py      the scheduler's removal steps, one after the other, in every order
condition.py  the closed form, as the page states it
draw.py       random trees
"""
