"""Every directive with every clause: legal ones parse, all others are refused by name."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink, SourceLoc
from accopt.compiler.directives.parser import parse_directive
from accopt.compiler.directives.records import (
    BindClause,
    Clause,
    DefaultClause,
    DeviceTypeClause,
    Directive,
    DirectiveKind,
    ExprClause,
    FlagClause,
    GangClause,
    PeerClause,
    ReductionClause,
    ScanClause,
    TileClause,
    VarListClause,
    WaitClause,
)
from accopt.compiler.directives.rules import (
    ALIASES,
    ALL_MODIFIERS,
    DEPRECATED,
    DIRECTIVES,
    PEER_CLAUSES,
    Form,
    aliases_on,
    exclusive_on,
    modifiers_of,
)

LOC = SourceLoc("f.c", 7, 12)

ARGUMENTS: dict[Form, tuple[tuple[str, type[Clause]], ...]] = {
    Form.FLAG: (("", FlagClause),),
    Form.EXPR: (("(n + f(1, 2))", ExprClause), ("(a ? b : c)", ExprClause)),
    Form.OPTIONAL_EXPR: (("(n)", ExprClause),),
    Form.SIZES: (("(4)", ExprClause), ("(x, y, z)", ExprClause)),
    Form.VARS: (("(a, b[0:n], s.x, p->q[i].r[1:2][:])", VarListClause),),
    Form.NAMES: (("(a, b)", VarListClause),),
    Form.SECTIONS: (("(a[0:n:-1.0:1.0], b[0:n], c)", VarListClause),),
    Form.REDUCTION: (("(+: s, t[0:4])", ReductionClause), ("(max: s)", ReductionClause)),
    Form.GANG: (("", GangClause), ("(static: *)", GangClause)),
    Form.WORKER: (("", ExprClause),),
    Form.VECTOR: (("", ExprClause),),
    Form.ROUTINE_GANG: (("", GangClause), ("(dim: 2)", GangClause)),
    Form.COLLAPSE: (("(2)", ExprClause), ("(force: 2)", ExprClause)),
    Form.TILE: (("(4, *, n)", TileClause),),
    Form.WAIT: (("", WaitClause), ("(1, q)", WaitClause), ("(devnum:1:queues:2)", WaitClause)),
    Form.DEFAULT: (("(none)", DefaultClause), ("(present)", DefaultClause)),
    Form.DEVICE_TYPE: (("(NVIDIA)", DeviceTypeClause),),
    Form.DEVICE_TYPES: (("(NVIDIA)", DeviceTypeClause), ("(*)", DeviceTypeClause)),
    Form.BIND: (("(g)", BindClause), ('("g")', BindClause)),
    Form.SCAN: (("(+: a, b, 0, n)", ScanClause),),
    Form.PEER_SECTION: (("(a[0:n])", PeerClause),),
    Form.PEER_DEVICE: (("(1)", PeerClause),),
}

# What a directive needs besides the clause under test, and what stands before its clauses.
HEADS = {DirectiveKind.CACHE: "(a[0:4])"}
NEEDED = {
    DirectiveKind.DATA: "copy(needed)",
    DirectiveKind.ENTER_DATA: "create(needed)",
    DirectiveKind.EXIT_DATA: "delete(needed)",
    DirectiveKind.HOST_DATA: "use_device(needed)",
    DirectiveKind.DECLARE: "link(needed)",
    DirectiveKind.UPDATE: "self(needed)",
    DirectiveKind.SET: "device_num(0)",
}
ALL_CLAUSES = sorted({name for rule in DIRECTIVES.values() for name in rule.clauses})
LEGAL = [
    (kind, name, argument, cls)
    for kind, rule in DIRECTIVES.items()
    for name, form in rule.clauses.items()
    for argument, cls in ARGUMENTS[form]
]
ILLEGAL = [
    (kind, name)
    for kind, rule in DIRECTIVES.items()
    for name in (*ALL_CLAUSES, *PEER_CLAUSES)
    if name not in {**rule.clauses, **rule.tolerated}
    and not (name == "device_type" and rule.after_device_type)
    and not (name == "device" and "deviceid" in rule.clauses)
    and not (name in ("device", "deviceid") and "device_num" in aliases_on(kind).values())
]


def parse(text: str, sink: DiagnosticSink | None = None) -> Directive:
    return parse_directive(text, LOC, sink)


def fails(text: str) -> tuple[str, int]:
    """The message and the offset in `text` of the error it causes."""
    with pytest.raises(CompileError) as caught:
        parse(text)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.loc.file == "f.c"
    assert diagnostic.loc.line == 7
    return diagnostic.message, diagnostic.loc.column - LOC.column


def with_needs(kind: DirectiveKind, clause: str, name: str) -> str:
    needed = "" if name in DIRECTIVES[kind].needs else NEEDED.get(kind, "")
    return f" {kind.value}{HEADS.get(kind, '')} {needed} {clause}"


# OpenACC 3.4, 2.5 to 2.16, written down independently of rules.py.
_DATA = "copy copyin copyout create no_create present deviceptr attach"
_COMPUTE = f"{_DATA} async wait if self default private firstprivate reduction"
_LOOP = "collapse gang worker vector seq auto independent tile private reduction"
_KERNELS = f"{_DATA} async wait if self default num_gangs num_workers vector_length"
STANDARD = {
    "parallel": f"{_COMPUTE} num_gangs num_workers vector_length",
    "serial": _COMPUTE,
    "kernels": _KERNELS,
    "parallel loop": f"{_COMPUTE} num_gangs num_workers vector_length {_LOOP}",
    "serial loop": f"{_COMPUTE} {_LOOP}",
    "kernels loop": f"{_KERNELS} {_LOOP}",
    "loop": _LOOP,
    "data": f"{_DATA} async wait if default",
    "enter data": "async wait if copyin create attach",
    "exit data": "async wait if copyout delete detach finalize",
    "host_data": "use_device if if_present",
    "cache": "",
    "atomic": "if",
    "declare": "copy copyin copyout create present deviceptr device_resident link",
    "routine": "gang worker vector seq bind nohost",
    "init": "device_type device_num if",
    "shutdown": "device_type device_num if",
    "set": "default_async device_num device_type if",
    "update": "async wait if if_present self device",
    "wait": "async if",
}
RESEARCH = {"deviceid", "scan", "compression"}


@pytest.mark.parametrize("kind", list(DirectiveKind))
def test_the_table_is_the_standards(kind: DirectiveKind) -> None:
    clauses = {
        name
        for name in DIRECTIVES[kind].clauses
        if name not in RESEARCH and not name.startswith("compression_")
    }
    assert clauses == set(STANDARD[kind.value].split())


@pytest.mark.parametrize("of", list(DirectiveKind))
def test_legal_clauses(of: DirectiveKind) -> None:
    for kind, name, argument, cls in LEGAL:
        if kind is not of:
            continue
        text = with_needs(kind, f"{name}{argument}", name)
        directive = parse(text)
        assert directive.kind is kind
        assert directive.loc == SourceLoc("f.c", 7, 13)
        clause = directive.clauses[-1]
        assert (type(clause), clause.name, clause.spelling) == (cls, name, name)
        assert clause.loc.column - LOC.column == text.rindex(f" {name}") + 1
        assert clause.device_types == ()


@pytest.mark.parametrize("of", list(DirectiveKind))
def test_illegal_clauses_are_refused_naming_both(of: DirectiveKind) -> None:
    for name in (name for kind, name in ILLEGAL if kind is of):
        text = with_needs(of, f"{name}(x)", name)
        message, column = fails(text)
        assert message == f"clause '{name}' is not allowed on '{of.value}'"
        assert column == text.rindex(f" {name}") + 1


@pytest.mark.parametrize(
    "of", [kind for kind, rule in DIRECTIVES.items() if rule.after_device_type]
)
def test_after_device_type(of: DirectiveKind) -> None:
    rule = DIRECTIVES[of]
    for name, argument in ((name, argument) for kind, name, argument, _ in LEGAL if kind is of):
        text = f" {of.value} {NEEDED.get(of, '')} device_type(nvidia, Host) {name}{argument}"
        if name in rule.after_device_type:
            assert parse(text).clauses[-1].device_types == ("nvidia", "host")
        else:
            message, column = fails(text)
            assert f"clause '{name}' may not follow 'device_type' on '{of.value}'" in message
            assert column == text.rindex(name + argument)


@pytest.mark.parametrize("kind", list(DirectiveKind))
def test_repetition(kind: DirectiveKind) -> None:
    for name, form in DIRECTIVES[kind].clauses.items():
        argument = ARGUMENTS[form][0][0]
        text = with_needs(kind, f"{name}{argument}, {name}{argument}", name)
        repeatable = form in (Form.VARS, Form.SECTIONS, Form.REDUCTION, Form.WAIT)
        if repeatable:
            assert len(parse(text).clauses) >= 2
        else:
            message, column = fails(text)
            assert "twice" in message
            assert column > text.index(name)


@pytest.mark.parametrize("kind", [DirectiveKind.LOOP, DirectiveKind.ROUTINE])
def test_exclusive_clauses(kind: DirectiveKind) -> None:
    groups = exclusive_on(kind)
    levels = ("gang", "worker", "vector", "seq", "auto", "independent")
    for first in levels:
        for second in levels:
            legal = {first, second} <= set(DIRECTIVES[kind].clauses)
            if first == second or not legal:
                continue
            text = f"{kind.value} {first} {second}"
            if frozenset((first, second)) in groups:
                message, column = fails(text)
                assert f"'{first}'" in message
                assert f"'{second}'" in message
                assert column == text.rindex(second)
                apart = parse(f"{kind.value} {first} device_type(nvidia) {second}")
                assert apart.clauses[1].device_types == ("nvidia",)
            else:
                assert [c.name for c in parse(text).clauses] == [first, second]


@pytest.mark.parametrize("kind", [k for k, rule in DIRECTIVES.items() if rule.needs])
def test_needed_clauses(kind: DirectiveKind) -> None:
    message, column = fails(f" {kind.value}")
    assert f"'{kind.value}' needs" in message
    assert column == 1


@pytest.mark.parametrize("alias", sorted(ALIASES))
def test_aliases(alias: str) -> None:
    canonical = ALIASES[alias]
    sink = DiagnosticSink()
    if canonical == "device_type":
        assert parse(f"loop {alias}(host) seq", sink).clauses[0].device_types == ("host",)
        return
    clause = parse(f"parallel {alias}(a)", sink).clauses[0]
    assert (clause.name, clause.spelling) == (canonical, alias)
    assert [d.loc for d in sink.diagnostics] == ([clause.loc] if alias in DEPRECATED else [])


def test_host_is_self_only_on_update() -> None:
    clause = parse("update host(a[0:4]) device(b)").clauses[0]
    assert (clause.name, clause.spelling, type(clause)) == ("self", "host", VarListClause)
    assert "'host' is not allowed on 'parallel'" in fails("parallel host(a)")[0]


def test_device_is_deviceid_but_data_on_update() -> None:
    for head in ("parallel", "data copy(a)", "enter data create(a)", "wait", "kernels loop"):
        clause = parse(f"{head} device(1)").clauses[-1]
        assert (clause.name, clause.spelling, type(clause)) == ("deviceid", "device", ExprClause)
    assert type(parse("update device(a)").clauses[0]) is VarListClause
    assert parse("update device(a) deviceid(1)").clauses[1].name == "deviceid"
    assert [parse(f"{head} deviceid(1)").clauses[0].name for head in ("init", "shutdown")] == [
        "device_num",
        "device_num",
    ]
    with pytest.raises(CompileError) as caught:
        parse("declare create(a) deviceid(1)")
    remedy = caught.value.diagnostics[0].remedy
    assert remedy is not None and remedy.startswith(
        "a declared variable has a copy on every device"
    )


@pytest.mark.parametrize("kind", list(DirectiveKind))
def test_modifiers(kind: DirectiveKind) -> None:
    for name, form in DIRECTIVES[kind].clauses.items():
        if form not in (Form.VARS, Form.NAMES, Form.SECTIONS):
            continue
        allowed = modifiers_of(name, kind)
        for modifier in ALL_MODIFIERS:
            text = f"{kind.value} {name}({modifier}: a)"
            if modifier in allowed:
                clause = parse(text).clauses[0]
                assert isinstance(clause, VarListClause)
                assert clause.modifiers == (modifier,)
            else:
                message, column = fails(text)
                assert f"modifier '{modifier}' is not allowed" in message
                assert column == text.index(modifier + ":")


def test_capture_only_on_structured_constructs() -> None:
    capturing = {k for k in DirectiveKind if "capture" in modifiers_of("copyin", k)}
    compute = {k for k in DirectiveKind if k.value.split()[0] in ("parallel", "serial", "kernels")}
    assert capturing == compute | {DirectiveKind.DATA}
