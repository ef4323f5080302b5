"""A plan made by anybody, checked without a solver: laws, values, and every proof tree.

plan.py      the entry point, for a state and a plan of the same scheduler; the record of the
             result; whether a plan says what it leaves out of its state
kueue.py     plans of Kueue, by its own rules or others
yunikorn.py  plans of YuniKorn
facts.py     what a plan says of its victims, and of the scheduler's own choice; claims about its
             levels and ties, or that there is no plan, by their proof trees
"""
