"""Results in every format: each is one document, and plain lines of its record.

document.py         the parts of documents
terminal.py, markdown.py, html/
                    any document on a screen, in Markdown, or as a page
labelled.py         lines, tables and documents that follow from the labels of fields
style.py            one result in any style; plain lines, JSON and CSV
text.py             single values: names made harmless, ages, amounts
words.py            what plans, their terms and their certificates say in words; terms as tables
plan.py, brief.py, front.py
                    the parts that plans of all schedulers have; a plan in brief; a Pareto front
plans.py            several plans as one answer
kueue/, yunikorn/   what only the plans and results of one scheduler have
explanation.py, whatif.py, audit.py, compare.py
                    the results of these commands
covered.py          what an answer leaves out of its state
checking.py         the results of ``planner check`` and ``replay``
catalogue.py        the result of ``planner laws``
render.py           any answer of the library in any style, and what notebooks show
plots.py            comparisons, drawn
"""
