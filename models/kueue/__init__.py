"""Kueue's rules, classical and fair sharing, as CP-SAT formulations.

candidates.py    laws that exclude single workloads, as masks; attempts; reasons
columns.py       the decision variables: victims per class of interchangeable workloads
usage.py         usage of every node after the removals
last_victim.py   last victims of every node, which the laws about removals need
laws.py          the classical laws that tie victims together
fair_sharing.py  the laws of fair sharing that do
places.py        room on the nodes, where pods are placed
formulation.py   the model of one problem while it is being built
build.py         a problem as a model: variables, then a flat list of laws
joint.py         several preemptors served one after another: ways, variables
joint_step.py    one step of these: the laws over the usage that it finds
joint_build.py   all steps as one model
joint_relaxation.py
                 linear rows that hold in every order of steps
relaxation.py    linear rows that every legal victim set satisfies
"""
