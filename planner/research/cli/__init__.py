"""The commands of the wing of research.

bench.py, generate.py, simulate.py
                 planner bench, generate and simulate
kueue_import.py  planner import
"""
