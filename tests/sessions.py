"""The Python sessions of README.md and of the guide for Python, for those who check types.

``tests/test_readme.py`` compares them with the pages.
"""
# ruff: noqa: T201, PLC0415


def readme() -> None:
    import planner

    state = planner.read("instances/quickstart/cluster.json")
    plan = planner.solve(state)
    print(plan.status, len(plan.victims), len(planner.greedy(state).victims))
    print(planner.verify(state, plan).accepted)


def python() -> None:
    import planner

    state = planner.read("instances/quickstart/cluster.json", scheduler="kueue")
    print(state.pending)
    plan = planner.solve(state)
    print(plan)
    itself = planner.greedy(state)
    print(plan.status, len(plan.victims), len(itself.victims))
    print([(plan.terms[name], itself.terms[name]) for name in ("workloads", "lost_work")])
    print(planner.render(plan, "plain").splitlines()[1])
    print(list(plan.to_frame()["h100/nvidia.com/gpu"]))
    costs = {"platform/job-distill-43a0c": 50}
    cheap = planner.solve(state, objective="min-cost", costs=costs, time_limit=30)
    print(cheap.terms["cost"])
    print(planner.verify(state, plan).accepted)
    edits = ["clusterqueue/nlp.preemption.reclaimWithinCohort=LowerPriority"]
    answer = planner.whatif(state, edits)
    print(answer.optimum.no_longer, answer.optimum.newly, answer.optimum.is_none)
    print(planner.boost(state).status)
    try:
        planner.solve(state, pending="nlp/nobody")
    except planner.PlannerError as error:
        print(type(error).__name__, error.exit_code)
