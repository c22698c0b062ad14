"""Options about messages: which warnings are shown, which of them are errors, and in what form."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from accopt.compiler.base.diagnostics import CompileError, Diagnostic, Severity, SourceLoc, warning
from accopt.compiler.drivers import reporting

PLACE = SourceLoc("t.c", 3, 5)
NAMED = warning(PLACE, "a", "do b", [(SourceLoc("t.c", 1, 1), "here")], option="format")
UNNAMED = warning(PLACE, "c")
MISTAKE = Diagnostic(Severity.ERROR, PLACE, "d")
ALL = (NAMED, UNNAMED, MISTAKE)


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    reporting.take_options([])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", "warning a, warning c, error d"),
        ("-w", "error d"),
        ("-Wno-format", "warning c, error d"),
        ("-Wno-format -Wformat", "warning a, warning c, error d"),
        ("-Werror", "error a, error c, error d"),
        ("-Werror -Wno-error=format", "warning a, error c, error d"),
        ("-Werror=format", "error a, warning c, error d"),
        ("-Werror -w", "error d"),
        ("-Werror -fmax-errors=2", "error a, error c"),
        (
            "-Wsomething-else -Wno-anything -Wc++-compat -Wnormalized=nfc -Wformat=2",
            "warning a, warning c, error d",
        ),
    ],
)
def test_what_is_shown(options: str, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reporting.take_options([*options.split(), "-O2", "-Wall", "x.c"]) == [
        "-O2",
        "-Wall",
        "x.c",
    ]
    reporting.take_options([*options.split(), "-fdiagnostics-format=json"])
    reporting.report(ALL)
    shown = json.loads(capsys.readouterr().err)
    assert ", ".join(f"{each['kind']} {each['message']}" for each in shown) == expected


def test_options_of_other_tools_stay() -> None:
    rest = ["-Wl,-rpath,x", "-Wp,-D", "-Wall", "-c", "--", "-w"]
    assert reporting.take_options(rest) == rest


@pytest.mark.parametrize(
    "option", ["-fdiagnostics-format=xml", "-fdiagnostics-color=red", "-fmax-errors=few"]
)
def test_values_that_do_not_exist(option: str) -> None:
    with pytest.raises(CompileError):
        reporting.take_options([option])
    with pytest.raises(SystemExit, match="2"):
        reporting.options_or_leave(lambda _: reporting.take_options([option]))


def test_warnings_that_fail() -> None:
    reporting.take_options(["-Werror=format"])
    with pytest.raises(CompileError):
        reporting.require_no_failing([NAMED])
    reporting.require_no_failing([UNNAMED])


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    reporting.take_options(["-fdiagnostics-format=json"])
    reporting.report([NAMED])
    assert json.loads(capsys.readouterr().err) == [
        {
            "kind": "warning",
            "message": "a",
            "locations": [{"caret": {"file": "t.c", "line": 3, "column": 5}}],
            "children": [
                {
                    "kind": "note",
                    "message": "here",
                    "locations": [{"caret": {"file": "t.c", "line": 1, "column": 1}}],
                }
            ],
            "option": "-Wformat",
            "help": "do b",
        }
    ]


def test_sarif(capsys: pytest.CaptureFixture[str]) -> None:
    reporting.take_options(["-fdiagnostics-format=sarif-stderr"])
    reporting.report(ALL)
    log = json.loads(capsys.readouterr().err)
    (run,) = log["runs"]
    assert (log["version"], run["tool"]["driver"]["name"]) == ("2.1.0", "accopt")
    first, _, last = run["results"]
    assert (first["level"], first["ruleId"], last["level"]) == ("warning", "-Wformat", "error")
    place = last["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "t.c"
    assert place["region"] == {"startLine": 3, "startColumn": 5}


def test_colours(capsys: pytest.CaptureFixture[str]) -> None:
    reporting.report([NAMED])
    plain = capsys.readouterr().err
    reporting.take_options(["-fdiagnostics-color"])
    reporting.report([NAMED])
    coloured = capsys.readouterr().err
    assert "\033" not in plain and "\033[1;35mwarning: \033[0ma [-Wformat]" in coloured
