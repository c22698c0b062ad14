"""Arguments of clauses, places in the file, and the words of error messages."""

from __future__ import annotations

import pytest
from accopt.compiler.base.diagnostics import CompileError, DiagnosticSink, SourceLoc
from accopt.compiler.directives.parser import parse_directive
from accopt.compiler.directives.records import (
    AtomicKind,
    BindClause,
    Clause,
    ClauseT,
    DeviceTypeClause,
    Directive,
    DirectiveKind,
    ExprClause,
    GangClause,
    PeerClause,
    ReductionClause,
    ScanClause,
    Section,
    TileClause,
    VarListClause,
    WaitClause,
)

LOC = SourceLoc("f.c", 7, 12)


def parse(text: str) -> Directive:
    return parse_directive(text, LOC)


def only(text: str, cls: type[ClauseT]) -> ClauseT:
    (clause,) = parse(text).clauses
    assert isinstance(clause, cls)
    return clause


def brackets(section: Section) -> str:
    """A section as text, with `_` for what is absent."""
    parts = [section.lower, section.length, section.minimum, section.maximum]
    if section.is_index:
        assert parts[1:] == [None] * 3
        parts = parts[:1]
    elif section.minimum is None:
        parts = parts[:2]
    return "[" + ":".join("_" if p is None else p.text for p in parts) + "]"


@pytest.mark.parametrize(
    ("written", "base", "sections"),
    [
        ("a", "a", ""),
        ("a[i]", "a", "[i]"),
        ("a[0:n]", "a", "[0:n]"),
        ("a[:]", "a", "[_:_]"),
        ("a[lo:]", "a", "[lo:_]"),
        ("a[:n*2]", "a", "[_:n*2]"),
        ("a[ i ][ 0 : n ]", "a", "[i][0:n]"),
        ("a[x ? 1 : 2 : n]", "a", "[x ? 1 : 2:n]"),
        ("a[x ? y ? 1 : 2 : 3]", "a", "[x ? y ? 1 : 2 : 3]"),
        ("a[(x):f(1,2)[0]]", "a", "[(x):f(1,2)[0]]"),
        ("a[b[c[0]]:sizeof(int[2])]", "a", "[b[c[0]]:sizeof(int[2])]"),
        ("a[':':']']", "a", "[':':']']"),
        ("s.x", "s.x", ""),
        ("p->x[0:n]", "p->x", "[0:n]"),
        ("p[1].q[j]->r [0:n]", "p[1].q[j]->r", "[0:n]"),
        ("rows[i][0:m]", "rows", "[i][0:m]"),
        ("(*p).x[1:2]", "(*p).x", "[1:2]"),
    ],
)
def test_variable(written: str, base: str, sections: str) -> None:
    (item,) = only(f"data copy({written})", VarListClause).items
    assert item.name == item.base.text == base
    assert "".join(map(brackets, item.sections)) == sections


def test_four_part_sections_only_in_compression() -> None:
    (item,) = only("data compression_copyin(x[0:n:-1.0:f(1, 2)])", VarListClause).items
    assert brackets(item.sections[0]) == "[0:n:-1.0:f(1, 2)]"
    assert "two parts" in message("data copyin(x[0:n:0:1])")


def test_every_slot_knows_its_place() -> None:
    text = " parallel copy(readonly: a[lo:len][3], b.c) num_gangs( x+1 ,y) if ( p ? q : r )"
    text = text.replace("copy(", "copyin(")
    directive = parse(text)
    copyin, gangs, condition = directive.clauses
    assert isinstance(copyin, VarListClause)
    assert isinstance(gangs, ExprClause)
    assert isinstance(condition, ExprClause)
    first = copyin.items[0]
    slots = [i.base for i in copyin.items] + gangs.args + condition.args
    slots += [s for x in first.sections for s in (x.lower, x.length) if s is not None]
    for slot in slots:
        start = slot.loc.column - LOC.column
        assert text[start : start + len(slot.text)] == slot.text
        assert slot.text == slot.text.strip()
    assert [s.loc.column - LOC.column for s in first.sections] == [
        text.index("[lo"),
        text.index("[3"),
    ]


