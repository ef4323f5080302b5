"""The command line: click commands without logic of their own, one a file.

main.py                      the entry point, and the table of commands
group.py                     commands loaded on use, one path for all errors
solve.py, replay.py, ...     the commands
option.py, exit_code.py      what they share: options, exit codes
output.py, message.py, progress.py   standard output and files; standard error
given.py, schemas.py         small input files; the published JSON Schemas
"""
