"""Priority boosts after which Kueue's own algorithm takes the victims of a plan.

find.py     the way in: from a plan to its boosts
pool.py     the candidates, and what priorities each can have without changing any rule's answer
orders.py   every order in which Kueue could be made to look at the candidates
trial.py    one choice of priorities, put to the replay of Kueue's algorithm
search.py   the smallest choice that works, or why none does
answer.py   what comes out, with the commands that carry it out

Source: docs/semantics/kueue.md §2.3 (the annotation and its feature gate), §5.2 to §5.4 and §6.2
(what priorities decide).
"""
