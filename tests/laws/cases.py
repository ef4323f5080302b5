"""Cases of laws that hold with and without fair sharing: fits, candidates, until the last victim.

Told by hand for Kueue's classical rules; ``fairly`` makes of each one of the law of fair sharing
that is the same. A law's own file has the cases that only it has.
"""

from tests.cluster import SPARE, Object, cohort, pending, queue, running, with_spare_flavor
from tests.laws.judges import Case, sets


def full(asked: int = 4) -> list[Object]:
    """Return a queue of 6 that uses all of it."""
    return [
        *queue("a", 6, within="LowerPriority"),
        *running("two", "a", 2),
        *running("four", "a", 4),
        *pending("a", asked),
    ]


def limited(borrowing: int | None) -> list[Object]:
    """Return a queue that uses 2 of 2 and wants 3, with 6 free in its cohort."""
    return [
        *cohort("org"),
        *queue("a", 2, "org", borrowing=borrowing, within="LowerPriority"),
        *queue("b", 6, "org"),
        *running("small", "a", 1),
        *running("other", "a", 1),
        *pending("a", 3),
    ]


FITS = [
    Case(
        "too few are forbidden, exactly enough and more are permitted",
        full(),
        legal=sets("four", "two four"),
        forbids=sets("two"),
        attempts=(True,),
    ),
    # Six of eight are free in the cohort, but the queue may use no more than three.
    Case("the borrowing limit of the queue binds", limited(1), legal=sets("small other")),
    Case("without a limit nobody has to go", limited(None), permits=sets("")),
    Case(
        # The department may use 2 + 2: one of the three running has to go at least.
        "the borrowing limit of a cohort on the path binds",
        [
            *cohort("root", nominal=8),
            *cohort("dept", "root", nominal=0, borrowing=2),
            *queue("a", 2, "dept", within="LowerPriority"),
            *running("two", "a", 2),
            *running("one", "a", 1),
            *pending("a", 3),
        ],
        legal=sets("two", "two one"),
    ),
    Case(
        # b uses 6 of 4: 4 of the cohort's 4 lendable; without b1 it uses 3, 1 of the cohort's.
        "a lending limit keeps quota that victims elsewhere cannot free",
        [
            *cohort("org"),
            *queue("a", 2, "org", reclaim="Any", within="LowerPriority"),
            *queue("b", 4, "org", lending=2),
            *running("b1", "b", 3),
            *running("b2", "b", 3),
            *pending("a", 2),
        ],
        permits=sets("b1"),
        forbids=sets(""),
    ),
    Case(
        "victims of other queues free what they borrow",
        [
            *cohort("org"),
            *queue("a", 2, "org", reclaim="Any"),
            *queue("b", 4, "org"),
            *running("four", "b", 4),
            *running("two", "b", 2),
            *pending("a", 2),
        ],
        borrowing=False,
        permits=sets("two"),
    ),
]

RESOURCES = {"gpu": 4, "cpu": 8}


def beside(name: str, amount: dict[str, int]) -> list[Object]:
    """Return a full queue with a workload more, of which gpus are contested."""
    return [
        *queue("a", RESOURCES, within="LowerPriority"),
        *running("gpus", "a", {"gpu": 4}),
        *running(name, "a", amount),
        *pending("a", {"gpu": 2}),
    ]


ELSEWHERE = Case(
    "other trees and inactive queues have no victims",
    [
        *cohort("org"),
        *cohort("elsewhere"),
        *queue("a", 1, "org", reclaim="Any"),
        *queue("b", 1, "org"),
        *queue("stopped", 1, "org", stop="Hold"),
        *queue("far", 0, "elsewhere"),
        *running("b1", "b", 2),
        *running("s1", "stopped", 2),
        *running("f1", "far", 2),
        *pending("a", 1),
    ],
)

HOLDS_CONTESTED = [
    Case(
        "a workload without contested quota is no victim",
        beside("cores", {"cpu": 1}),
        legal=sets("gpus"),
        forbids=sets("gpus cores"),
        attempts=(True,),
    ),
    Case(
        "naming the flavor is enough, the amount may be zero",
        beside("none", {"gpu": 0, "cpu": 1}),
        permits=sets("gpus none"),
    ),
    Case(
        "another flavor of the same resource is not contested",
        with_spare_flavor(
            [
                *queue("a", 4, within="LowerPriority"),
                *running("needed", "a", 4),
                *running("other", "a", 1, flavor=SPARE),
                *pending("a", 2),
            ]
        ),
        legal=sets("needed"),
        forbids=sets("needed other"),
    ),
    Case(
        # gpus need preemption, cores fit: they are asked for, but not contested.
        "what only fits is not contested",
        [
            *queue("a", {"gpu": 4, "cpu": 9}, within="LowerPriority"),
            *running("needed", "a", {"gpu": 4}),
            *running("cores", "a", {"cpu": 1}),
            *pending("a", {"gpu": 2, "cpu": 1}),
        ],
        fits=("cpu",),
        permits=sets("needed"),
        forbids=sets("needed cores"),
    ),
    ELSEWHERE,
]

