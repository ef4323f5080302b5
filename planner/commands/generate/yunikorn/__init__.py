"""Clusters of YuniKorn: nodes are filled with pods first, guaranteed amounts follow from them.

knobs.py  every knob, and named clusters
draw.py   what a cluster consists of: queues, nodes and pods, and the ask that no node can take
dump.py   the state dump that the core would write
"""
