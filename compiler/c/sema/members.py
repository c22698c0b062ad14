"""Members of structures and unions, found by name."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.diagnostics import SourceLoc, error
from ...base.similar import did_you_mean
from ..types import Field, RecordType


def member_path(t: RecordType, name: str, loc: SourceLoc, what: str = "") -> Sequence[Field]:
    """The fields from a complete record to its member `name`, through anonymous members. Raises
    `CompileError`, whose message begins with `what`, if it has none of that name."""
    path = t.find(name)
    if path is None:
        names = [f.name for f in t.fields or () if f.name]
        remedy = did_you_mean(name, names) or f"its members are: {', '.join(names)}"
        raise error(loc, f"{what}'{t}' has no member '{name}'", remedy)
    return path
