# ruff: noqa: E501 (one directive per line reads better)
"""Which clauses behind device_type hold on a target (OpenACC 3.4, 2.4)."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink, SourceLoc
from accopt.compiler.directives.device_types import present_types, select_clauses
from accopt.compiler.directives.parser import parse_directive


def selected(text: str, target: str) -> list[str]:
    """The clauses that hold, each with its argument's text."""
    directive = parse_directive(" " + text, SourceLoc("t.c", 1, 1), DiagnosticSink())
    select_clauses(directive, target)
    assert not any(clause.device_types for clause in directive.clauses)
    out: list[str] = []
    for clause in directive.clauses:
        args = [slot.text.strip() for slot in getattr(clause, "args", ())]
        out.append(clause.name + (f"({','.join(args)})" if args else ""))
    return out


@pytest.mark.parametrize(
    ("text", "on_gpu", "on_host"),
    [
        ("parallel num_gangs(1)", "num_gangs(1)", "num_gangs(1)"),
        ("parallel num_gangs(1) device_type(nvidia) num_gangs(2)", "num_gangs(2)", "num_gangs(1)"),
        ("parallel device_type(*) num_gangs(3) device_type(host) num_gangs(4)", "num_gangs(3)", "num_gangs(4)"),
        ("parallel device_type(default) async(1) device_type(*) async(2)", "async(1)", "async(1)"),
        ("parallel device_type(default) async(1) device_type(nvidia, multicore) async(2)", "async(2)", "async(2)"),
        ("parallel num_workers(2) device_type(radeon) num_workers(3)", "num_workers(2)", "num_workers(2)"),
        ("parallel num_workers(2) device_type(HOST) vector_length(8)", "num_workers(2)", "num_workers(2) vector_length(8)"),
        ("loop gang vector device_type(host) seq", "gang vector", "seq"),
        ("loop independent device_type(nvidia) seq", "seq", "independent"),
        ("loop seq device_type(nvidia) gang(static:*) vector", "gang vector", "seq"),
        ("routine seq device_type(nvidia) vector", "vector", "seq"),
        ("update self(x) wait(1) device_type(nvidia) wait(2) async", "self wait async", "self wait"),
    ],
)  # fmt: skip
def test_selection(text: str, on_gpu: str, on_host: str) -> None:
    assert selected(text, "nvptx") == on_gpu.split()
    assert selected(text, "sim") == on_gpu.split()
    assert selected(text, "host") == on_host.split()


@pytest.mark.parametrize(
    ("types", "target", "kept"),
    [
        (("host", "nvidia"), "host", ("host",)),
        (("radeon", "nvidia", "multicore"), "nvptx", ("nvidia", "multicore")),
        (("radeon", "nvidia"), "host", ("radeon", "nvidia")),
        (("*",), "sim", ("*",)),
    ],
)
def test_types_that_a_program_has(
    types: tuple[str, ...], target: str, kept: tuple[str, ...]
) -> None:
    assert present_types(types, target) == kept


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("init device_type(host, foo)", "unknown device type 'foo'"),
        ("shutdown device_type(host, *)", "'*' beside other device types"),
        ("init device_type(host,)", "expected a device type"),
        ("set device_type(host, nvidia)", "takes one device type here"),
        ("set device_type(*)", "unknown device type '*'"),
    ],
)
def test_lists_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        parse_directive(text, SourceLoc("a.c", 1, 13))
    assert message in caught.value.diagnostics[0].message
