"""The commands of the wing of operations, and the plugin of kubectl.

Each has a module of its name; besides, there are:

yunikorn_snapshot.py  planner snapshot, of YuniKorn's REST service
kueue_mcp_answer.py   the process that answers one call of planner mcp
kueue_plugin.py       kubectl preemption-plan
"""
