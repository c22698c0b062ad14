"""The command lines of the drivers: exit statuses, and messages that name the mistake."""

from __future__ import annotations

from pathlib import Path

import pytest
from accopt.compiler.drivers import accc_main, accopt_main, accrun_main

PROGRAM = str(Path(__file__).parent.parent.parent / "examples" / "saxpy.c")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "/no/such/folder/out.mlir"], "cannot write '/no/such/folder/out.mlir'"),
        (["--emit=optimised"], "there is no stage 'optimised'"),
        (["--emit=ptx", "--target=host"], "no PTX"),
        (["--emit=data", "--pass-option=schedule{rows=2}"], "'schedule' is not a pass"),
        (["--emit=scheduled", "--pass-option=schedule-loops{row=2}"], '"row"'),
        (["--emit=data", "--after=start:canonicalize"], "'start' is not a stage"),
        (["--emit=data", "--after=data:no-such-pass"], "no-such-pass"),
        (["-p", "schedule-loops{"], "cannot read the passes"),
    ],
)
def test_mistakes_exit_with_1(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert accopt_main.main([PROGRAM, *arguments]) == 1
    message = capsys.readouterr().err
    assert message.startswith("error: ") and words in message
    assert "\n    help: " in message


@pytest.mark.parametrize("main", [accopt_main.main, accrun_main.main])
def test_wrong_usage_exits_with_2(main: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(main)
    with pytest.raises(SystemExit) as left:
        main(["--no-such-option", PROGRAM])
    assert left.value.code == 2
    assert "usage: acc" in capsys.readouterr().err


@pytest.mark.parametrize("main", [accopt_main.main, accrun_main.main])
def test_help_explains_every_option(main: object, capsys: pytest.CaptureFixture[str]) -> None:
    assert callable(main)
    with pytest.raises(SystemExit) as left:
        main(["--help"])
    assert left.value.code == 0
    assert "Exit status" in capsys.readouterr().out


def test_a_source_that_is_not_utf8(tmp_path: Path) -> None:
    source = tmp_path / "latin1.c"
    source.write_bytes(b"/* \xfc */ int f(void) { return 1; }\n")
    assert accopt_main.main([str(source), "-o", str(tmp_path / "out.mlir")]) == 0


def test_a_dash_is_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert accopt_main.main([PROGRAM, "--emit=acc", "-o", "-"]) == 0
    assert "acc.parallel" in capsys.readouterr().out
    assert accc_main.main(["-E", PROGRAM, "-o", "-"]) == 0
    assert "void saxpy(" in capsys.readouterr().out
    assert accc_main.main(["-c", PROGRAM, "-o", "-"]) == 2
    assert "not written to standard output" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_output_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.mlir"
    assert accopt_main.main([PROGRAM, "-o", str(out)]) == 0
    assert capsys.readouterr().out == ""
    assert "acc.parallel" in out.read_text()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("ACC_DEVICE_TYPE", "radeon", "set it to nvidia, host or default"),
        ("ACC_DEVICE_NUM", "7", "there is no device 7"),
        ("ACC_PROFLIB", "/nowhere.so", "'/nowhere.so' cannot be used"),
    ],
)
def test_environment_variables_that_ask_for_the_impossible(
    name: str,
    value: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = tmp_path / "p.c"
    program.write_text("int main(void)\n{\n#pragma acc parallel\n    { }\n    return 0;\n}\n")
    monkeypatch.setenv("ACC_DEVICE_TYPE", "host")
    monkeypatch.setenv(name, value)
    assert accrun_main.main([str(program)]) == 1
    assert message in capsys.readouterr().err


_PREPROCESSED = '# 1 "one.c"\nint f(void) { return 1; }\n'


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("one.i", []),
        ("one.txt", ["-x", "c"]),
        ("one", ["-xcpp-output"]),
        ("one.c", ["-x", "cpp-output", "--sm", "80", "-p", "canonicalize"]),
    ],
)
def test_accopt_takes_c_by_its_language(name: str, arguments: list[str], tmp_path: Path) -> None:
    file, out = tmp_path / name, tmp_path / "out.mlir"
    file.write_text(_PREPROCESSED)
    assert accopt_main.main([*arguments, str(file), "--emit=acc", "-o", str(out)]) == 0
    assert "@f" in out.read_text()


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["-x", "c++"], 2), (["-x"], 2), (["-x", "none"], 1), ([], 1)],
)
def test_accopt_refuses_other_languages(
    arguments: list[str], status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "one.txt"
    file.write_text(_PREPROCESSED)
    command = [str(file), *arguments] if arguments == ["-x"] else [*arguments, str(file)]
    try:
        found = accopt_main.main([*command, "--emit=acc"])
    except SystemExit as end:
        found = end.code
    assert found == status and "error:" in capsys.readouterr().err


def test_routines_of_two_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    levels = ("", " seq", "", " vector")
    file = tmp_path / "levels.c"
    file.write_text("".join(f"#pragma acc routine{level}\nint f(int);\n" for level in levels))
    assert accopt_main.main([str(file), "--emit=acc"]) == 1
    message = capsys.readouterr().err
    assert "levels.c:7:13: error: 'routine' gives 'f' another level" in message
    assert "levels.c:3:13: note: the first one is here" in message
