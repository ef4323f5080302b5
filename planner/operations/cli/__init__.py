"""The commands of the wing of operations, and the plugin of kubectl.

kueue_snapshot.py, yunikorn_snapshot.py
                 planner snapshot, of kubectl and of YuniKorn's REST service
lint.py, risk.py, serve.py
                 planner lint, risk and serve
kueue_apply.py, kueue_steer.py, kueue_watch.py
                 planner apply, steer and watch
kueue_mcp.py, kueue_mcp_answer.py
                 planner mcp, and the process that answers one call
kueue_plugin.py  kubectl preemption-plan
"""
