"""Compares the outputs of two runs of a program: words exactly, numbers within a tolerance."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$|[-+]?(?:nan|inf)$", re.IGNORECASE)


def difference(expected: str, found: str, tolerance: float, ignore: str = "") -> str | None:
    """
    The first difference of two outputs; None if there is none. Numbers agree within `tolerance`,
    relative to their size, or absolute below 1. Lines that match `ignore` do not count.
    """
    left, right = (_words(text, ignore) for text in (expected, found))
    for place, (a, b) in enumerate(zip(left, right, strict=False)):
        if a != b and not _agree(a, b, tolerance):
            return f"word {place + 1} is {b[:40]}, serially {a[:40]}"
    if len(left) != len(right):
        return f"{len(right)} words, serially {len(left)}"
    return None


def _words(text: str, ignore: str) -> list[str]:
    lines = text.splitlines()
    return [w for line in lines if not (ignore and re.search(ignore, line)) for w in line.split()]


def _agree(a: str, b: str, tolerance: float) -> bool:
    if not _NUMBER.match(a) or not _NUMBER.match(b):
        return False
    x, y = float(a), float(b)
    return abs(x - y) <= tolerance * max(1.0, abs(x), abs(y))
