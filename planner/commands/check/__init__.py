"""A plan made by anybody, checked without a solver: laws, values, and every proof tree.

plan.py     the way in: a state and a plan of the same scheduler; what came of it
kueue.py    plans of Kueue, by its own rules or KEP-83's
yunikorn.py plans of YuniKorn
facts.py    what a plan says of its victims, and of the scheduler's own choice; the levels of a
            plan, its ties, and that there is none, by their trees
"""
