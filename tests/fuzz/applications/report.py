"""Tables of a run, and the failing programs as files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from .judge import FAILURES, VERDICTS, Verdict
from .model import features
from .programs import program
from .rules import complete, wrong_by_itself


def table(verdicts: Sequence[Verdict], nests: int) -> str:
    """Programs (of so many nests each) and nests by outcome; a program is as bad as its worst nest."""
    rows = [("target", "", *VERDICTS)]
    for target in dict.fromkeys(v.target for v in verdicts):
        own = [v for v in verdicts if v.target == target]
        worst: dict[int, int] = defaultdict(int)
        for v in own:
            number = v.unit.number // nests
            worst[number] = max(worst[number], VERDICTS.index(v.word))
        programs = Counter(VERDICTS[w] for w in worst.values())
        single = Counter(v.word for v in own)
        rows.append((target, "programs", *(str(programs[w]) for w in VERDICTS)))
        rows.append((target, "nests", *(str(single[w]) for w in VERDICTS)))
    return _aligned(rows)


def by_feature(verdicts: Sequence[Verdict]) -> str:
    """Outcomes of the nests by what is in them, those with failures only."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for v in verdicts:
        for feature in features(v.unit):
            counts[feature][v.word] += 1
    rows = [("feature", *VERDICTS)]
    for feature, own in sorted(counts.items()):
        if any(own[word] for word in FAILURES):
            rows.append((feature, *(str(own[w]) for w in VERDICTS)))
    return _aligned(rows) if len(rows) > 1 else ""


def too_strict(verdicts: Sequence[Verdict]) -> dict[str, list[Verdict]]:
    """Messages about units that have one answer, by whether they have every clause OpenACC asks for."""
    found = [v for v in verdicts if v.word == "message" and not wrong_by_itself(v.unit)]
    return {
        "every clause is there": [v for v in found if complete(v.unit)],
        "clauses are missing": [v for v in found if not complete(v.unit)],
    }


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            cell.ljust(w) if k == 0 else cell.rjust(w)
            for k, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )


def save(verdict: Verdict, folder: Path) -> Path:
    """The unit as a program of one file, with its verdict at the top."""
    folder.mkdir(parents=True, exist_ok=True)
    (text,) = program([verdict.unit], 0).files.values()
    detail = verdict.detail.replace("*/", "* /")
    path = folder / f"{verdict.target}_{verdict.unit.number}_{verdict.word}.c"
    path.write_text(f"/* {verdict.target}: {verdict.word}\n   {detail} */\n{text}")
    return path
