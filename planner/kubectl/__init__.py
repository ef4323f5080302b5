"""Running kubectl: from a cluster to one dump that the reader takes.

resource.py   what is asked for, in which order, and what it means if the cluster has none
call.py       one call: a list of words, no shell, within a time and a number of bytes
refusal.py    what kubectl says when it fails, as our errors
trim.py       what is left out of the objects: bookkeeping, and what may hold secrets
dump.py       all of it: the objects, how many of each kind, and what was missing

Nothing here changes the cluster: the only verb is ``get``. Secrets are never asked for.
"""
