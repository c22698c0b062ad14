"""
Parses the text of a `#pragma acc` line into a `Directive` record (grammar of OpenACC 3.4).

    directive : name [ '(' … ')' ] { [ ',' ] clause }
    clause    : name [ '(' argument ')' ]

`clauses.py` parses the text in the parentheses, `rules.py` has the tables of clauses that each directive
may have, and `checks.py` checks the finished directive. Expressions are not parsed here: they are slices of
the text, found by their brackets, with their places.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..base.diagnostics import CompileError, DiagnosticSink, SourceLoc, error
from ..base.similar import or_did_you_mean
from .checks import check_directive, deprecated_spelling, difference_is_sum
from .clauses import parse_clause, parse_device_types, parse_wait
from .cursor import TokenCursor
from .lexer import DirectiveText, TokenKind
from .records import (
    AtomicKind,
    Clause,
    Directive,
    DirectiveKind,
    VarListClause,
    WaitClause,
)
from .rules import DIRECTIVES, PEER_CLAUSES, PEER_UPDATE, DirectiveRule, aliases_on
from .variables import parse_variables

_FIRST_WORDS = tuple(dict.fromkeys(kind.construct for kind in DirectiveKind))


_OF_OPENMP = {
    "for": "write 'loop': 'for' is OpenMP's word",
    "do": "write 'loop': 'do' is OpenMP's word",
    "simd": "write 'vector': 'simd' is OpenMP's word",
    "map": "write copyin(…) for map(to: …), copyout(…) for map(from: …), copy(…) for map(tofrom: …)",
    "shared": "remove it: variables are shared unless a clause says otherwise",
    "lastprivate": "write copyout(…), and assign the variable in the last iteration alone",
    "linear": "compute the variable from the loop's",
    "schedule": "remove it: gang, worker and vector say how iterations are distributed",
    "num_threads": "write num_workers(…) or vector_length(…)",
    "thread_limit": "write vector_length(…)",
    "num_teams": "write num_gangs(…)",
    "is_device_ptr": "write deviceptr(…)",
    "use_device_ptr": "write use_device(…), of host_data",
    "nowait": "write async",
    "depend": "write async(…) and wait(…) with numbers of queues",
}
"""OpenMP's clauses and directives → the remedy that names OpenACC's."""
_REGION = "region"
_OF_OTHERS = {
    "end": "remove it: in C a construct ends with the statement or block after its directive",
    "for": "write 'parallel loop': 'for' is OpenMP's word",
    "target": "write 'parallel' or 'data': 'target' is OpenMP's word",
    "teams": "write 'parallel': 'teams' is OpenMP's word",
    "simd": "write 'loop vector': 'simd' is OpenMP's word",
    "barrier": "end the construct: there is no barrier within one",
    "critical": "write 'atomic' for a single assignment, or a reduction",
    _REGION: "write 'kernels', and [first:count] for the PGI Accelerator model's [first:last]",
}
"""First words of directives of Fortran, OpenMP and the PGI Accelerator model → the remedy."""


def parse_directive(text: str, loc: SourceLoc, sink: DiagnosticSink | None = None) -> Directive:
    """
    Parse one directive. `text` is everything after `#pragma acc`, `loc` the place of its first character;
    deprecated spellings are warned about in `sink`. Raises `CompileError` at the word that is wrong.
    """
    source = DirectiveText(text, loc)
    cursor = TokenCursor(source)
    sink = sink or DiagnosticSink()
    kind = _parse_kind(cursor, sink)
    directive = Directive(kind, source.loc_at(cursor.tokens[0].start), source.text.strip())
    rule = _parse_head(cursor, directive)
    _parse_clauses(cursor, directive, rule, sink)
    check_directive(directive, rule)
    return directive


def _parse_kind(cursor: TokenCursor, sink: DiagnosticSink) -> DirectiveKind:
    """One or two words: `parallel`, `parallel loop`, `enter data`, …"""
    first = cursor.next
    if first.kind is not TokenKind.NAME:
        raise cursor.error(
            f"expected a directive after '#pragma acc', not {first.described}"
            if first.text
            else "expected a directive after '#pragma acc'",
            "write for example: #pragma acc parallel loop",
        )
    if first.text == _REGION and cursor.ahead(1).kind is TokenKind.END:
        sink.warn(
            cursor.loc_of(first),
            f"'{_REGION}' is a directive of the PGI Accelerator model: taken for 'kernels'",
            "write 'kernels'",
        )
        cursor.advance()
        return DirectiveKind.KERNELS
    if first.text not in _FIRST_WORDS:
        if first.text in _OF_OTHERS:
            message = f"unknown directive '{first.text}'"
            raise cursor.error(message, _OF_OTHERS[first.text])
        suggestion = or_did_you_mean(first.text, _FIRST_WORDS)
        raise cursor.error(
            f"unknown directive '{first.text}'{suggestion}",
            None if suggestion else f"the directives are {', '.join(_FIRST_WORDS)}",
        )
    word = cursor.advance().text
    if word in ("enter", "exit"):
        if not cursor.accept("data"):
            raise cursor.error(
                f"expected 'data' after '{word}', not {cursor.next.described}",
                f"write '{word} data'",
            )
        return DirectiveKind(f"{word} data")
    kind = DirectiveKind(word)
    return DirectiveKind(f"{word} loop") if kind.is_compute and cursor.accept("loop") else kind


def _parse_head(cursor: TokenCursor, directive: Directive) -> DirectiveRule:
    """Parses the argument between a directive's name and its clauses; returns the rule for the clauses."""
    match directive.kind:
        case DirectiveKind.CACHE:
            directive.clauses.append(_parse_cache(cursor))
        case DirectiveKind.ATOMIC:
            directive.atomic = AtomicKind.UPDATE
            if cursor.next.text in [kind.value for kind in AtomicKind]:
                directive.atomic = AtomicKind(cursor.advance().text)
        case DirectiveKind.ROUTINE if cursor.next.text == "(":
            with cursor.argument("routine"):
                directive.routine_name = cursor.name("a function name").text
        case DirectiveKind.WAIT if cursor.next.text == "(":
            clause = WaitClause(name="wait", spelling="wait", loc=directive.loc)
            parse_wait(cursor, clause)
            directive.clauses.append(clause)
        case DirectiveKind.UPDATE if cursor.accept("peer"):
            return PEER_UPDATE
        case _:
            pass
    return DIRECTIVES[directive.kind]


