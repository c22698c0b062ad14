"""docs/runtime.md shows the table of the runtime's functions."""

from __future__ import annotations

import re
from pathlib import Path

from accopt.compiler.base.abi import ENTRY_POINTS

PAGE = Path(__file__).parents[2] / "docs" / "runtime.md"
LINE = re.compile(r"^(void|ptr|i32|i64)\s+(__accopt_\w+)\s*\(([^)]*)\)", re.MULTILINE)


def test_the_page_shows_every_function() -> None:
    shown = {
        name: (
            result,
            " ".join(
                re.sub(r"\w+ \*\w+", "ptr p", part).split()[0] for part in arguments.split(", ")
            ),
        )
        for result, name, arguments in LINE.findall(PAGE.read_text())
    }
    assert shown == ENTRY_POINTS
