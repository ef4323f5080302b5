"""Plans for other programs, over HTTP: a dump comes in, an answer goes out, nothing is kept.

app.py        the endpoints with their options, as an ASGI application, and who may ask
asked.py      what may be asked, in bounds; agents ask so, too
answering.py  one answer: the command line, in a process of its own, so that bounds are hard
child.py      what that process runs: it limits itself first
work.py       the page to work in: work.html, work.css, work.js
server.py     the server around the application, and the end of connections that ask for nothing
"""
