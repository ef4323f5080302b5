"""What is said of every kind of finding: why it matters, what leads to it, and what helps.

The reference has a page of it, and SARIF the help of each rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple


class About(NamedTuple):
    """What is said of a kind: why it matters, what leads to it, what helps, and the source."""

    why: str
    example: str
    cure: str
    source: str


ABOUT: Final[Mapping[str, About]] = {
    "KL-01": About(
        "A queue that may preempt *while borrowing* evicts a workload of a queue that takes its "
        "nominal quota back *from any priority*. The victim queues again, reclaims, and evicts who "
        "evicted it: both lose their work, round after round; neither priority nor age ends it.",
        """# ClusterQueue a, in the cohort of b
preemption:
  reclaimWithinCohort: LowerPriority
  borrowWithinCohort: {policy: LowerPriority}
---
# ClusterQueue b
preemption: {reclaimWithinCohort: Any}""",
        "`reclaimWithinCohort: LowerPriority` in the queue that lends: then who was evicted for a "
        "higher priority does not evict back.",
        "docs/semantics/kueue.md §5.2 and §5.3",
    ),
    "KL-02": About(
        "Under fair sharing preemption compares shares, not priorities, and `Any` heeds no "
        "priority either. Where amounts are coarse, each of two queues is the less unfair one in "
        "turn, and each turn evicts the other.",
        """# Configuration: fairSharing; ClusterQueues a and b, in one cohort
preemption: {reclaimWithinCohort: Any}""",
        "`reclaimWithinCohort: LowerPriority` in all queues of the cohort that have `Any`.",
        "docs/semantics/kueue.md §6.1 and §6.5",
    ),
    "KL-03": About(
        "Whoever lends expects to get it back. With `Never`, the default, the owner of the quota "
        "waits until borrowers finish by themselves, however urgent its own workloads are.",
        """# ClusterQueue a, in a cohort, no lendingLimit
preemption: {reclaimWithinCohort: Never}""",
        "`reclaimWithinCohort: LowerPriority` or `Any`; or `lendingLimit: 0` for quota that "
        "nobody may borrow.",
        "docs/semantics/kueue.md §5.2 and §3",
    ),
    "KL-04": About(
        "Kueue's webhook refuses this combination. Where it is stored all the same, as by an older "
        "release, nobody of the cohort is ever preempted for this queue: preemption while "
        "borrowing is a kind of reclaiming.",
        """preemption:
  reclaimWithinCohort: Never
  borrowWithinCohort: {policy: LowerPriority}""",
        "`reclaimWithinCohort: LowerPriority`, or no `borrowWithinCohort`.",
        "docs/semantics/kueue.md §4.4 and §5.3",
    ),
    "KL-05": About(
        "`maxPriorityThreshold` spares who is *above* it. Below the lowest priority that there is, "
        "it spares all: preemption while borrowing seems to be permitted and finds nobody.",
        """# the lowest priority of all workloads and classes is 0
preemption:
  reclaimWithinCohort: LowerPriority
  borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: -1}""",
        "A threshold of at least the lowest priority that may be evicted.",
        "docs/semantics/kueue.md §5.3",
    ),
    "KL-06": About(
        "`LowerPriority` finds victims of a lower priority only. Where all workloads and all "
        "priority classes have the same, nobody is lower, and the policy is as good as `Never`.",
        """# one WorkloadPriorityClass, and all workloads have it
preemption: {withinClusterQueue: LowerPriority}""",
        "A WorkloadPriorityClass of another value, or a policy that heeds more than priority: "
        "`LowerOrNewerEqualPriority`, or `reclaimWithinCohort: Any`.",
        "docs/semantics/kueue.md §5.2",
    ),
    "KL-07": About(
        "To reclaim is to take back nominal quota. A queue that has none uses nothing but what it "
        "borrows, and may evict others for that only with `borrowWithinCohort`.",
        """# ClusterQueue a, every nominalQuota 0
preemption: {reclaimWithinCohort: Any}""",
        "Nominal quota, or `borrowWithinCohort: {policy: LowerPriority}`.",
        "docs/semantics/kueue.md §4.4 and §5.3",
    ),
    "KL-08": About(
        "Workloads of an inactive ClusterQueue keep running and keep their quota, but are no "
        "candidates of anybody: what it borrowed cannot be reclaimed until they finish.",
        """# ClusterQueue a uses more than its nominal quota
stopPolicy: Hold""",
        "Make it active again, or drain it: `stopPolicy: HoldAndDrain`.",
        "docs/semantics/kueue.md §2; docs/semantics/kueue-features.md §1.3",
    ),
    "KL-09": About(
        "A share is what is borrowed, divided by the weight. With weight 0 it is infinite as soon "
        "as the queue borrows: it then preempts nobody, and is the first to be preempted.",
        """# Configuration: fairSharing
