"""Made-up and damaged input for every command: an answer or one clean error, never a bug of ours.

An input is made by its number and a seed alone, so that a number is all it takes to see it again.

seeds.py      whole states, recorded lines, traces, and what the commands make of them
prepare.py    what commands make of some seeds, for other commands to read
kubectl.py    a program in place of kubectl
scene.py      what one input is made in
hostile.py    values, texts and numbers that nobody expects
structure.py  damage to JSON values that knows what a dump is made of
octets.py     damage to bytes: text, YAML, gzip
side.py       files beside the state: objectives, costs, scripts, plans, proofs, journals
words.py      words of the command line, by option and by type
case.py       one input: a command, its words, files, environment and standard input
judge.py      what an input may end with
limits.py     processes that run inputs within bounds on memory and processor time
nasty.py      hard states with little time: many places for pods, ties, sizes that never add up
campaign.py   many inputs, what they ended with, and where the failing ones are kept
__main__.py   the same by hand: ``python -m tests.fuzz --inputs 100000``
"""
