"""CP-SAT formulations, and nothing else: no input or output, no clock, no solver call.

The files:

=========== =======================================================================
kueue/      the rules of Kueue, one function per law
yunikorn/   the rules of YuniKorn
shared/     building blocks that the formulations of several schedulers have in common
=========== =======================================================================

The folder lies at the top level and is installed as ``planner.models``; import it by that
name, here too. A source checkout runs a stand-in instead of this file (see
``planner/models/__init__.py``), so this file has this docstring and no code.
"""