WITHIN_CLUSTER_QUEUE = [
    Case(
        policy or "unset",
        [
            *queue("a", 0, within=policy),
            *running("lower", "a", 1, 9),
            *running("newer", "a", 1, 10, created=31),
            *running("as-old", "a", 1, 10, created=30),
            *running("older", "a", 1, 10, created=29),
            *running("higher", "a", 1, 11, created=31),
            *pending("a", 0, 10, created=30),
        ],
        victims=permitted,
        anyone="lower newer as-old older higher",
    )
    for policy, permitted in (
        ("", ""),
        ("Never", ""),
        ("LowerPriority", "lower"),
        ("LowerOrNewerEqualPriority", "lower newer"),
    )
]


def lent(policy: str, theirs: str = "Never") -> list[Object]:
    """Return a queue that wants its quota back from one which borrows it."""
    return [
        *cohort("org"),
        *queue("a", 3, "org", reclaim=policy),
        *queue("b", 0, "org", within=theirs, reclaim=theirs),
        *running("lower", "b", 1, 9),
        *running("equal", "b", 1, 10),
        *running("higher", "b", 1, 11),
        *pending("a", 0, 10),
    ]


RECLAIM = [
    Case(policy or "unset", lent(policy), victims=permitted, anyone="lower equal higher")
    for policy, permitted in (
        ("", ""),
        ("Never", ""),
        ("LowerPriority", "lower"),
        ("Any", "lower equal higher"),
    )
]

# Only the preemptor's queue is asked.
RECLAIM += [
    Case(
        "the victim's queue permits, which does not matter",
        lent("Never", "LowerPriority"),
        victims="",
    ),
    Case(
        "the victim's queue would never preempt, which does not matter",
        [
            *cohort("org"),
            *queue("a", 1, "org", reclaim="Any"),
            *queue("b", 0, "org"),
            *running("theirs", "b", 1, 50),
            *pending("a", 1, 10),
        ],
        permits=sets("theirs"),
    ),
]


def one_queue(*sizes: int, nominal: int = 4) -> list[Object]:
    """Return a queue b that holds workloads x, y, z of the given sizes, and room enough."""
    return [
        *cohort("org", nominal=sum(sizes) - nominal),
        *queue("a", 2, "org", within="LowerPriority", reclaim="Any"),
        *queue("b", nominal, "org"),
        *(
            one
            for name, size in zip("xyz", sizes, strict=False)
            for one in running(name, "b", size)
        ),
        *pending("a", 1),
    ]


def department(*more: Object, middle: int = 0, spare: int = 9) -> list[Object]:
    """Return a department between the root and the queues in ``more``."""
    return [
        *cohort("org", nominal=spare),
        *cohort("middle", "org", nominal=middle),
        *queue("a", 1, "org", within="LowerPriority", reclaim="Any"),
        *more,
        *pending("a", 1),
    ]


def two_queues(middle: int) -> list[Object]:
    """Return a department over two queues, each over its own quota by one workload."""
    queues = [*queue("left", 1, "middle"), *queue("right", 1, "middle")]
    held = [*running("l", "left", 2), *running("r", "right", 2)]
    return department(*queues, *held, middle=middle, spare=4)


def nested(*more: Object, asked: int) -> list[Object]:
    """Return two queues below a department; both use 2 of 1."""
    return [
        *cohort("root"),
        *cohort("right", "root"),
        *queue("a", 4, "root", reclaim="Any"),
        *queue("b", 1, "right"),
        *queue("c", 1, "right"),
        *running("b1", "b", 2),
        *running("c1", "c", 2),
        *more,
        *pending("a", asked),
    ]


def keeps(lending: int | None) -> list[Object]:
    """Return a department that uses 6 of 5, or with lending limit 1 sees 2 + 2 of 1 + 2."""
    queues = [*queue("left", 3, "middle", lending=lending), *queue("right", 2, "middle")]
    return department(*queues, *running("l", "left", 4), *running("r", "right", 2))


KEPT = department(
    *queue("left", 3, "middle", lending=0),
    *queue("right", 1, "middle"),
    *running("big", "left", 4),
    *running("r", "right", 3),
    middle=1,
)

NESTED = department(
    *queue("left", 3, "middle"),
    *queue("right", 1, "middle"),
    *running("big", "left", 4),
    *running("small", "left", 1),
    *running("r", "right", 2),
)

OWN_PATH = [
    *cohort("org", nominal=9),
    *cohort("ours", "org", nominal=9),
    *queue("a", 2, "ours", within="LowerPriority", reclaim="Any"),
    *queue("left", 1, "org"),
    *running("own", "a", 1),
    *running("l", "left", 2),
    *pending("a", 1),
]

