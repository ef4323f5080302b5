"""Events: what a cluster says it did, for as long as it remembers."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from planner.state.base import KubernetesObject, Metadata, Schema, Time


class EventObject(Schema):
    """What an event is about."""

    kind: str = ""
    namespace: str = ""
    name: str = ""


class Event(KubernetesObject):
    """An Event, as ``kubectl get events`` prints it; only those about victims are looked at."""

    metadata: Metadata
    reason: str = ""
    message: str = ""
    about: EventObject = Field(default=EventObject.blank(), alias="involvedObject")
    last_seen: Time | None = Field(default=None, alias="lastTimestamp")
    seen: Time | None = Field(default=None, alias="eventTime")

    @property
    def at(self) -> datetime | None:
        """When it was last seen."""
        return self.last_seen or self.seen or self.metadata.creation_timestamp
