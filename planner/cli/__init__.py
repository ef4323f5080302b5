"""The command line: click commands without logic of their own, one a file.

main.py               the entry point; commands loaded on use, one path for all errors
kubectl_plugin.py     the entry point of the kubectl plugin
given.py              what a command is made of, and a run of it: its state, files and result
option.py             the options that commands share
exit_code.py          what codes mean, and which one a plan ends with
output.py             standard output and files; messages and progress on standard error

audit.py, check.py, compare.py, explain.py, generate.py, import_.py, kueue_apply.py,
kueue_boost.py, kueue_snapshot.py, kueue_watch.py, laws.py, lint.py, replay.py, risk.py, schema.py,
simulate.py, solve.py, whatif.py
                      the commands; audit.py has what all do that work on many states, and
                      generate.py where made states go
kueue_state.py        a state that must be of Kueue
plan_file.py          plans and proof trees as files
schemas.py            the published JSON Schemas
"""
