"""Results as a table: a line for each program and size, a column for each side."""

from __future__ import annotations

from collections.abc import Sequence

from .steps import OURS, Result


def _cell(result: Result | None) -> str:
    if result is None:
        return ""
    if result.failed in ("compile", "link"):
        return f"no {result.failed}"
    if result.ran is None:
        return "no end" if result.failed == "run" else "built"
    seconds = result.measured if result.measured is not None else result.ran
    text = f"{seconds:.3g} s"
    if result.failed == "run":
        return f"fails ({text})"
    mark = {True: "", False: "WRONG ", None: "? "}[result.verified]
    return f"{mark}{text}"


def table(results: Sequence[Result]) -> str:
    """
    The table in Markdown: seconds as the program measures them (otherwise of the whole run), our compile
    time, and launches; `?` where nothing was checked; then a list of failures.
    """
    sides = list(dict.fromkeys(result.side for result in results))
    rows: dict[tuple[str, str], dict[str, Result]] = {}
    for result in results:
        rows.setdefault((result.program, result.size), {})[result.side] = result
    lines = [
        "| program | " + " | ".join(sides) + " | compiled in | launches |",
        "|---|" + "---|" * (len(sides) + 2),
    ]
    for (program, size), by_side in rows.items():
        ours = [by_side[side] for side in OURS if side in by_side]
        built = [f"{r.built:.1f} s" for r in ours if r.built is not None]
        launches = [str(r.launches) for r in ours if r.launches is not None]
        cells = [_cell(by_side.get(side)) for side in sides]
        name = f"{program} {size}".strip()
        lines.append("| " + " | ".join([name, *cells, " ".join(built), " ".join(launches)]) + " |")
    wrong = [result for result in results if result.failed or result.verified is False]
    if wrong:
        lines += ["", "What went wrong:", ""]
        lines += [f"- {' '.join(filter(None, r.key))}: {r.message}" for r in wrong]
    return "\n".join(lines)
