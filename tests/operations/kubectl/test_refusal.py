"""What kubectl says when it fails becomes one message that says what to do."""

import pytest

from planner.errors import InputError
from planner.operations.kubectl.call import Kubectl
from planner.operations.kubectl.kueue_dump import take_dump
from planner.operations.kubectl.kueue_resource import RESOURCES
from tests.conftest import FOR_EVER_S
from tests.stand_in import REFUSED, StandIn, forbidden, no_such_type
from tests.told import told

WORKLOADS = "workloads.kueue.x-k8s.io"


def refused(kubectl: StandIn, resource: str, said: str, code: int = 1, **options: str) -> str:
    kubectl.answer(resource, code=code, said=said)
    with pytest.raises(InputError) as raised:
        take_dump(Kubectl(timeout_s=FOR_EVER_S), **options)  # type: ignore[arg-type]
    assert raised.value.exit_code == 2
    assert resource in {call[1] for call in kubectl.calls()}
    return str(raised.value)


@pytest.mark.parametrize("resource", [r.full_name for r in RESOURCES if not r.missing])
def test_kueue_is_not_installed(kubectl: StandIn, resource: str) -> None:
    text = refused(kubectl, resource, no_such_type(resource))
    told(text)


def test_forbidden_says_what_and_who_grants_it(kubectl: StandIn) -> None:
    text = refused(kubectl, WORKLOADS, forbidden(WORKLOADS))
    told(text)
    assert f"--resource={WORKLOADS}," in text
    assert "--without" not in text


def test_forbidden_but_not_needed(kubectl: StandIn) -> None:
    said = forbidden("limitranges")
    text = refused(kubectl, "limitranges", said, namespace="team-a")
    told(text)
    assert "--without limitranges" in text


def test_all_that_is_forbidden_is_one_message(kubectl: StandIn) -> None:
    for resource in (WORKLOADS, "limitranges"):
        kubectl.answer(resource, code=1, said=forbidden(resource))
    text = refused(kubectl, "configmaps", forbidden("configmaps"), namespace="team-a")
    told(text)
    assert text.count("create clusterrole ") == 1


def test_forbidden_configuration(kubectl: StandIn) -> None:
    said = (
        'Error from server (Forbidden): configmaps "kueue-manager-config" is forbidden: User "ada" '
        'cannot get resource "configmaps" in API group "" in the namespace "kueue-system"\n'
    )
    text = refused(kubectl, "configmaps", said)
    told(text)
    assert "--resource-name=kueue-manager-config" in text
    assert "--without configmaps" in text


@pytest.mark.parametrize(
    "said",
    [
        REFUSED,
        "Unable to connect to the server: dial tcp: lookup api.example.com: no such host\n",
        "Unable to connect to the server: net/http: TLS handshake timeout\n",
        "error: You must be logged in to the server (Unauthorized)\n",
        "Unable to connect to the server: getting credentials: exec: executable aws failed\n",
        "Error in configuration: context was not found for specified context: nope\n",
        "error: stat /nope/x: no such file or directory\n",
        "error: something new\n",
    ],
)
def test_other_failures_are_quoted(kubectl: StandIn, said: str) -> None:
    told(refused(kubectl, WORKLOADS, said))


def test_optional_is_no_excuse_for_other_failures(kubectl: StandIn) -> None:
    text = refused(kubectl, "cohorts.kueue.x-k8s.io", "error: out of order\n")
    told(text)


LOGGED = (
    'E1121 08:13:39.604803    7799 memcache.go:287] "Unhandled Error" err="couldn\'t get resource '
    "list for external.metrics.k8s.io/v1beta1: the server could not find the requested resource"
    '"\n'
)
COHORTS = "cohorts.kueue.x-k8s.io"


@pytest.mark.parametrize(
    "said", [forbidden(COHORTS), "Error from server (InternalError): etcd timeout\n"]
)
def test_what_is_logged_of_another_api_is_no_excuse(kubectl: StandIn, said: str) -> None:
    told(refused(kubectl, COHORTS, LOGGED + said))


def test_a_type_that_is_missing_beside_a_broken_api(kubectl: StandIn) -> None:
    kubectl.answer(COHORTS, code=1, said=LOGGED + no_such_type(COHORTS))
    dump = take_dump(Kubectl(timeout_s=FOR_EVER_S))
    assert any(f"the cluster has no {COHORTS}" in note for note in dump.notes)


def test_says_nothing(kubectl: StandIn) -> None:
    told(refused(kubectl, WORKLOADS, "", 3))


def test_crash(kubectl: StandIn) -> None:
    kubectl.answer(WORKLOADS, killed=9)
    with pytest.raises(InputError) as caught:
        take_dump(Kubectl(timeout_s=FOR_EVER_S))
    told(caught.value)


def test_long_reasons_are_cut(kubectl: StandIn) -> None:
    assert len(refused(kubectl, WORKLOADS, "x" * 60_000)) < 600