def test_anchors_give_lines_and_columns() -> None:
    text = (
        " parallel loop num_gangs(100/*@7:39*/) /*@8:5*/copy(a[0:/*@8:14=*/(1 + 2)/*@8:17*/]) if(x)"
    )
    gangs, copy, condition = parse(text).clauses
    assert gangs.loc == SourceLoc("f.c", 7, 27)
    assert copy.loc == SourceLoc("f.c", 8, 5)
    assert isinstance(copy, VarListClause)
    assert isinstance(condition, ExprClause)
    length = copy.items[0].sections[0].length
    assert length is not None
    assert (length.text, length.loc) == ("(1 + 2)", SourceLoc("f.c", 8, 14))
    assert condition.loc == SourceLoc("f.c", 8, 20)
    assert condition.args[0].loc == SourceLoc("f.c", 8, 23)
    assert "/*" not in parse(text).text


def test_comments_and_continuations_are_space() -> None:
    directive = parse(" parallel /* copy(a) */ \\\n async // if(x)")
    assert [c.name for c in directive.clauses] == ["async"]


def test_a_string_may_look_like_a_comment() -> None:
    assert only('routine bind("/*x*/")', BindClause).target == "/*x*/"


def test_gang_arguments() -> None:
    gang = only("loop gang(num: n*2, static: 8, dim: 1)", GangClause)
    assert (gang.num, gang.static, gang.dim) != (None, None, None)
    assert gang.num is not None
    assert gang.num.text == "n*2"
    assert only("loop gang(n)", GangClause).num is not None
    star = only("loop gang(static:*)", GangClause)
    assert star.static_any
    assert star.static is None
    deref = only("loop gang(static:*p)", GangClause)
    assert not deref.static_any
    assert deref.static is not None
    assert deref.static.text == "*p"


def test_keywords() -> None:
    assert only("loop worker(num: 4)", ExprClause).keyword == "num"
    assert only("loop vector(length: 4)", ExprClause).keyword == "length"
    assert only("loop vector(length)", ExprClause).keyword == ""
    assert only("loop collapse(force:2)", ExprClause).keyword == "force"


def test_tile() -> None:
    sizes = only("loop tile(*, 4, *p, *)", TileClause).sizes
    assert [s and s.text for s in sizes] == [None, "4", "*p", None]


def test_wait() -> None:
    assert parse("wait").clauses == []
    wait = only("wait(devnum: d ? 1 : 2 : queues: q, 3)", WaitClause)
    assert wait.devnum is not None
    assert wait.devnum.text == "d ? 1 : 2"
    assert [q.text for q in wait.queues] == ["q", "3"]
    assert only("wait(devnum:1: 2)", WaitClause).queues[0].text == "2"
    assert only("wait(queues)", WaitClause).queues[0].text == "queues"
    directive = parse("wait(1) async(2) if(x)")
    assert [c.name for c in directive.clauses] == ["wait", "async", "if"]


def test_reduction_operators() -> None:
    for operator in ("+", "*", "max", "min", "&", "|", "^", "&&", "||"):
        assert only(f"loop reduction({operator}:s)", ReductionClause).operator == operator


def test_atomic() -> None:
    assert parse("atomic").atomic is AtomicKind.UPDATE
    for kind in AtomicKind:
        assert parse(f"atomic {kind.value} if(x)").atomic is kind


def test_routine() -> None:
    directive = parse('routine(foo) worker bind("bar") nohost')
    assert directive.routine_name == "foo"
    bind = directive.clauses[1]
    assert isinstance(bind, BindClause)
    assert (bind.target, bind.is_string) == ("bar", True)
    assert parse("routine seq").routine_name is None


def test_scan() -> None:
    scan = only("loop scan(max: x, y[0:n], -1e30, n)", ScanClause)
    assert (scan.operator, scan.input.name, scan.output.name) == ("max", "x", "y")
    assert (scan.identity.text, scan.count.text) == ("-1e30", "n")


def test_peer_update() -> None:
    directive = parse("update peer to(a[0:n]) to_device(1) from(b[0:n]) from_device(0) async")
    assert directive.kind is DirectiveKind.UPDATE
    assert [c.name for c in directive.clauses[:4]] == ["to", "to_device", "from", "from_device"]
    assert all(isinstance(c, PeerClause) for c in directive.clauses[:4])


