"""What the driver shows of passes: before and after, changes, times, failures, and what it says of them."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from accopt.compiler import added_passes
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.drivers import accopt_main
from accopt.compiler.drivers.instrumentation import changed_lines
from accopt.compiler.pipeline import pipeline_passes
from accopt.passes.registry import PASS_CLASSES
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block
from xdsl.passes import ModulePass

PROGRAM = str(Path(__file__).parents[2] / "examples" / "saxpy.c")
SILENT = ["-o", "/dev/null"]


@dataclass(frozen=True)
class SpoilPass(ModulePass):
    """Changes the module, then fails; or leaves it invalid."""

    name = "spoil"
    crash: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        op.attributes["spoiled"] = StringAttr("yes")
        if self.crash:
            raise KeyError("the counter")
        op.body.add_block(Block())


@pytest.fixture
def spoil(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(added_passes, "all_passes", lambda: {"spoil": lambda: SpoilPass})


def accopt(*arguments: str) -> int:
    return accopt_main.main([PROGRAM, *arguments])


def test_ir_around_named_passes(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = (
        "--print-before",
        "schedule-loops",
        "--print-after",
        "schedule-loops,split-kernels",
    )
    assert accopt("--emit=scheduled", *arguments, *SILENT) == 0
    shown = capsys.readouterr().err
    titles = re.findall(r"// IR (\w+ [\w-]+):", shown)
    assert titles == ["after split-kernels", "before schedule-loops", "after schedule-loops"]
    before, after = shown.split("// IR after schedule-loops:")
    assert "gang vector" not in before and "gang vector" in after


def test_ir_around_all_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert accopt("--emit=data", "--print-before-all", "--print-after-all", *SILENT) == 0
    titles = re.findall(r"// IR (\w+) ([\w-]+):", capsys.readouterr().err)
    names = [made.name for made in pipeline_passes(CompileOptions(target="nvptx"))["data"]]
    assert titles == [(when, name) for name in names for when in ("before", "after")]


def test_a_pass_that_does_not_run_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert accopt("--print-after=widen-rows", *SILENT) == 0
    assert "// widen-rows did not run" in capsys.readouterr().err
    assert accopt("--print-after=widen-row", *SILENT) == 1
    assert "there is no pass 'widen-row'" in capsys.readouterr().err


def test_changes_of_each_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert accopt("--emit=scheduled", "--print-changes", *SILENT) == 0
    shown = capsys.readouterr().err
    assert "// tile-loops changes nothing\n" in shown
    changes = shown.partition("// schedule-loops changes:\n")[2]
    assert re.search(r"^-.*acc.loop combined\(parallel\) control", changes, re.MULTILINE)
    assert re.search(r"^\+.*acc.loop combined\(parallel\) gang vector", changes, re.MULTILINE)
    assert "@main" not in changes, "renumbered values are no change"


def test_values_with_other_numbers_are_shown_only_where_nothing_else_changed() -> None:
    assert changed_lines(["%a_1 = f", "g(%3)"], ["%a_1 = f", "g(%3)"]) == []
    renumbered = changed_lines(["%a_1 = f", "g(%3)"], ["%a_2 = f", "h", "g(%4)"])
    assert renumbered == ["@@ line 1", " %a_2 = f", "+h", " g(%4)"]
    assert changed_lines(["g(%x_1)"], ["g(%x_2)"]) == ["@@ line 1", "-g(%x_1)", "+g(%x_2)"]


def test_times_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where nothing is kept
    assert accopt("--emit=ptx", "--timing", *SILENT) == 0
    rows = re.findall(
        r"^ *([\d.]+) +(-?[\d.]+) +[\d.]+ % +\d+  ( *)(.+)$", capsys.readouterr().err, re.MULTILINE
    )
    own = {name: float(time) for _, time, _, name in rows}
    passes = pipeline_passes(CompileOptions(target="nvptx")).values()
    phases = {"(loading)", "preprocess", "parse", "check", "generate IR", "LLVM IR of kernels"}
    assert own.keys() >= {*phases, *(p.name for s in passes for p in s)}
    (total, _, _, first), *rest = rows
    assert first == "total"
    assert sum(float(time) for _, time, _, _ in rows) == pytest.approx(float(total), abs=0.1)
    top = [float(time) for time, _, depth, _ in rest if len(depth) == 2]
    assert top == sorted(top, reverse=True)


def test_what_a_pass_would_get(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "before.mlir"
    assert accopt("--stop-before=schedule-loops", "--print-debuginfo", "-o", str(saved)) == 0
    assert "gang vector" not in saved.read_text()
    assert accopt_main.main([str(saved), "-p", "schedule-loops"]) == 0
    assert "gang vector" in capsys.readouterr().out
    assert accopt_main.main([str(saved), "--emit=ptx"]) == 0
    continued = capsys.readouterr().out
    assert accopt("--emit=ptx") == 0 and capsys.readouterr().out == continued
    assert accopt("--emit=data", "--stop-before=schedule-loops") == 1
    assert "'schedule-loops' is not a pass" in capsys.readouterr().err


@pytest.mark.usefixtures("spoil")
def test_a_failing_pass_leaves_what_it_began_with(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    saved = tmp_path / "failed.mlir"
    assert accopt("-p", "spoil", "--crash-reproducer", str(saved)) == 1
    message = capsys.readouterr().err
    assert "internal error in the pass 'spoil' of test" in message
    assert "(KeyError: 'the counter')" in message
    command, reason, text = saved.read_text().split("\n", 2)
    assert command == f"// accopt {saved} -p 'spoil'" and command.removeprefix("// ") in message
    assert reason == "// KeyError: 'the counter'" and "spoiled" not in text
    assert accopt_main.main([str(saved), "-p", "spoil"]) == 1
    assert 'saxpy.c":7' in text, "C lines stay known"
    assert accopt("-p", "spoil", "--crash-reproducer", str(tmp_path)) == 1
    assert "give --crash-reproducer another path" in capsys.readouterr().err


@pytest.mark.usefixtures("spoil")
def test_invalid_ir_names_the_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert accopt("--emit=data", "--after=acc:spoil{crash=false}", "--verify-each") == 1
    assert "the pass 'spoil' left invalid IR" in capsys.readouterr().err
    assert accopt("--emit=data", "--after=data:spoil{crash=false}", "--verify") == 1
    message = capsys.readouterr().err
    assert "one of the passes to stage 'data' left invalid IR" in message
    assert "--verify-each says which" in message


@pytest.mark.parametrize("target", ["nvptx", "host"])
@pytest.mark.sampled(2)
def test_every_pass_leaves_valid_ir(target: str) -> None:
    source = Path(__file__).parents[1] / "passes" / "programs" / "stencils.c"
    arguments = [str(source), f"--target={target}", "--emit=nvvm", "--verify-each", *SILENT]
    assert accopt_main.main(arguments) == 0


def test_a_pass_can_be_left_out(capfd: pytest.CaptureFixture[str]) -> None:
    assert accopt("--emit=transformed", "--skip-pass=jam-outer-iterations") == 0
    assert accopt("--emit=scheduled", "--skip-pass=schedule-loops") == 1
    message = capfd.readouterr().err
    assert "stage 'scheduled' cannot be reached without schedule-loops" in message
    assert "saxpy.c:7" in message
    assert accopt("--skip-pass=schedule-loop") == 1
    assert "did you mean 'schedule-loops'?" in capfd.readouterr().err
    command = [
        sys.executable,
        "-m",
        "accopt.compiler.drivers.accrun_main",
        PROGRAM,
        "--target=host",
    ]
    ran = subprocess.run([*command, "--skip-pass=infer-data-regions", "--", "100"], check=False)
    assert ran.returncode == 0 and "0 wrong" in capfd.readouterr().out


def test_every_pass_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    for name in PASS_CLASSES:
        assert accopt_main.main(["--help-pass", name]) == 0
        shown = capsys.readouterr().out
        assert shown.startswith(name) and ("\nOptions:\n" in shown or "\nNo options." in shown)
        assert "<class" not in shown and "typing." not in shown
    assert accopt_main.main(["--help-pass", "schedule-loops"]) == 0
    assert (
        "\n  target=nvptx | host (default: from the module's machine attribute)\n"
        in capsys.readouterr().out
    )
    assert accopt_main.main(["--help-pass", "widen-row"]) == 1
    assert "did you mean 'widen-rows'?" in capsys.readouterr().err


def test_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert accopt_main.main(["--list-passes"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.split("\n\n")[0].splitlines()]
    assert names == list(PASS_CLASSES)
    assert accopt_main.main(["--list-stages", "--target=host", "--skip-pass=tile-loops"]) == 0
    shown = capsys.readouterr().out
    assert (
        "\nhost\n" in shown
        and "\n    schedule-loops\n" in shown
        and "#accx.machine<host, 0>" in shown
    )
    assert "tile-loops" not in shown


def test_pieces_of_a_split_file_keep_their_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces = tmp_path / "pieces.mlir"
    pieces.write_text("builtin.module {}\n// -----\n\nbuiltin.module {\n  no.such\n}\n")
    assert accopt_main.main([str(pieces), "--split-input-file"]) == 1
    assert f"{pieces}:6:" in capsys.readouterr().err


def test_generic_syntax_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert accopt("--print-op-generic") == 0
    assert '"acc.parallel"(' in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        accopt_main.main(["--version"])
    assert left.value.code == 0 and "xDSL 0." in capsys.readouterr().out


@pytest.mark.sampled(2)
def test_programs_tell_where_their_start_went(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`accrun --timing` and `accc --timing`: phases, and what the caches had the second time."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    source = tmp_path / "prog.c"
    source.write_text("int main(void) { return 0; }\n")
    folder = Path(sys.executable).parent

    def said(*command: str) -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert not done.stdout
        return done.stderr

    accrun = str(folder / "accrun"), "--timing", "--target=host", str(source)
    first, second = said(*accrun), said(*accrun)
    assert re.search(r" generate IR$", first, re.MULTILINE)
    assert "load the program" in second and "generate IR" not in second
    assert re.search(r" 0 +1 +0\.0  program$", first, re.MULTILINE)
    assert re.search(r" 1 +0 +\d+\.\d  program$", second, re.MULTILINE)
    assert "in all: (loading)" in second
    accc = str(folder / "accc"), "--timing", "--target=host", str(source)
    assert "write the executable" in said(*accc, "-o", str(tmp_path / "prog"))
