"""Running kubectl: from a cluster to one dump that the reader takes.

call.py      calls: lists of words, no shell, several at a time, within a time and a number of bytes
kueue_resource.py
             the resource types to ask for, in order; kubectl's failures, as our errors; an object
             as the API server has it: its conditions, its version, its preemptor
kueue_dump.py
             all objects as one dump, without bookkeeping and what may hold secrets; how many there
             are of each kind, and what was missing
proxy.py     requests over one kept connection, for whatever is changed
watch.py     the changes in a cluster, read from several calls at once that do not end

Nothing here changes the cluster: the only verb is ``get``, but for what ``planner steer`` and
``planner apply`` send by themselves. Secrets are never asked for.
"""
