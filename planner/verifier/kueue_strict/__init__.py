"""The rule set ``strict``: Kueue's documented precedence as laws, ST-01 to ST-05.

Today's laws ask whether every single removal is permitted at its moment. These laws ask whether it
was also the victim's turn. They are judged beside today's laws and change none of their verdicts.

laws.py    judging victims by these laws; one check per law
orders.py  a bounded search over orders; orders in one attempt of classical preemption; under fair
           sharing: two passes, which queue's turn it is, which candidates pass

Small sets are judged exactly. A search that reaches its bound says so: whether the victims are
strict-legal is then not known.
"""
