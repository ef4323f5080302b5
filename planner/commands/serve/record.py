"""What may be asked of the service, with which options, within which bounds; and as OpenAPI 3.1.

In the description options and answers have the schemas of their classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

FOR_THE_PLAN: Final = 0.8
"""The share of the seconds that the plan itself may take: reading and writing take some, too."""
MOST_EDITS: Final = 100
_TEXT: Final = r"^[^\x00-\x1f]+$"
_NAME: Final = Field(default=None, pattern=_TEXT, max_length=600)
Edit = Annotated[str, Field(pattern=_TEXT, max_length=1200)]
"""An edit of a state, as `planner whatif --set` takes it."""


class Bounds(NamedTuple):
    """What one request may take, and how many are answered at once.

    ``max_bytes`` are those of a dump, as it is sent and also unpacked; ``seconds`` go from the
    first byte of the request to its answer; ``memory`` is bytes of address space of the process
    that answers, where the system can limit it. To more than ``at_once`` it is said that they
    should come again.
    """

    max_bytes: int
    seconds: float
    memory: int
    at_once: int


class Asked(BaseModel):
    """What stands in the query of a request. No name of a file can: nothing is read from any."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    now: str | None = Field(default=None, pattern="^[0-9TZtz.:+-]+$", max_length=40)

    def words(self) -> list[str]:
        """Return them as options, each one word, so that no value is taken for an option."""
        given = self.model_dump(exclude_none=True)
        return [
            f"--{name}={one}"
            for name, value in given.items()
            for one in (value if isinstance(value, tuple) else (value,))
        ]


class AskedWho(Asked):
    """The same, and for whom to plan, and how."""

    pending: str | None = _NAME
    objective: str = Field(default="no-regret", pattern="^[a-z-]+$", max_length=60)


class AskedWhy(AskedWho):
    """The same, and who is asked about."""

    victim: str | None = _NAME


class AskedWhatIf(AskedWho):
    """The same, and edits of the state; ``set`` stands in the query once for each."""

    set: tuple[Edit, ...] = Field(min_length=1, max_length=MOST_EDITS)


class Endpoint(NamedTuple):
    """One thing that is answered, and in a summary what it is.

    ``words`` are those of the command line that answer it, without options of a request. ``kind``
    is the type of the content, ``asked`` what may stand in the query, ``schema`` the published
    schema of the answer, empty if it is no JSON. ``plans`` share the time of a request.
    """

    summary: str
    words: tuple[str, ...]
    kind: str
    asked: type[Asked] = AskedWho
    schema: str = ""
    plans: int = 1


JSON: Final = "application/json"
HTML: Final = "text/html; charset=utf-8"
ENDPOINTS: Final = {
    "/v1/settings": Endpoint(
        "Who is pending, which objectives there are, and what can be set.",
        ("whatif", "-", "--list", "--format=json"),
        JSON,
        Asked,
        "settings",
    ),
    "/v1/plan": Endpoint(
        "Whom to evict so that a pending workload can start, with the proof.",
        ("solve", "-", "--format=json"),
        JSON,
        schema="plan",
    ),
    "/v1/explanation": Endpoint(
        "Why these victims, why not another one, or why none.",
        ("explain", "-", "--format=json"),
        JSON,
        AskedWhy,
        "explanation",
    ),
    "/v1/whatif": Endpoint(
        "What edits of the state change: who is a victim no longer, and who is newly.",
        ("whatif", "-", "--format=json"),
        JSON,
        AskedWhatIf,
        "whatif",
        plans=2,
    ),
    "/v1/page": Endpoint(
        "The plan as one page that needs nothing from elsewhere.",
        ("solve", "-", "--format=html"),
        HTML,
    ),
    "/v1/page/explanation": Endpoint(
        "The explanation as such a page.", ("explain", "-", "--format=html"), HTML, AskedWhy
    ),
    "/v1/page/whatif": Endpoint(
        "What edits change as such a page.",
        ("whatif", "-", "--format=html"),
        HTML,
        AskedWhatIf,
        plans=2,
    ),
}
"""What is answered to POST, by path."""


Json = dict[str, Any]
EXIT_CODE: Final = "Planner-Exit-Code"
"""The header that says how good an answer is, as the exit code of the command line does."""
STATUSES: Final = {
    400: "An option that there is not, or a value that it cannot have.",
    408: "The dump did not arrive, or the answer was not there, in time.",
    413: "The dump is too large.",
    422: "The dump cannot be used, or no such workload is pending in it.",
    500: "A fault of the planner, or the answer takes more memory than it may.",
    503: "As many are answered as may be at once.",
}
"""What may go wrong; the answer says it in words under ``error``."""


def openapi(version: str, schema_of: Callable[[str], Json]) -> Json:
    """Return the description of the service; ``schema_of`` makes a published schema by name."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "Preemption planner", "version": version},
        "paths": {path: {"post": _operation(one)} for path, one in ENDPOINTS.items()},
        "components": {
            "schemas": {
                # With a name of its own what it refers to is looked for within it.
                one.schema: {"$id": f"{one.schema}.schema.json", **schema_of(one.schema)}
                for one in ENDPOINTS.values()
                if one.schema
            }
        },
    }


def _operation(endpoint: Endpoint) -> Json:
    said = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
    reference = f"#/components/schemas/{endpoint.schema}"
    shown: Json = {"schema": {"$ref": reference}} if endpoint.schema else {}
    code = {"description": "0 is proved optimal", "schema": {"type": "integer"}}
    return {
        "summary": endpoint.summary,
        "parameters": [
            {"name": name, "in": "query", "schema": schema}
            for name, schema in endpoint.asked.model_json_schema()["properties"].items()
        ],
        "requestBody": {
            "description": "The dump of a cluster: JSON, YAML, or either with gzip.",
            "required": True,
            "content": {"application/octet-stream": {}},
        },
        "responses": {
            "200": {
                "description": endpoint.summary,
                "headers": {EXIT_CODE: code},
                "content": {endpoint.kind.partition(";")[0]: shown},
            },
            **{
                str(status): {"description": words, "content": {JSON: {"schema": said}}}
                for status, words in STATUSES.items()
            },
        },
    }
