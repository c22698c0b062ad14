"""Spans of memory: the first address and the one after the last."""

from __future__ import annotations

from collections.abc import Iterable


def overlapping(spans: Iterable[tuple[int, int, int]]) -> set[int]:
    """The owners of spans (first address, the one after the last, owner) that share bytes with others."""
    found: set[int] = set()
    last = (0, 0, 0)
    for span in sorted(spans):
        if span[0] < last[1]:
            found |= {last[2], span[2]}
        if span[1] > last[1]:
            last = span
    return found
