"""The command line: click commands without logic of their own, one a file.

main.py, group.py     the entry point; commands loaded on use, one path for all errors
kubectl_plugin.py     the entry point of the kubectl plugin

audit.py, boost.py, check.py, compare.py, explain.py, generate.py, import_.py, laws.py, lint.py,
replay.py, risk.py, schema.py, simulate.py, snapshot.py, solve.py, whatif.py
                      the commands; joint.py and proof.py are parts of ``planner solve``

option.py, exit_code.py
                      what they share: options, exit codes
batch.py              what commands on many states share: processes, limits, results
output.py, message.py, progress.py
                      standard output and files; standard error
made.py               where made states go: a file, or a folder
given.py, kueue_state.py, plan_file.py
                      small input files; a state that must be of Kueue; plans and proofs as files
schemas.py            the published JSON Schemas
"""
