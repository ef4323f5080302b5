"""Running kubectl: from a cluster to one dump that the reader takes.

call.py      calls: lists of words, no shell, several at a time, within a time and a number of bytes
kueue_resource.py
             what is asked for, in which order; what kubectl says when it fails, as our errors; an
             object as the API server has it: its conditions, its version, who preempted it
kueue_dump.py
             what is left out of the objects: bookkeeping, and what may hold secrets; all of it,
             how many there are of each kind, and what was missing
watch.py     what changes, told by several calls at once that do not end

Nothing here changes the cluster: the only verb is ``get``, but for what ``planner apply`` calls by
itself. Secrets are never asked for.
"""
