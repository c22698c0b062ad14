"""
The passes that make GPU code faster leave results alone: programs on the simulated GPU, which also
checks every access, and on the host with the passes forced on. Outputs are gcc's, serially.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tools import commands

PROGRAMS = Path(__file__).parent / "programs"
FORCED = {
    "atomics": ["privatise-atomics{target=nvptx}"],
    "rows": ["choose-lanes{target=nvptx}"],
    "invariant": [],
    "combined": ["group-combined-subscripts{target=nvptx reassociate=true versions=false}"],
}


def _run(name: str, target: str, options: list[str]) -> subprocess.CompletedProcess[str]:
    command = ["accrun", "--target", target]
    for option in options:
        command += ["--pass-option", option]
    source = str(PROGRAMS / f"{name}.c")
    return commands.run([*command, source], timeout=120)


@pytest.mark.parametrize("name", FORCED)
@pytest.mark.sampled(2)
def test_on_the_simulator(name: str):
    done = _run(name, "sim", [])
    assert done.returncode == 0, done.stderr
    assert done.stdout == (PROGRAMS / f"{name}.out").read_text()


@pytest.mark.parametrize("name", FORCED)
@pytest.mark.sampled(2)
def test_on_the_host(name: str):
    done = _run(name, "host", FORCED[name])
    assert done.returncode == 0, done.stderr
    assert done.stdout == (PROGRAMS / f"{name}.out").read_text()


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("atomics", "privatise-atomics{copies=1}"),
        ("atomics", "privatise-atomics{copies=2 gangs=3}"),
        ("rows", "choose-lanes{elements=1}"),
        ("rows", "choose-lanes{elements=3}"),
        ("combined", "group-combined-subscripts{reassociate=true}"),
        ("combined", "group-combined-subscripts{reassociate=true versions=false}"),
        ("combined", "group-combined-subscripts{reassociate=true versions=false side=4}"),
        (
            "combined",
            "group-combined-subscripts{reassociate=true versions=false lanes=1 elements=4}",
        ),
        ("combined", "group-combined-subscripts{side=1}"),
    ],
)
def test_options_change_nothing_but_speed(name: str, option: str):
    done = _run(name, "sim", [option])
    assert done.returncode == 0, done.stderr
    assert done.stdout == (PROGRAMS / f"{name}.out").read_text()


def test_sums_in_order_have_every_bit():
    done = _run("combined_in_order", "sim", [])
    assert (done.returncode, done.stdout) == (0, "0 wrong\n"), done.stdout + done.stderr


def _ptx(name: str) -> str:
    return _ptx_of(PROGRAMS / f"{name}.c")


def _ptx_of(source: Path, *options: str) -> str:
    done = commands.run(["accopt", "--emit", "ptx", *options, source], timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_counters_are_in_shared_memory_and_input_is_wide():
    ptx = _ptx("atomics")
    assert "atom.shared.add" in ptx or "red.shared.add" in ptx
    assert "ld.global.v2.b64" in ptx or "ld.global.nc.v2.b64" in ptx


def test_lanes_of_a_row_shuffle_in_segments_without_barriers():
    ptx = _ptx("rows").split("// -- End function")
    first = next(part for part in ptx if ".entry spmv" in part).split(".visible .entry")[1]
    assert ".reqntid 4, 64, 1" in first
    assert "shfl.sync" in first and "bar.sync" not in first
    assert len(re.findall(r"ld\.global(\.nc)?\.b64", first)) >= 8, "four entries side by side"


def test_groups_load_sixteen_bytes_at_a_time(tmp_path: Path):
    text, source = (PROGRAMS / "combined.c").read_text(), tmp_path / "products.c"
    source.write_text(text[: text.index("static void masks")].replace("static void", "void"))

    def loads(*options: str) -> int:
        kernel = _ptx_of(source, *options).split(".entry products")[1].split(".entry")[0]
        return len(re.findall(r"ld\.global(\.nc)?\.v4\.b32", kernel))

    assert loads("--fast-math") >= 2
    assert loads() >= 2, "in order, both factors come by shared memory"
