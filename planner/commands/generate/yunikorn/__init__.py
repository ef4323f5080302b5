"""Clusters of YuniKorn: nodes are filled with pods first, guaranteed amounts follow from them.

dump.py   every knob, named clusters, and what a cluster consists of: queues, nodes, pods, the ask
          that no node can take; the state dump that the core would write
"""
