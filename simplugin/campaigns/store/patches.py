"""Documents that differ little from another one: only the difference is kept.

The difference is a JSON merge patch (RFC 7396), which SQLite's ``json_patch`` applies too, so that
a store can be read with any SQLite.
"""

from __future__ import annotations

import json
from typing import Any

Document = dict[str, Any]


def difference(base: Document, document: Document) -> Document:
    """Return the merge patch that leads from one JSON object to another.

    Merge patches have no word for a null that is added. The patch is then wrong; see
    `exact_difference`.
    """
    patch: Document = {key: None for key in base if key not in document}
    for key, value in document.items():
        before = base.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            inner = difference(before, value)
            if inner:
                patch[key] = inner
        elif key not in base or not _same(before, value):
            patch[key] = value
    return patch


def exact_difference(base: Document, document: Document, text: str) -> Document | None:
    """Return a patch that leads from one object exactly to another; None if there is none.

    Parameters
    ----------
    base, document : dict
        Objects as `json` reads them.
    text : str
        `document` as JSON without spaces; orders of keys are told by it.
    """
    patch = difference(base, document)
    return patch if json.dumps(applied(base, patch), separators=(",", ":")) == text else None


def applied(base: Document, patch: Document) -> Document:
    """Return `base` with a merge patch applied; parts that it leaves are shared."""
    document = dict(base)
    for key, value in patch.items():
        if value is None:
            document.pop(key, None)
        elif isinstance(value, dict):
            before = document.get(key)
            document[key] = applied(before if isinstance(before, dict) else {}, value)
        else:
            document[key] = value
    return document


def _same(first: Any, second: Any) -> bool:
    """Whether two values are the same text; 1 and 1.0, 0.0 and -0.0 are not."""
    return first is second or (first == second and json.dumps(first) == json.dumps(second))
