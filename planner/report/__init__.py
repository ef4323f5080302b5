"""One renderer per format, each from a finished result to text.

table.py, plain.py, json.py   a plan: ``render(plan, *, width=None, color=False) -> str``
html/, markdown.py            a plan as a page of its own, or for a ticket
document/                     what all these say, as documents
terminal.py, markdown_text.py any document on a screen, or in Markdown
kueue/, yunikorn/             what only results about one scheduler have, in each format
table_parts.py, plain_lines.py
                              what the plans of all schedulers have
compare.py, compare_plots.py  algorithms beside each other: in words and numbers, and drawn
front.py                      a Pareto front, in every format
audit.py, check.py, explanation.py, lint.py, replay.py, risk.py, whatif.py
                              the output of these commands; catalogue.py that of ``planner laws``
simulation.py, simulation_plot.py
                              a simulation, in every format and drawn
plotting.py                   how drawings look, and how they become files
proof.py                      what the levels of a plan rest on, in a line
style.py                      one result in any style; paper.py what tables are drawn on
text.py                       single values: names made harmless, ages, amounts
words.py, contrast.py         codes and terms in words; a plan beside the scheduler's own
caution.py                    what a reader of a plan should be warned of
"""