def _parse_cache(cursor: TokenCursor) -> Clause:
    """cache : '(' [ 'readonly' ':' ] variables ')'"""
    if cursor.next.text != "(":
        raise cursor.error("expected '(' after 'cache'", "name what to cache: cache(a[i-1:3])")
    clause = VarListClause(name="cache", spelling="cache", loc=cursor.loc_of(cursor.tokens[0]))
    parse_variables(cursor, clause, DirectiveKind.CACHE)
    return clause


def _parse_clauses(
    cursor: TokenCursor, directive: Directive, rule: DirectiveRule, sink: DiagnosticSink
) -> None:
    aliases: Mapping[str, str] = {} if rule is PEER_UPDATE else aliases_on(directive.kind)
    device_types: tuple[str, ...] = ()
    behind_device_type = False
    first = cursor.position
    while cursor.next.kind is not TokenKind.END:
        if cursor.position > first:
            cursor.accept(",")
        word = cursor.next
        if word.kind is not TokenKind.NAME:
            raise _not_a_clause(cursor, directive)
        name = aliases.get(word.text, word.text)
        loc = cursor.loc_of(word)
        if name == "device_type" and rule.after_device_type:
            cursor.advance()
            device_types = parse_device_types(cursor, word.text, sink)
            behind_device_type = True
            continue
        form = rule.clauses.get(name) or rule.tolerated.get(name)
        if form is None:
            raise _unknown_clause(loc, word.text, directive, rule)
        if behind_device_type and name not in rule.after_device_type:
            raise error(
                loc,
                f"clause '{word.text}' may not follow 'device_type' on '{directive.kind.value}'",
                f"write '{word.text}' before 'device_type'",
            )
        cursor.advance()
        clause = parse_clause(cursor, directive.kind, form, name, word)
        clause.device_types = device_types
        deprecated_spelling(clause, sink)
        difference_is_sum(clause, sink)
        directive.clauses.append(clause)


def _not_a_clause(cursor: TokenCursor, directive: Directive) -> CompileError:
    found = cursor.next
    previous = cursor.tokens[cursor.position - 1]
    if found.kind is TokenKind.END:
        return error(cursor.loc_of(previous), "expected a clause after ','", "remove the ','")
    if found.text == "(":
        return cursor.error(f"'{previous.text}' takes no argument here", "remove the parentheses")
    remedy = "remove it" if found.text in (")", ",", ";") else None
    if found.text == "{":
        remedy = "write it on the next line"
    what = f"expected a clause of '{directive.kind.value}', not {found.described}"
    return cursor.error(what, remedy)


def _unknown_clause(
    loc: SourceLoc, word: str, directive: Directive, rule: DirectiveRule
) -> CompileError:
    kind = directive.kind
    where = f"{kind.value} peer" if rule is PEER_UPDATE else kind.value
    homes: list[str] = []
    for other, candidate in DIRECTIVES.items():
        name = aliases_on(other).get(word, word)
        device_type = name == "device_type" and bool(candidate.after_device_type)
        if name in candidate.clauses or device_type:
            homes.append(other.value)
    if word in PEER_CLAUSES:
        homes.append("update peer")
    if word == "deviceid" and kind is DirectiveKind.DECLARE:
        return error(
            loc,
            "clause 'deviceid' is not allowed on 'declare'",
            "a declared variable has a copy on every device: for one on device n alone, write"
            " enter data create(…) deviceid(n) where it begins",
        )
    if homes:
        allowed = ", ".join(f"'{home}'" for home in homes)
        numbered = word == "device" and "device_num" in rule.clauses
        remedy = "write device_num(…)" if numbered else f"it is allowed on {allowed}"
        return error(loc, f"clause '{word}' is not allowed on '{where}'", remedy)
    if word == "data" and kind in (DirectiveKind.DATA, DirectiveKind.HOST_DATA):
        return error(loc, f"unexpected 'data' after '{where}'", "remove it")
    known = [*rule.clauses, *(a for a, n in aliases_on(kind).items() if n in rule.clauses)]
    if rule.after_device_type:
        known += ["device_type", "dtype"]
    if word in _OF_OPENMP:
        return error(loc, f"unknown clause '{word}' on '{where}'", _OF_OPENMP[word])
    suggestion = or_did_you_mean(word, known)
    listed = ", ".join(rule.clauses) or "none"
    remedy = None if suggestion else f"the clauses of '{where}' are: {listed}"
    return error(loc, f"unknown clause '{word}' on '{where}'{suggestion}", remedy)