OVER_QUOTA = [
    Case(
        # Queue b uses 5 of 3: after one of 2 it is within its quota, so a second may not follow.
        "a queue gives up what it borrowed and one more step",
        [
            *cohort("org"),
            *queue("a", 4, "org", reclaim="Any"),
            *queue("b", 3, "org"),
            *running("b1", "b", 2),
            *running("b2", "b", 2),
            *running("b3", "b", 1),
            *pending("a", 4),
        ],
        legal=sets("b1", "b2", "b1 b3", "b2 b3"),  # b3 first: 4 of 3 is still over quota then
        forbids=sets("b1 b2"),
    ),
    Case("the last victim may bring the queue far below", one_queue(5), permits=sets("x")),
    Case(
        # Quota 4, usage 6: whichever goes first, no more than 4 is left for the other.
        "a queue at its quota is forbidden",
        one_queue(4, 2),
        permits=sets("x", "y"),
        forbids=sets("x y"),
    ),
    Case("over its quota by the first, it gives the other", one_queue(5, 1), permits=sets("x y")),
    Case(
        # Department right is within its 6, so its borrowing queue is safe; dropping it is not.
        "cohorts between must be over their subtree quota too",
        [
            *cohort("root"),
            *cohort("left", "root"),
            *cohort("right", "root"),
            *queue("a", 2, "left", reclaim="Any"),
            *queue("b", 1, "right"),
            *queue("c", 5, "right"),
            *queue("d", 0, "left"),
            *running("b1", "b", 3),
            *running("c1", "c", 3),
            *running("d1", "d", 2),
            *pending("a", 2),
        ],
        victims="d1",
    ),
    # The department uses 4, then 2: it has 1 + 1 of its queues, and some of its own.
    Case("a cohort over its quota", two_queues(1), permits=sets("l"), forbids=sets("l r")),
    Case("a cohort at its quota", two_queues(2), forbids=sets("l")),
    Case(
        # Both queues of department right may give one, but the department only one of the two.
        "last victims are nested along the tree",
        nested(asked=3),
        legal=sets("b1", "c1"),
    ),
    Case(
        # With one more unit in use, the second removal still finds the department over quota.
        "a department that is still over quota gives another",
        nested(*running("c2", "c", 1), asked=2),
        permits=sets("b1 c1"),
    ),
    Case(
        # Middle has quota 4 and uses 7: 4, 1 and 2 may go two at a time, but not all of them.
        "the last victim of a cohort is the last of a queue too",
        NESTED,
        permits=sets("r small", "big small", "big r"),
        forbids=sets("big small r"),
    ),
    Case(
        # Of 7 cores and 9 gpus middle uses 3 and 10. With x left, left is over in cores and middle
        # in nothing; with y left, it is the other way round. Each has a last victim of its own.
        "a cohort and its queue need the same last victim",
        [
            *cohort("org"),
            *cohort("middle", "org"),
            *queue("a", {"cpu": 1, "gpu": 3}, "org", reclaim="LowerPriority"),
            *queue("left", {"cpu": 2, "gpu": 9}, "middle"),
            *queue("right", {"cpu": 5, "gpu": 0}, "middle"),
            *running("x", "left", {"cpu": 3}),
            *running("y", "left", {"gpu": 3}),
            *running("stays", "right", {"gpu": 7}, 50),
            *pending("a", {"cpu": 1, "gpu": 3}),
        ],
        permits=sets("y"),
        forbids=sets("x y"),
    ),
    # With lending limit 1 left keeps 2 of its 3: middle sees 2 of the 4 it uses.
    Case("all that a queue uses counts", keeps(None), permits=sets("l"), forbids=sets("r")),
    Case("what a queue keeps does not", keeps(1), permits=sets("l")),
    Case(
        # gpu is within quota, cpu is not: 2 of 0, then 1 of 0.
        "one contested resource over quota is enough",
        [
            *cohort("org"),
            *queue("a", {"gpu": 2, "cpu": 2}, "org", reclaim="Any"),
            *queue("b", {"gpu": 4, "cpu": 0}, "org"),
            *running("b1", "b", {"gpu": 2, "cpu": 1}),
            *running("b2", "b", {"gpu": 2, "cpu": 1}),
            *pending("a", {"gpu": 2, "cpu": 2}),
        ],
        permits=sets("b1 b2"),
    ),
    Case(
        "own victims are unconditional",
        [
            *cohort("org"),
            *queue("a", 4, "org", within="LowerPriority", reclaim="Any"),
            *queue("b", 4, "org"),
            *running("own", "a", 2),
            *running("too", "a", 1),
            *pending("a", 4),
        ],
        permits=sets("own too"),
    ),
    # The root is within its quota all the time, and so is the preemptor's own cohort.
    Case("common ancestor and own path are never asked", OWN_PATH, permits=sets("own l")),
    Case("what is kept decides who can be last", KEPT, permits=sets("big r")),
]