def test_self_on_compute() -> None:
    assert type(parse("parallel self").clauses[0]).__name__ == "FlagClause"
    assert type(parse("parallel self(x)").clauses[0]) is ExprClause


def test_words_are_not_reserved() -> None:
    directive = parse("parallel copy(copy, loop, device_type, readonly, none) async(if)")
    assert isinstance(directive.clauses[0], VarListClause)
    assert next(i.name for i in directive.clauses[0].items) == "copy"


def test_commas_between_clauses_are_optional() -> None:
    for text in ("loop gang, worker, vector", "loop gang worker vector"):
        assert [c.name for c in parse(text).clauses] == ["gang", "worker", "vector"]
    assert parse("loop device_type(host), seq").clauses[0].device_types == ("host",)
    routines_name = parse("loop device_type(acc_device_nvidia, HOST) seq").clauses[0]
    assert routines_name.device_types == ("nvidia", "host")
    (clause,) = parse("init device_type(acc_device_radeon)").clauses
    assert isinstance(clause, DeviceTypeClause) and clause.types == ("radeon",)


def test_unknown_device_type_is_warned_about() -> None:
    sink = DiagnosticSink()
    parse_directive(" parallel device_type(cuda) async", LOC, sink)
    assert "cuda" in sink.diagnostics[0].message
    assert sink.diagnostics[0].loc.column == LOC.column + 22


def test_a_region_of_pgi_is_kernels() -> None:
    sink = DiagnosticSink()
    directive = parse_directive(" region", LOC, sink)
    assert directive.kind is DirectiveKind.KERNELS and not directive.clauses
    assert "'region'" in sink.diagnostics[0].message
    assert "[first:count]" in error_of("region copyin(a[0:n-1])")[1]


def error_of(text: str) -> tuple[str, str, int]:
    with pytest.raises(CompileError) as caught:
        parse(text)
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.message, diagnostic.remedy or "", diagnostic.loc.column - LOC.column


def message(text: str) -> str:
    return error_of(text)[0]


