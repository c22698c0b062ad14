"""Every FileCheck file has CHECK lines that something runs."""

from __future__ import annotations

import re
from pathlib import Path

LIT = Path(__file__).parent.parent / "lit"
FILES = sorted(p for p in LIT.rglob("*") if p.suffix in (".mlir", ".c") and "Output" not in p.parts)


def test_check_lines_are_run() -> None:
    assert len(FILES) > 100
    for path in FILES:
        check(path)


def check(path: Path) -> None:
    """Something runs the lines of each prefix that a file has."""
    text = path.read_text()
    runs = "\n".join(re.findall(r"RUN:(.*(?:\\\n.*)*)", text))
    assert runs, f"{path}: no RUN line"
    prefixes = re.findall(r"--check-prefix(?:es)?[= ](\S+)", runs)
    for prefix in {
        m.group(1)
        for m in re.finditer(
            r"//\s*([A-Z][A-Z0-9-]*?)(?:-NEXT|-NOT|-SAME|-DAG|-LABEL|-COUNT-\d+|-EMPTY)?:", text
        )
    }:
        if prefix in ("RUN", "REQUIRES", "XFAIL", "UNSUPPORTED"):
            continue
        named = any(prefix in given.split(",") for given in prefixes)
        assert named or (prefix == "CHECK" and re.search(r"\|\s*filecheck\b", runs)), (
            f"{path}: nothing runs the {prefix} lines"
        )
