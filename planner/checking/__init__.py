"""A plan made by anybody, checked without a solver: laws, values, and every proof tree.

record.py   what came of it
kueue.py    plans of Kueue, by its own rules or KEP-83's
yunikorn.py plans of YuniKorn
trees.py    the levels of a plan, its ties, and that there is none, by their trees
"""
