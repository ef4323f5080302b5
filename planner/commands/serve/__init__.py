"""Plans for other programs, over HTTP: a dump comes in, an answer goes out, nothing is kept.

app.py  the endpoints, their options and bounds, and their description as OpenAPI; the service as an
        ASGI application: each answer in a process of its own, so that bounds are hard
"""
