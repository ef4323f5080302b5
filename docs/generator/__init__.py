"""The pages that are made from the code.

cli.py         the command line and its exit codes, from the click commands
man.py         the man page, which is no page of the site but goes into wheels
library.py     the public names, and the records of answers; grouped.py: types of parameters
citations.py   what the code cites, as links
laws.py        the laws, with their mathematics from the models
objectives.py  disruption terms, objectives, annotations
lint.py        the codes of planner lint
notebooks.py   the notebooks, with the outputs that are stored in them
schemas.py     the JSON Schemas
"""
