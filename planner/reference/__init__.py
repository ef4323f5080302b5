"""The schedulers' own algorithms, replayed step by step, without a solver.

laws.py     which steps keep which law
kueue/      Kueue's choice of flavors and victims, and its whole cycles
yunikorn/   YuniKorn's own choice of victims
"""
