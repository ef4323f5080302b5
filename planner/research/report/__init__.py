"""The answers of the wing of research, in every format.

bench.py       rivals beside optima
simulation.py  a simulation in words; timeline.py: its drawing
"""
