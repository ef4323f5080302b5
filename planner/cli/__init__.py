"""The command line: click commands without logic of their own, one a file.

main.py               the entry point; commands loaded on use, one path for all errors
kueue_plugin.py       the entry point of the kubectl plugin
option.py             what a command is made of, and a run of it: its state, files and result; the
                      options that commands share
value.py              options declared in a line or two; how times, sizes and addresses are read
kueue_option.py, yunikorn_option.py
                      the options that one scheduler has, and its texts in the help of commands
exit_code.py          what codes mean, and which one a plan ends with
output.py             standard output and files; messages and progress on standard error

audit.py, bench.py, check.py, compare.py, explain.py, generate.py, kueue_apply.py, kueue_boost.py,
kueue_import.py, kueue_mcp.py, kueue_snapshot.py, kueue_steer.py, kueue_watch.py, laws.py, lint.py,
replay.py, risk.py, schema.py, serve.py, simulate.py, solve.py, whatif.py
                      the commands; audit.py also has what commands on many states share, and
                      generate.py where made states are written
kueue_mcp_answer.py   what the process runs that answers a call of planner mcp
yunikorn_snapshot.py  how planner snapshot asks YuniKorn itself
plan_file.py          plans and proof trees as files
schemas.py, kueue_schemas.py
                      the published JSON Schemas; those that only Kueue has
"""
