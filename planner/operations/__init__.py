"""The wing of operations: what watches, judges and steers a cluster that runs.

wing.py          what it adds to the planner
kubectl/         running kubectl: from a cluster to a dump
rest/            asking a scheduler's own REST service: from a URL to a dump
lint/            what a configuration makes possible, impossible or pointless
risk/            how often each running workload would be a victim
watch/           a live cluster, compared with replay and optimum
apply/           one plan carried out in a cluster
steer/           plans carried out as the scheduler goes on
serve/           answers to other programs, over HTTP, and the page to work in
dask_cluster.py  the work of a batch on a Dask cluster
report/          its answers in every format; schemas.py: their JSON Schemas
cli/             its commands
"""
