"""Random nests in the style of applications do what serial C does; and the fuzzer sees when they do not."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from .applications.choose import programs
from .applications.execute import Done, has_gcc, serial
from .applications.judge import FAILURES, Verdict, by_unit, judge, messages, names_a_scalar
from .applications.model import OPERATORS, Accumulator, Loop, Temporary, Unit
from .applications.operators import spellings
from .applications.programs import program
from .applications.report import table
from .applications.rules import complete, problem, wrong_by_itself
from .applications.shrink import shrink
from .conftest import Rotation

SEED = 20
SLOW = range(1000, 1200)


def check(units: list[Unit], target: str) -> None:
    failed = [v for v in judge(units, target, parts=2) if v.word in FAILURES]
    assert not failed, "\n".join(f"{v.unit.number} {v.word}: {v.detail}" for v in failed)


def test_of_the_day(rotation: Rotation) -> None:
    rotation.run(lambda seed, target, folder: check(programs(seed, 0, 3), target))


@pytest.mark.slow
@pytest.mark.parametrize("target", ["host", "sim"])
@pytest.mark.parametrize("first", SLOW[::4])
def test_many(first: int, target: str) -> None:
    check([unit for p in range(first, first + 4) for unit in programs(SEED, p, 3)], target)


@pytest.mark.gpu
@pytest.mark.parametrize("first", range(0, 24, 6))
def test_on_gpu(first: int) -> None:
    """In a process of its own: children of one that has looked for GPUs cannot use them."""
    numbers = ["--seed", str(SEED), "--first", str(first), "--count", "6", "--shrink", "0"]
    command = [sys.executable, "-m", "tests.fuzz.applications", "--target", "nvptx", *numbers]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stdout + done.stderr


# The generator


def nest(**changes: object) -> Unit:
    """Two loops, a sum, and a temporary of the outer one."""
    loops = (Loop(8, True), Loop(70, True))
    total = Accumulator("s", "int", "+", "total", 0, (1,), named=(0, 1))
    temporary = Temporary("t", "int", 0, "plain", named=(0,))
    base = Unit(0, 1, "parallel", True, loops, (total,), (temporary,))
    return replace(base, **changes)  # type: ignore[arg-type]


def test_a_seed_is_a_program() -> None:
    one, other = (program(programs(SEED, 3, 3), 2).files for _ in range(2))
    assert one == other
    assert one != program(programs(SEED, 4, 3), 2).files


def test_everything_is_generated() -> None:
    units = [unit for p in range(400) for unit in programs(SEED, p, 3)]
    accumulators = [a for unit in units for a in unit.accumulators]
    for operator in OPERATORS:
        assert len({a.spelling for a in accumulators if a.operator == operator}) > 1
    assert {a.kind for a in accumulators} == {"total", "inner", "prefix", "carried", "flag"}
    assert {a.data for a in accumulators} == {"", "copy", "region", "update", "enter", "declare"}
    assert {s.storage for u in units for s in (*u.accumulators, *u.temporaries)} == {
        *("top", "static", "file", "extern", "parameter"),
    }
    assert {(u.construct, u.combined) for u in units} == {
        (c, b) for c in ("parallel", "kernels", "serial") for b in (False, True)
    }
    assert {unit.depth for unit in units} == {1, 2, 3, 4}
    assert {w for u in units for loop in u.loops for w in loop.words} == {
        "seq",
        "auto",
        "independent",
    }
    assert {unit.construct for unit in units if complete(unit)} == {"parallel", "kernels", "serial"}


UNDETERMINED = {
    "gangs repeat a vector loop": nest(loops=(Loop(8, True, ("vector",)), Loop(70, True))),
    "gangs repeat an update": nest(
        loops=(Loop(8, True), Loop(70, True, ("gang",))),
        accumulators=(Accumulator("s", "int", "+", "total", 0, (0, 1)),),
    ),
    "levels out of order": nest(
        loops=(Loop(8, True, ("gang", "vector")), Loop(70, True, ("worker",)))
    ),
    "a statement between collapsed loops": nest(
        loops=(Loop(8, True, together="collapse(2)"), Loop(70, False))
    ),
    "private inside": nest(temporaries=(Temporary("t", "int", 0, "plain", named=(1,)),)),
    "a last value under parallel": nest(
        temporaries=(Temporary("t", "int", 0, "plain", after=True),)
    ),
}


@pytest.mark.parametrize("name", UNDETERMINED)
def test_what_has_no_single_answer_is_not_generated(name: str) -> None:
    assert problem(nest()) is None
    assert problem(UNDETERMINED[name]) is not None


def test_what_only_a_message_answers() -> None:
    prefix = Accumulator("s", "int", "+", "prefix", 0, (1,))
    in_order = nest(construct="kernels", accumulators=(prefix,), temporaries=())
    assert problem(in_order) is None and not wrong_by_itself(in_order)
    assert wrong_by_itself(replace(in_order, construct="parallel"))
    assert wrong_by_itself(in_order.with_loop(0, words=("independent",)))


@pytest.mark.skipif(not has_gcc(), reason="gcc is not installed")
@pytest.mark.parametrize("operator", OPERATORS)
def test_all_spellings_compute_one_thing_in_any_order(operator: str, tmp_path: Path) -> None:
    """Loops upwards and downwards agree, for every type and spelling: the order does not matter."""
    forms = [(t, k) for t in OPERATORS[operator] for k in range(len(spellings(operator, t)))]
    units = [
        nest(
            number=2 * n + down,
            accumulators=(Accumulator("s", type_, operator, "total", k, (1,)),),
            loops=(Loop(8, True, form=2 * down), Loop(70, True, form=2 * down)),
        )
        for n, (type_, k) in enumerate(forms)
        for down in (0, 1)
    ]
    printed = by_unit(serial(program(units, 0).write(tmp_path)))
    for unit in units[::2]:
        assert printed[unit.number][0] == printed[unit.number + 1][0], unit.accumulators


# What judges


def test_a_wrong_answer_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    from .applications import judge as module

    def altered(paths: list[Path], target: str, options: object) -> Done:
        return Done(0, serial(paths).replace("0 s ", "0 s 1"), "")

    monkeypatch.setattr(module, "accrun", altered)
    other = replace(nest(), number=1)
    assert [v.word for v in judge([nest(), other], "host")] == ["wrong", "right"]


def test_messages_belong_to_their_unit() -> None:
    source = program([nest(), replace(nest(), number=1)], 1)
    line = next(n for (_, n), owner in source.owners.items() if owner == 1)
    said = messages(
        source,
        f"/tmp/x/part0.c:{line}:3: warning: 's' is what\npart0.c:{line}: error: in kernel k: data race\n",
    )
    assert (len(said[1].compiler), len(said[1].simulator), said[1].refused) == (1, 1, False)
    assert not said[0].compiler
    assert names_a_scalar(nest(), said[1].compiler)
    assert not names_a_scalar(nest(), ["error: 'a2' has no extent", "warning: this is a loss"])


def test_a_program_that_dies_is_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    from .applications import judge as module

    def dies(paths: list[Path], target: str, options: object) -> Done:
        bad = any("nest_1(" in path.read_text() for path in paths)
        return Done(-11, "", "") if bad else Done(0, serial(paths), "")

    monkeypatch.setattr(module, "accrun", dies)
    units = [replace(nest(), number=n) for n in range(3)]
    verdicts = {v.unit.number: v.word for v in judge(units, "host")}
    assert verdicts == {0: "right", 1: "crash", 2: "right"}


def test_a_failing_unit_is_made_smaller() -> None:
    unit = next(
        u for p in range(200) for u in programs(SEED, p, 3)
        if u.depth == 4 and len(u.accumulators) == 2 and any(a.operator == "max" for a in u.accumulators)
    )  # fmt: skip
    small = shrink(unit, lambda u: any(a.operator == "max" for a in u.accumulators), tries=500)
    assert problem(small) is None
    assert (small.depth, len(small.accumulators), len(small.temporaries), small.chains) == (
        1,
        1,
        0,
        1,
    )


def test_the_table_counts_programs_by_their_worst_nest() -> None:
    words = ["right", "message", "right", "right", "right", "right"]
    verdicts = [Verdict(replace(nest(), number=n), "host", w) for n, w in enumerate(words)]
    lines = [line.split() for line in table(verdicts, 3).splitlines()]
    assert lines[1] == ["host", "programs", "1", "1", "0", "0", "0"]
    assert lines[2] == ["host", "nests", "5", "1", "0", "0", "0"]