@pytest.mark.parametrize(
    ("text", "fragment", "at"),
    [
        ("", "expected a directive", ""),
        (" 42", "expected a directive", "42"),
        ("paralel loop", "unknown directive 'paralel'; did you mean 'parallel'?", "paralel"),
        ("frobnicate", "unknown directive 'frobnicate'", "frobnicate"),
        ("end parallel", "unknown directive 'end'", "end"),
        ("enter", "expected 'data' after 'enter', not end of the directive", ""),
        ("exit copyout(a)", "expected 'data' after 'exit', not 'copyout'", "copyout"),
        (
            "parallel copyn(a)",
            "unknown clause 'copyn' on 'parallel'; did you mean 'copyin'?",
            "copyn",
        ),
        ("loop vetcor", "did you mean 'vector'?", "vetcor"),
        ("parallel foo", "unknown clause 'foo' on 'parallel'", "foo"),
        ("parallel copy", "expected '(' after 'copy'", ""),
        ("parallel copy(", "expected a variable name, not end", ""),
        ("parallel copy()", "expected a variable name, not ')'", ")"),
        ("parallel copy(a,)", "expected a variable name, not ')'", ")"),
        ("parallel copy(a", "expected ')' in the argument of 'copy'", ""),
        ("parallel copy(a b)", "expected ')' in the argument of 'copy', not 'b'", "b)"),
        ("parallel copy(*p)", "expected a variable name, not '*'", "*p"),
        ("parallel copy(&p)", "expected a variable name, not '&'", "&p"),
        ("parallel copy(3)", "expected a variable name, not '3'", "3"),
        ("parallel copy(a[])", "empty brackets", "])"),
        ("parallel copy(a[0:n)", "expected ']'", ")"),
        ("parallel copy(a[0:1:2])", "two parts", ":2"),
        ("parallel copy(a[0:4].x)", "cannot be followed by a member", "[0"),
        ("parallel copy(s.)", "expected the name of a member", ")"),
        ("parallel compression_copy(a[0:1:2])", "expected ':' or ']'", "])"),
        ("parallel num_gangs()", "expected an expression", ")"),
        ("parallel num_gangs(1,2,3,4)", "at most three", "4"),
        ("kernels num_gangs(1,2)", "takes one argument", ",2"),
        ("parallel num_gangs((1)", "expected ')'", ""),
        ("parallel num_gangs(a[1)]", "expected ']', not ')'", ")]"),
        ('parallel if("x)', "unterminated string", '"'),
        ("parallel if('x)", "unterminated character", "'"),
        ("parallel if(a) if(b)", "'if' is given twice", "if(b)"),
        ("parallel default(some)", "expected 'none' or 'present'", "some"),
        ("parallel num_gangs(1, 2) reduction(+:s)", "'reduction' cannot be combined", "reduction"),
        ("loop seq(1)", "'seq' takes no argument", "(1"),
        ("loop reduction(s)", "expected an operator and ':'", "s)"),
        ("loop reduction(%:s)", "'%' is not a reduction operator", "%"),
        ("loop reduction(sum:s)", "'sum' is not a reduction operator", "sum"),
        ("loop reduction(+:)", "expected a variable name", ")"),
        ("loop gang(size:4)", "unknown argument 'size:' of 'gang'", "size"),
        ("loop gang(num:1, num:2)", "two 'num' arguments", "num:2"),
        ("loop vector(num:4)", "unknown argument 'num:' of 'vector'", "num"),
        ("loop tile()", "expected a tile size", ")"),
        ("loop scan(+: a, b, 0)", "expected ',' in 'scan'", ")"),
        ("loop device_type() seq", "expected a device type", ")"),
        ("parallel loop worker(4)", "'worker' takes no size on 'parallel loop'", "worker"),
        ("serial loop vector(4)", "'vector' takes no size on 'serial loop'", "vector"),
        ("kernels loop num_workers(2) worker(4)", "beside 'num_workers'", "worker(4"),
        ("kernels loop gang(dim:2)", "not allowed on 'kernels loop'", "2"),
        ("parallel, async", "expected a clause of 'parallel', not ','", ","),
        ("parallel async,", "expected a clause after ','", ","),
        ("parallel async,, if(x)", "expected a clause", ", if"),
        ("parallel (1)", "takes no argument here", "(1"),
        ("parallel async;", "expected a clause of 'parallel', not ';'", ";"),
        ("cache", "expected '(' after 'cache'", ""),
        ("cache(zero: a[0:1])", "modifier 'zero' is not allowed", "zero"),
        ("data copyin(readnoly: a)", "unknown modifier 'readnoly'", "readnoly"),
        ("data copyin(readonly, readonly: a)", "is given twice", "readonly: a"),
        ("declare create(a.b)", "names of variables only", "a.b"),
        ("declare create(a) copyin(b, a)", "'a' is given twice on 'declare'", "a)"),
        ("routine(1)", "expected a function name", "1"),
        ("routine gang(2)", "takes only 'dim:'", "2"),
        ('routine bind("")', "not the name of a symbol", '""'),
        ("set device_type(*)", "unknown device type '*'", "*"),
        ("set device_type(nvida)", "did you mean 'nvidia'?", "nvida"),
        ("set device_type(nvidia, host)", "one device type", ", host"),
        ("set device_num(1) device_num(2)", "is given twice", "device_num(2"),
        ("wait()", "expected an expression", ")"),
        ("wait(devnum:1)", "expected ':' after the device number", ")"),
        ("update to(a)", "clause 'to' is not allowed on 'update'", "to"),
        ("update peer to(a) to_device(1) from(b)", "needs the clause 'from_device'", "update"),
        ("update peer self(a)", "clause 'self' is not allowed on 'update peer'", "self"),
    ],
)
def test_error(text: str, fragment: str, at: str) -> None:
    found, _, column = error_of(text)
    assert fragment in found
    assert column == (text.rindex(at) if at else len(text))


def test_text_is_kept_and_find_ignores_device_types() -> None:
    directive = parse("  parallel async device_type(nvidia) num_gangs(3)  ")
    assert directive.text == "parallel async device_type(nvidia) num_gangs(3)"
    assert directive.find("num_gangs", ExprClause) is None
    assert directive.find("async", ExprClause) is not None
    assert all(isinstance(c, Clause) for c in directive.clauses)


def test_unknown_column_stays_unknown() -> None:
    directive = parse_directive(" wait(1)", SourceLoc("f.c", 3, 0))
    assert directive.loc == SourceLoc("f.c", 3, 0)