fairSharing: {weight: "0"}
preemption: {reclaimWithinCohort: Any}""",
        "A weight above 0; a small one, such as `100m`, if it shall come last.",
        "docs/semantics/kueue.md §6.1",
    ),
    "KL-10": About(
        "A resource is covered, so workloads that ask for it are taken in, but no flavor has "
        "nominal quota for it, and there is nothing to borrow. They wait for ever, and preemption "
        "is not tried for them.",
        """resourceGroups:
- coveredResources: [cpu]
  flavors:
  - name: default
    resources: [{name: cpu, nominalQuota: 0}]""",
        "Nominal quota in the queue or its cohort.",
        "docs/semantics/kueue.md §4.3",
    ),
    "KL-11": About(
        "Policies towards others of the cohort concern nobody where the queue is alone. That is "
        "harmless, and not what whoever wrote it had in mind: often the name of the cohort is "
        "misspelt.",
        """# ClusterQueue a, the only one of its cohort, or without a cohort
preemption: {reclaimWithinCohort: Any}""",
        "Check the name of the cohort; or leave the policies out.",
        "docs/semantics/kueue.md §5.3",
    ),
    "KL-12": About(
        "Under fair sharing shares decide who is preempted while borrowing. The policy is not "
        "read, and `maxPriorityThreshold` protects nobody, which may surprise who counted on it.",
        """# Configuration: fairSharing
preemption:
  reclaimWithinCohort: LowerPriority
  borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 100}""",
        "No `borrowWithinCohort`.",
        "docs/semantics/kueue.md §6.2",
    ),
    "KL-13": About(
        "Preemption while borrowing needs something to borrow. With `borrowingLimit: 0`, or where "
        "nobody lends, the policy is never used.",
        """# borrowingLimit: 0 for every resource
preemption:
  reclaimWithinCohort: LowerPriority
  borrowWithinCohort: {policy: LowerPriority}""",
        "A `borrowingLimit` above 0 (or none), or no `borrowWithinCohort`.",
        "docs/semantics/kueue.md §3 and §5.3",
    ),
    "KL-14": About(
        "Only who uses more than its nominal quota is reclaimed from. Where limits keep every "
        "other queue of the cohort within its own, there is nobody.",
        """# ClusterQueue a; all others have borrowingLimit: 0
preemption: {reclaimWithinCohort: Any}""",
        "A `borrowingLimit` above 0 for others, or `reclaimWithinCohort: Never`.",
        "docs/semantics/kueue.md §5.3",
    ),
    "KL-15": About(
        "A threshold that is not below any priority spares nobody: it looks like a protection of "
        "important workloads, and is none.",
        """# the highest priority is 1000
preemption:
  reclaimWithinCohort: LowerPriority
  borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 1000}""",
        "A threshold below the priorities that shall be spared, or none.",
        "docs/semantics/kueue.md §5.3",
    ),
    "KL-16": About(
        "Weights count only where Kueue's Configuration turns fair sharing on. Without it they are "
        "stored, shown, and read by nobody.",
        """# Configuration without fairSharing
fairSharing: {weight: "2"}""",
        "`fairSharing: {}` in the Configuration, or no weights.",
        "docs/semantics/kueue.md §6.1; docs/semantics/kueue-features.md §8",
    ),
    "KL-17": About(
        "The strategies of fair sharing preempt for queues that may reclaim. With `Never` in all "
        "of them shares order admissions, and are never restored by preemption.",
        """# Configuration: fairSharing; every ClusterQueue
preemption: {reclaimWithinCohort: Never}""",
        "`reclaimWithinCohort: LowerPriority` or `Any` where shares are to be restored.",
        "docs/semantics/kueue.md §6.2",
    ),
    "KL-18": About(
        "The annotation `kueue.x-k8s.io/priority-boost` is read only with its feature gate on. "
        "Whoever set it believes that a workload is protected, or goes first.",
        """# Configuration without featureGates: {PriorityBoost: true}
metadata:
  annotations: {kueue.x-k8s.io/priority-boost: "10"}""",
        "`featureGates: {PriorityBoost: true}` in the Configuration.",
        "docs/semantics/kueue.md §2.3",
    ),
    "KL-19": About(
        "It is not slow, it is never looked at: as long as nothing changes, another workload stays "
        "the head of its StrictFIFO queue, or reserves before it in every cycle what it cannot "
        "have. Only workloads that would fit or preempt if their turn came are reported.",
        """# ClusterQueue a, queueingStrategy: StrictFIFO
