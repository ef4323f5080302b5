"""The command line: click commands without logic of their own, one a file.

main.py               the entry point; commands loaded on use, one path for all errors
option.py             what a command is made of, and a run of it: its state, files and result; the
                      options that commands share
value.py              options declared in a line or two; how times, sizes and addresses are read
kueue_option.py, yunikorn_option.py
                      the options that one scheduler has, and its texts in the help of commands
exit_code.py          what codes mean, and which one a plan ends with
output.py             standard output and files; messages and progress on standard error

audit.py              planner audit, and what commands on many states share; each other command has
                      a module of its name, too
plan_file.py          plans and proof trees as files
schemas.py, published.py, kueue_schemas.py
                      the published JSON Schemas; one of them; those that only Kueue has
"""
