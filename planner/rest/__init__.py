"""Asking a scheduler's own REST service: from a URL to one dump that the reader takes.

call.py           one GET: no proxy, no redirect, within a time and a number of bytes
yunikorn_dump.py  what is asked of YuniKorn's core, and what is kept of its answers

Nothing is changed there: the only method is ``GET``.
"""
