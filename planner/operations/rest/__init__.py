"""Asking a scheduler's own REST service: from a URL to one dump that the reader takes.

call.py           one GET: no proxy, no redirect, within a time and a number of bytes
yunikorn_dump.py  the requests to YuniKorn's core, and the fields kept of its answers

Nothing is changed in the service: the only method is ``GET``.
"""
