"""
Judges the outcome of each unit of a program on a target:

- `right`: it prints what serial C prints;
- `message`: it does not, but an error or warning names one of its scalars;
- `wrong`: it does not, and there is no message;
- `race`: the simulator has a finding, without a message of the compiler;
- `crash`: accopt or the program died, hung, or refused the unit for another reason.
"""

from __future__ import annotations

import re
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .execute import Done, accrun, serial
from .functions import scalars
from .model import Unit
from .programs import Source, program

VERDICTS = ("right", "message", "wrong", "race", "crash")
FAILURES = frozenset(("wrong", "race", "crash"))

_DIAGNOSTIC = re.compile(r"^(?:\S*/)?([\w.]+\.[ch]):(\d+):(?:(\d+):)? (error|warning): (.*)$", re.M)


@dataclass(frozen=True)
class Verdict:
    """The outcome of one unit, with the messages about it and its output."""

    unit: Unit
    target: str
    word: str
    detail: str = ""


def by_unit(text: str) -> dict[int, list[str]]:
    """The printed lines of each unit."""
    lines: dict[int, list[str]] = defaultdict(list)
    for line in text.splitlines():
        number, _, rest = line.partition(" ")
        if number.isdigit():
            lines[int(number)].append(rest)
    return lines


@dataclass
class Said:
    """Messages about one unit."""

    compiler: list[str]
    simulator: list[str]
    refused: bool = False


def messages(source: Source, err: str) -> dict[int, Said]:
    """The messages of compiler and simulator, by unit."""
    found: dict[int, Said] = defaultdict(lambda: Said([], []))
    for match in _DIAGNOSTIC.finditer(err):
        file, line, _, kind, text = match.groups()
        owner = source.owners.get((file, int(line)))
        if owner is None:
            continue
        said = found[owner]
        if text.startswith("in kernel "):
            said.simulator.append(f"{file}:{line}: {text}")
        else:
            said.compiler.append(f"{file}:{line}: {kind}: {text}")
            said.refused |= kind == "error"
    return found


def names_a_scalar(unit: Unit, texts: Sequence[str]) -> bool:
    """Whether a message names one of the unit's scalars."""
    names = "|".join(re.escape(s.name) for s in scalars(unit))
    return bool(names) and any(
        re.search(rf"'({names})'|\(({names})\)|:({names})\)", t) for t in texts
    )


def _judge_one(unit: Unit, target: str, said: Said, got: list[str], want: list[str]) -> Verdict:
    named = names_a_scalar(unit, said.compiler)
    if said.refused:
        return Verdict(unit, target, "message" if named else "crash", "; ".join(said.compiler))
    if got == want and not said.simulator:
        return Verdict(unit, target, "right")
    notes = said.compiler + said.simulator
    if got != want:
        notes.append(
            f"prints {[x for x in got if x not in want]}, not {[x for x in want if x not in got]}"
        )
    word = "message" if named else "race" if said.simulator else "wrong"
    return Verdict(unit, target, word, "; ".join(notes))


def judge(
    units: Sequence[Unit], target: str, *, parts: int = 1, options: Sequence[str] = ()
) -> list[Verdict]:
    """The verdicts of units that form one program; a unit that ends the program early is tried alone."""
    with tempfile.TemporaryDirectory() as name:
        source = program(units, parts)
        paths = source.write(Path(name))
        want = by_unit(serial(paths))
        return _judge(units, target, want, source, accrun(paths, target, options), parts, options)


def _judge(
    units: Sequence[Unit],
    target: str,
    want: dict[int, list[str]],
    source: Source,
    done: Done,
    parts: int,
    options: Sequence[str],
) -> list[Verdict]:
    said = messages(source, done.err)
    findings = any(s.simulator for s in said.values())
    ended = done.status == 0 or (done.status == 1 and findings and _complete(done.out, units))
    if ended:
        got = by_unit(done.out)
        return [
            _judge_one(u, target, said[u.number], got.get(u.number, []), want.get(u.number, []))
            for u in units
        ]
    refused = [u for u in units if said[u.number].refused]
    rest = [u for u in units if u not in refused]
    if refused:
        verdicts = [_judge_one(u, target, said[u.number], [], [""]) for u in refused]
    elif len(units) == 1:
        status = "no end" if done.status is None else f"status {done.status}"
        return [Verdict(units[0], target, "crash", f"{status}: {done.err.strip()[-1500:]}")]
    else:
        verdicts = judge(rest[: len(rest) // 2], target, parts=parts, options=options)
        rest = rest[len(rest) // 2 :]
    return verdicts + (judge(rest, target, parts=parts, options=options) if rest else [])


def _complete(out: str, units: Sequence[Unit]) -> bool:
    """Whether the program got as far as its last unit's output."""
    return units[-1].number in by_unit(out)
