"""What is offered, as OpenAPI 3.1: options and answers have the schemas of their classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from planner.commands.serve.record import ENDPOINTS, JSON, Endpoint

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
        }
        | {
            str(status): {"description": words, "content": {JSON: {"schema": said}}}
            for status, words in STATUSES.items()
        },
    }
