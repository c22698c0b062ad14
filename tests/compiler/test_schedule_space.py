"""The schedule space as tuners see it, and fewer iterations side by side where registers run out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from accopt.compiler.backend.ptxas import KernelResources
from accopt.compiler.backend.toolkit import find_ptxas
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.c import program as programs
from accopt.compiler.c.program import check_program
from accopt.compiler.compiled import Executable
from accopt.compiler.drivers.accopt_main import main
from accopt.compiler.drivers.schedule_report import render_space, schedule_space
from accopt.compiler.executable import build
from accopt.compiler.kernel_costs import KernelCost, block_sizes, costs_by_place
from accopt.compiler.register_pressure import lower_limits, may_retry, relieve
from accopt.compiler.translate import translate
from accopt.passes.decisions.occupancy import occupancy

SOURCE = """
void nest(int n, int m, float (*restrict a)[m], const float (*restrict b)[m]) {
#pragma acc parallel loop collapse(2) present(a[0:n], b[0:n])
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < m - 1; j++)
      a[i][j] = b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1];
#pragma acc parallel loop present(a[0:n], b[0:n])
  for (int i = 0; i < n; i++) a[0][i] = b[0][i];
}
"""
OPTIONS = CompileOptions(target="nvptx")
needs_ptxas = pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "space.c"
    path.write_text(SOURCE)
    return path


def test_every_listed_schedule_can_be_chosen_and_makes_other_code(source: Path):
    space = {s.key: s for s in schedule_space([source], OPTIONS, costs=False)}
    assert set(space) == {"space.c:3", "space.c:7"}
    texts = [choice.text for choice in space["space.c:3"].choices]
    assert len(set(texts)) == len(texts) >= 10
    programs: set[str] = set()
    for choice in space["space.c:7"].choices:
        option = f'schedule-loops{{choose="space.c:7={choice.number}"}}'
        options = CompileOptions(target="nvptx", opt_level=0, pass_options=(option,))
        programs.add(build([source], options, DiagnosticSink(), cached=False).ptx)
    assert len(programs) == len(space["space.c:7"].choices)


def registers(kernels: tuple[KernelCost, ...]) -> int:
    """Of the kernel that needs most: constructs have several versions."""
    return max(kernel.resources.registers for kernel in kernels)


@needs_ptxas
@pytest.mark.sampled(3)
def test_costs_are_those_that_ptxas_reports(source: Path):
    space = schedule_space([source], OPTIONS)
    rows = {choice.text: choice.kernels for choice in space[0].choices}
    few, many = (
        next(kernels for text, kernels in rows.items() if text.startswith(start))
        for start in ("1x256: gang(dim:2) x2 ", "1x256: gang(dim:2) x32 ")
    )
    assert 256 in {kernel.threads for kernel in few}
    assert "nest_3_kernel" in {kernel.name for kernel in few}
    assert registers(many) > registers(few)
    assert min(k.occupancy.share for k in many) < min(k.occupancy.share for k in few)
    assert "occupancy" in render_space(space)


@needs_ptxas
@pytest.mark.sampled(3)
def test_the_command_prints_the_space(source: Path, capsys: pytest.CaptureFixture[str]):
    assert main(["--schedules", str(source)]) == 0
    printed = capsys.readouterr().out
    assert "space.c:3:\n   0  1x256: gang(dim:2) x4 / gang vector" in printed
    assert "registers, occupancy" in printed


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ('choose="space.c:3=99"', "schedule 99 of 'space.c:3' does not exist"),
        ('choose="space.c:4=1"', "there is no construct 'space.c:4'"),
        ('most="space.c:3"', "cannot read 'space.c:3'"),
    ],
)
def test_wrong_choices(source: Path, option: str, message: str):
    options = CompileOptions(target="nvptx", pass_options=(f"schedule-loops{{{option}}}",))
    with pytest.raises(CompileError, match=message):
        build([source], options, DiagnosticSink(), cached=False)


def test_the_space_is_not_listed_for_the_host_or_under_other_choices(source: Path):
    with pytest.raises(CompileError, match="target 'host' has one schedule"):
        schedule_space([source], CompileOptions(target="host"))
    with pytest.raises(CompileError, match="other options of schedule-loops"):
        options = CompileOptions(target="nvptx", pass_options=("schedule-loops{rows=2}",))
        schedule_space([source], options)


def test_block_sizes_are_read_off_ptx():
    ptx = ".entry f(\n)\n.reqntid 32, 4, 1\n{}\n.entry g(\n)\n.maxntid 256\n{}\n.entry h(\n) {}"
    assert block_sizes(ptx) == {"f": 128, "g": 256, "h": 1024}


def cost(spilled: int, registers: int = 64) -> KernelCost:
    needs = KernelResources(registers, 0, 0, spilled, 0, 0, 0)
    return KernelCost("k", 256, needs, occupancy(90, threads=256, registers=registers, shared=0))


def test_limits_are_halved_where_kernels_are_strained():
    counts = {"a.c:1": 8, "a.c:2": 8, "a.c:3": 1}
    costs = {"a.c:1": (cost(0), cost(16)), "a.c:2": (cost(0),), "a.c:3": (cost(16),)}
    assert lower_limits(counts, {}, costs) == {"a.c:1": 4}
    assert lower_limits(counts, {"a.c:1": 4}, costs) == {"a.c:1": 2}
    assert lower_limits(counts, {"a.c:1": 1}, costs) is None
    assert lower_limits({"a.c:1": 2}, {}, {"a.c:1": (cost(0, 254),)}) is None  # 12.5 % is enough


def program(tag: str, options: CompileOptions) -> Executable:
    return Executable("", tag, (), options)


@pytest.mark.parametrize(("enough", "attempts"), [(4, ["4"]), (1, ["4", "2", "1"])])
def test_programs_are_compiled_again_until_nothing_is_spilled(enough: int, attempts: list[str]):
    tried: list[str] = []

    def rebuild(options: CompileOptions) -> Executable:
        tried.append(options.pass_options[-1].partition("=")[2].split("=")[1].strip('"}'))
        return program(tried[-1], options)

    def costs_of(executable: Executable) -> dict[str, tuple[KernelCost, ...]]:
        return {"a.c:1": (cost(0 if int(executable.ptx) <= enough else 8),)}

    first = program("8", OPTIONS)
    relieved = relieve(first, {"a.c:1": 8}, rebuild, costs_of)
    assert tried == attempts
    assert (relieved.ptx, relieved.options) == (str(enough), OPTIONS)


def test_a_construct_that_always_spills_keeps_its_schedule():
    first = program("8", OPTIONS)
    relieved = relieve(
        first, {"a.c:1": 2}, lambda o: program("1", o), lambda e: {"a.c:1": (cost(8),)}
    )
    assert relieved == first


def test_schedules_that_users_tune_are_theirs():
    assert may_retry(OPTIONS)
    assert not may_retry(CompileOptions(target="host"))
    assert not may_retry(CompileOptions(target="nvptx", opt_level=1))
    tuned = CompileOptions(target="nvptx", pass_options=("schedule-loops{rows=32}",))
    assert not may_retry(tuned)


NAMES = [f"s{k}" for k in range(20)]
SPILLING = f"""
void f(int n, int m, double (*restrict a)[m], const double (*restrict b)[m]) {{
#pragma acc parallel loop collapse(2) present(a[0:n], b[0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {{
      double {", ".join(f"{name} = b[i][j] * {k}" for k, name in enumerate(NAMES))};
      for (int r = 0; r < m; r++) {{
        double t = b[r][j];
        {" ".join(f"{x} = {x} * t + {y};" for x, y in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True))}
      }}
      a[i][j] = {" + ".join(NAMES)};
    }}
}}
"""
"""Twenty doubles a row."""


@needs_ptxas
def test_a_kernel_that_spills_gets_fewer_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It is scheduled again without reading the program again, to what reading it again would give."""
    path = tmp_path / "spill.c"
    path.write_text(SPILLING)
    read: list[None] = []
    scheduled: list[CompileOptions] = []

    def check(*args: Any, **kinds: Any) -> Any:
        read.append(None)
        return check_program(*args, **kinds)

    def translated(module: Any, options: CompileOptions, *rest: Any) -> Executable:
        scheduled.append(options)
        return translate(module, options, *rest)

    raw = CompileOptions(target="nvptx", pass_options=("schedule-loops{rows=8}",))
    (before,) = costs_by_place(build([path], raw, DiagnosticSink(), cached=False))["spill.c:3"]
    monkeypatch.setattr(programs, "check_program", check)
    monkeypatch.setattr("accopt.compiler.translate.translate", translated)
    relieved = build([path], OPTIONS, DiagnosticSink(), cached=False)
    assert len(read) == 1 and len(scheduled) > 1
    limited = build([path], scheduled[-1], DiagnosticSink(), cached=False)
    assert (relieved.ptx, relieved.host_ir) == (limited.ptx, limited.host_ir)
    (after,) = costs_by_place(relieved)["spill.c:3"]
    assert before.resources.spill_stores > 0 or before.occupancy.share < 0.125
    assert after.resources.spill_stores == 0 and after.occupancy.share >= 0.125
