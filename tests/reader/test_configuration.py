"""Kueue's Configuration, as an object or as a text in the manager's ConfigMap."""

from typing import Any

import pytest
import yaml

from planner.reader import Ignored
from planner.state.kueue import Configuration
from tests.kueue_state import read_objects
from tests.reader.dumps import CONFIG, NOW, Object, cluster_queue, refused, state_of

CONFIGURATION: Object = {
    "apiVersion": f"{CONFIG}/v1beta2",
    "kind": "Configuration",
    "metrics": {"bindAddress": ":8443"},
    "fairSharing": {"preemptionStrategies": ["LessThanInitialShare"]},
    "featureGates": {"PriorityBoost": True},
    "waitForPodsReady": {"timeout": "5m", "requeuingStrategy": {"timestamp": "Creation"}},
    "resources": {
        "excludeResourcePrefixes": ["networking.example.com/"],
        "transformations": [
            {"input": "example.com/a", "strategy": "Replace", "outputs": {"example.com/b": "2"}}
        ],
    },
}
IN = 'dump.json: items[0].data["controller_manager_config.yaml"]'


def config_map(text: Any, key: str = "controller_manager_config.yaml") -> Object:
    metadata = {"name": "kueue-manager-config", "namespace": "kueue-system"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {key: text}}


def test_object_is_read() -> None:
    read = state_of(CONFIGURATION).configuration
    assert read.strategies == ("LessThanInitialShare",)
    assert read.fair_sharing_on
    assert read.gate("PriorityBoost")
    assert read.wait_for_pods_ready is not None
    assert read.wait_for_pods_ready.requeuing_strategy.timestamp == "Creation"
    assert read.resources.exclude_prefixes == ("networking.example.com/",)
    (transformation,) = read.resources.transformations
    assert (transformation.input, transformation.strategy) == ("example.com/a", "Replace")
    assert transformation.outputs == {"example.com/b": 2 * 10**9}


@pytest.mark.parametrize(
    "text",
    [
        yaml.safe_dump(CONFIGURATION),
        "# Kueue\n---\n" + yaml.safe_dump(CONFIGURATION),
        yaml.safe_dump({"kind": "Other"}) + "---\n" + yaml.safe_dump(CONFIGURATION),
    ],
)
def test_text_in_a_config_map_is_the_same(text: str) -> None:
    assert state_of(config_map(text)).configuration == state_of(CONFIGURATION).configuration


def test_v1beta1_in_a_config_map_needs_its_switch() -> None:
    older = {**CONFIGURATION, "apiVersion": f"{CONFIG}/v1beta1"}
    assert not state_of(config_map(yaml.safe_dump(older))).configuration.fair_sharing_on
    older["fairSharing"] = {**older["fairSharing"], "enable": True}
    assert state_of(config_map(yaml.safe_dump(older))).configuration.fair_sharing_on


@pytest.mark.parametrize(
    "foreign",
    [
        config_map("apiVersion: example.com/v1\nkind: Configuration\n"),
        config_map("apiVersion: config.kueue.x-k8s.io.example/v1\nkind: Configuration\n"),
        config_map("kind: Configuration\n"),
        config_map("apiVersion: [1]\nkind: Configuration\n"),
        config_map("just: text"),
        config_map("{ broken"),
        config_map(""),
        config_map(5),
        config_map(yaml.safe_dump(CONFIGURATION), key="config.yaml"),
        {"apiVersion": "v1", "kind": "ConfigMap", "data": None},
        {"apiVersion": "v1", "kind": "ConfigMap", "data": ["controller_manager_config.yaml"]},
    ],
)
def test_config_maps_of_others_are_ignored_and_counted(foreign: Object) -> None:
    ignored = Ignored()
    objects = [foreign, cluster_queue()]
    state = read_objects(objects, where="x", now=NOW, ignored=ignored)
    assert state.configuration == Configuration()
    assert ignored.kinds == {"ConfigMap": 1}


def test_bad_field_in_a_config_map_has_its_whole_path() -> None:
    bad = {**CONFIGURATION, "fairSharing": {"preemptionStrategies": ["LessThanInitialShar"]}}
    error = refused(config_map(yaml.safe_dump(bad)))
    assert error.where == f"{IN}.fairSharing.preemptionStrategies[0]"
    assert error.hint == 'did you mean "LessThanInitialShare"?'


def test_broken_yaml_of_kueue_in_a_config_map_is_an_error_with_its_line() -> None:
    error = refused(config_map(f"apiVersion: {CONFIG}/v1beta2\nkind: Configuration\n  a: b\n"))
    assert error.where == f"{IN}: line 3 column 4"


def test_bomb_in_a_config_map_is_an_error() -> None:
    bomb = f"# {CONFIG}\na: " + "[" * 1000
    assert "200 deep" in refused(config_map(bomb)).found
