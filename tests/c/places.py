"""C text whose comments mark the mistakes in its lines."""

from __future__ import annotations

import re


def marked(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text without its comments, and (line, text) of each comment."""
    expected = [
        (number, comment.strip())
        for number, line in enumerate(text.splitlines(), 1)
        for comment in line.split("//")[1:]
    ]
    return re.sub(r" *//.*", "", text), expected
