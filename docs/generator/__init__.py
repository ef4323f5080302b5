"""The pages of the site that are made from the code.

cli.py         the command line and its exit codes, from the click commands
library.py     the public names of the package
citations.py   what the code cites, as links
laws.py        the laws, with their mathematics from the models
objectives.py  disruption terms, objectives, annotations
schemas.py     the JSON Schemas
"""