# its head asks for more than there will ever be; a smaller workload waits behind it""",
        "`queueingStrategy: BestEffortFIFO`, or take the workload away that is in the way.",
        "docs/semantics/kueue.md §7.1, §7.4 and §7.5",
    ),
    "KL-20": About(
        "The pods of a pending workload must be in one rack (or whatever level it requires), and "
        "no rack would have room for them even if nobody ran. No preemption helps.",
        """# racks of 4 nodes with 8 GPUs each; 40 pods of one GPU
podSets:
- topologyRequest: {required: example.com/rack}""",
        "A higher level, `preferred` instead of `required`, fewer pods, or larger racks.",
        "docs/semantics/kueue-topology.md §5.4",
    ),
    "KL-21": About(
        "A node belongs to a flavor's topology only with a label for each of its levels. One that "
        "lacks a label is left out without a word: its capacity counts for nobody whose pods are "
        "placed.",
        """# Topology with the levels example.com/block and example.com/rack
metadata:
  labels: {cloud.example.com/pool: h100, example.com/block: b1}   # no rack""",
        "The missing labels on the nodes.",
        "docs/semantics/kueue-topology.md §2.1",
    ),
    "KL-22": About(
        "A ResourceFlavor names a Topology that does not exist. Kueue then makes every "
        "ClusterQueue that has the flavor inactive: nothing is admitted there.",
        """kind: ResourceFlavor
spec: {topologyName: racks}   # and no Topology of that name""",
        "Create the Topology, or correct the name.",
        "docs/semantics/kueue-topology.md §1; docs/semantics/kueue-features.md §1.3",
    ),
    "KL-23": About(
        "A ClusterQueue whose ResourceFlavor or AdmissionCheck does not exist is inactive: nothing "
        "is admitted there. A LocalQueue without its ClusterQueue leads nowhere. Something of that "
        "kind is called almost so, which is probably what was meant.",
        """# there is a ResourceFlavor gpu-a100
flavors:
- name: gpu-a10o""",
        "The right name. All other rules looked at the ClusterQueue as if the name were right, "
        "unless Kueue itself calls it inactive.",
        "docs/semantics/kueue.md §2; docs/semantics/kueue-features.md §1.3",
    ),
    "KL-24": About(
        "The same, and nothing in the input is called almost so. It may stand in another file or "
        "repository, and then nothing is wrong; what the input does not hold cannot be checked.",
        """kind: ClusterQueue       # and no ResourceFlavor gpu-pool in any file
spec: {resourceGroups: [{flavors: [{name: gpu-pool, ...}], ...}]}""",
        "Check the object along. All other rules looked at the ClusterQueue as if it were there, "
        "unless Kueue itself calls it inactive.",
        "docs/semantics/kueue.md §2; docs/semantics/kueue-features.md §1.3",
    ),
    "KL-25": About(
        "Limits are about what others in the cohort have. A ClusterQueue without a cohort, and a "
        "Cohort without a parent, has no others; and no ClusterQueue can lend more than its own. "
        "Kueue's webhook refuses all three. Where they are stored all the same, they do nothing.",
        """kind: Cohort
spec:                    # no parentName
  resourceGroups: [{flavors: [{resources: [{borrowingLimit: 4, ...}], ...}], ...}]""",
        "A cohort or a parent, or no limits; a `lendingLimit` of at most the `nominalQuota`.",
        "docs/semantics/kueue.md §3",
    ),
    "KL-26": About(
        "Quota is a promise that nodes must keep. Where all quota in a flavor, or in flavors with "
        "the same nodes, is more than these have, Kueue admits workloads whose pods then wait for "
        "a node. All nodes with the labels of the flavor count, also those that take no pods now, "
        "but not those reserved for the control plane. Flavors whose nodes are made on demand "
        "(ProvisioningRequest), or are in another cluster (MultiKueue), are left out.",
        """# two nodes with 8 GPUs each, and in the flavor that stands for them:
- {name: nvidia.com/gpu, nominalQuota: 24}""",
        "Less quota, or more nodes. Where an autoscaler adds nodes, it may be as it should be.",
        "docs/semantics/kueue.md §3; docs/semantics/kueue-topology.md §2.1",
    ),
    "KL-27": About(
        "Two amounts of one resource in a cohort are exactly a suffix apart, or one of them is a "
        "few bytes of memory, or less than a tenth of a core, beside a thousand times as much. A "
        "number without a suffix is cores, or bytes.",
        """- {name: memory, nominalQuota: 64}      # 64 bytes, in ClusterQueue a
- {name: memory, nominalQuota: 64Gi}    # in ClusterQueue b""",
        "The suffix that is missing, or one less.",
        "docs/semantics/kueue.md §1",
    ),
    "YL-01": About(
        "An ask triggers preemption only within what is guaranteed to its queue. Without any "
        "guarantee on the path it waits, however low the priorities are that run.",
        """queues:
- name: a        # no resources.guaranteed here or above""",
        "`resources.guaranteed` for the queue, or for one above it.",
        "docs/semantics/yunikorn.md §5 and §13.4",
    ),
    "YL-02": About(
        "Resources are guaranteed, and preemption is off for the whole partition: what is "
        "guaranteed is had only when others finish.",
        """partitions:
- name: default
  preemption: {enabled: false}""",
        "`preemption: {enabled: true}`, or no guaranteed resources.",
        "docs/semantics/yunikorn.md §2 and §3",
    ),
    "YL-03": About(
        "Nobody is preempted beyond a fence, in a queue where preemption is disabled, or in the "
        "ask's own queue. Where nothing else is left, there are no candidates.",
        """- name: a
  properties: {preemption.policy: fence}   # and nothing below it but the asking queue""",
        "The fence higher up, so that there are others on the same side, or nowhere.",
        "docs/semantics/yunikorn.md §4",
    ),
    "YL-04": About(
        "A queue at its maximum is a fence around itself, so what is guaranteed beyond that is "
        "never had. YuniKorn refuses a file where both stand in one queue; here the maximum may "
        "be that of a queue above.",
        """resources:
  guaranteed: {vcore: 10}
  max: {vcore: 8}""",
        "A maximum of at least what is guaranteed, in the queue and in those above it.",
        "docs/semantics/yunikorn.md §4 and §5",
    ),
    "YL-05": About(
        "More is guaranteed to all queues together than the nodes have. Where all use what is "
        "theirs nobody is over, and the last one waits.",
        """# nodes with 100 vcores in all
- {name: a, resources: {guaranteed: {vcore: 80}}}
- {name: b, resources: {guaranteed: {vcore: 80}}}""",
        "Guarantees that add up to what the nodes have, or less.",
        "docs/semantics/yunikorn.md §5",
    ),
    "YL-06": About(
        "The core tells ancestors by the beginning of a path, as plain text: it takes `root.a` for "
        "a queue above `root.ab`, and asks of `root.ab` preempt in `root.a` although no more is "
        "used there than is guaranteed.",
        """queues: [{name: a}, {name: ab}]""",
        "Names of which none begins with another.",
        "docs/semantics/yunikorn.md §4",
    ),
    "YL-07": About(
        "A property that cannot be read counts as if it were not there, and nothing says so.",
        """properties: {preemption.delay: "30"}   # a duration has a unit: 30s""",
        "A value of the right form: `default`, `disabled` or `fence`, a duration such as `1m30s`, "
        "a whole number.",
        "docs/semantics/yunikorn.md §2",
    ),
    "YL-08": About(
        "To opt out of being preempted only changes the order in which victims are looked at: "
        "where no others suffice, they go all the same.",
        """metadata:
  annotations: {yunikorn.apache.org/allow-preemption: "false"}""",
        "`preemption.policy: disabled` in the queue, which protects all of it.",
        "docs/semantics/yunikorn.md §13.1",
    ),
    "YL-09": About(
        "Preemption after a lowered maximum has a switch for the whole partition, which is off by "
        "default. Without it the delay of a queue does nothing.",
        """properties: {quota.preemption.delay: 10m}
# and the partition has no preemption: {quotapreemptionenabled: true}""",
        "`quotapreemptionenabled: true` in the partition's `preemption`.",
        "docs/semantics/yunikorn.md §11.2",
    ),
    "YL-10": About(
        "An ask preempts only if all of it fits into what its queue has left of its guaranteed: "
        "one that is more than is guaranteed never does, however little is used. Nor does one in "
        "a queue that became a parent, at which the core does not look.",
        """resources: {guaranteed: {memory: 8Gi}}
# and a pod that asks for 10Gi waits in the queue""",
        "More guaranteed, smaller pods, or a leaf for the application.",
        "docs/semantics/yunikorn.md §6 and §13.4",
    ),
    "YL-11": About(
        "A pod of a gang waits while the core counts placeholders of its group that were neither "
        "replaced nor timed out. A placeholder whose pod is deleted before it runs stays in that "
        "count: the pod is never placed, and preempts nobody.",
        """placeholderData: [{taskGroupName: workers, count: 3, replaced: 2, timedout: 0}]
# and no placeholder of the group is left""",
        "Submit the application anew.",
        "docs/semantics/yunikorn-features.md §20",
    ),
    "YL-12": About(
        "Limits of users and groups are kept in trackers that a change of queues.yaml updates: one "
        "that it removes may take those below it along, and what it leaves behind goes on to hold. "
        "A restart reads the file anew, and then other asks are passed over.",
        """limits: [{users: [ada], maxresources: {memory: 8Gi}}]
# and /ws/v1/partition/default/usage/users says maxResources: {memory: 4Gi}""",
        "A restart at a time of your choice, or a further change of queues.yaml.",
        "docs/semantics/yunikorn-features.md §18",
    ),
}
