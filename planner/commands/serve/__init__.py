"""Plans for other programs, over HTTP: a dump comes in, an answer goes out, nothing is kept.

app.py  what may be asked, with which options, within which bounds, and as OpenAPI; the service, as
        an ASGI application: each answer in a process of its own, so that bounds are hard
"""
