"""
Parses the text of a `#pragma omp` line into a record. Expressions are not parsed here: the record has their
text and places, as for OpenACC's directives (`compiler/directives`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ...base.diagnostics import SourceLoc, error
from ...base.similar import or_did_you_mean
from ...directives.cursor import TokenCursor
from ...directives.lexer import DirectiveText, TokenKind
from ...directives.records import ExprSlot, Section
from ...directives.variables import array_section
from .rules import BARE, CLAUSES, LISTS, REDUCTIONS, UNSUPPORTED, UNSUPPORTED_CLAUSES


@dataclass(frozen=True)
class OmpItem:
    """A variable in a list, or a section of an array in a reduction."""

    name: str
    loc: SourceLoc
    section: Section | None = None


@dataclass
class OmpClause:
    """A clause. `word`: the operator of a reduction, the kind of a schedule, the argument of `default`, or
    a modifier before a ':'."""

    name: str
    loc: SourceLoc
    word: str = ""
    items: list[OmpItem] = field(default_factory=list["OmpItem"])
    argument: ExprSlot | None = None


@dataclass
class OmpDirective:
    """A directive with its clauses. `items`: the names in parentheses of `threadprivate`, `flush` and
    `critical`."""

    name: str
    loc: SourceLoc
    clauses: list[OmpClause] = field(default_factory=list["OmpClause"])
    items: list[OmpItem] = field(default_factory=list["OmpItem"])
    is_combined: bool = False
    """Whether it is the inner part of a combined construct, so that the region ends with it."""

    def find(self, name: str) -> OmpClause | None:
        """The clause of that name, if there is one."""
        return next((c for c in self.clauses if c.name == name), None)

    def all(self, *names: str) -> list[OmpItem]:
        """The variables in all clauses of these names."""
        return [item for c in self.clauses if c.name in names for item in c.items]


def parse_omp(text: str, loc: SourceLoc) -> OmpDirective:
    """
    Parse a directive; `text` is everything after `#pragma omp`, at `loc`. Raises `CompileError` at the
    first word that is wrong or not supported.
    """
    cursor = TokenCursor(DirectiveText(text, loc))
    directive = OmpDirective(_name(cursor), loc)
    directive.loc = cursor.loc_of(cursor.tokens[0])
    if directive.name in ("threadprivate", "critical", "flush") and cursor.next.text == "(":
        with cursor.argument(directive.name):
            directive.items = cursor.listed(lambda: _item(cursor, directive.name))
    if directive.name == "threadprivate" and not directive.items:
        raise error(directive.loc, "'threadprivate' names no variables", "write threadprivate(x)")
    while cursor.next.kind is not TokenKind.END:
        cursor.accept(",")
        directive.clauses.append(_clause(cursor, directive))
    _check_once(directive)
    return directive


def _name(cursor: TokenCursor) -> str:
    words = [
        t.text
        for t in cursor.tokens[:3]
        if t.kind is TokenKind.NAME and t.text.replace("$", "_").isidentifier()
    ]
    for count in range(len(words), 0, -1):
        name = " ".join(words[:count])
        if name in CLAUSES:
            cursor.position += count
            following = words[count] if count < len(words) else ""
            if following in UNSUPPORTED.keys() - UNSUPPORTED_CLAUSES.keys():
                raise cursor.error(
                    f"'omp {name} {following}' is not supported", UNSUPPORTED[following]
                )
            return name
    if not words:
        raise cursor.error("expected a directive of OpenMP", "e.g. #pragma omp parallel for")
    if words[0] in UNSUPPORTED:
        raise cursor.error(f"'omp {words[0]}' is not supported", UNSUPPORTED[words[0]])
    near = or_did_you_mean(words[0], CLAUSES)
    raise cursor.error(f"unknown directive 'omp {words[0]}'{near}")


def _item(cursor: TokenCursor, clause: str) -> OmpItem:
    token = cursor.name(f"a variable in '{clause}'")
    part = None
    if cursor.next.text == "[" and clause == "reduction":
        part = array_section(cursor, four_parts=False)
    if cursor.next.text in ("[", ".", "->"):
        raise cursor.error(
            f"a part of '{token.text}' in '{clause}'",
            f"name all of '{token.text}', or use a variable for the part",
        )
    return OmpItem(token.text, cursor.loc_of(token), part)


def _clause(cursor: TokenCursor, directive: OmpDirective) -> OmpClause:
    word = cursor.name(f"a clause of 'omp {directive.name}'")
    name, loc = word.text, cursor.loc_of(word)
    known = CLAUSES[directive.name]
    if name not in known:
        if name in UNSUPPORTED_CLAUSES:
            remedy = UNSUPPORTED_CLAUSES[name]
            raise error(loc, f"'{name}' on 'omp {directive.name}' is not supported", remedy)
        near = or_did_you_mean(name, known)
        listed = ", ".join(known) or "none"
        remedy = None if near else f"the clauses of 'omp {directive.name}' are: {listed}"
        raise error(loc, f"unknown clause '{name}' on 'omp {directive.name}'{near}", remedy)
    clause = OmpClause(name, loc)
    if name in BARE:
        return clause
    with cursor.argument(name):
        _argument(cursor, clause)
    return clause


def _argument(cursor: TokenCursor, clause: OmpClause) -> None:
    match clause.name:
        case "reduction":
            clause.word = _operator(cursor)
        case "schedule":
            _schedule(cursor, clause)
        case "if":
            cursor.accept_keyword("parallel", "task", "simd")
            clause.argument = cursor.expression()
        case "default" | "proc_bind":
            clause.word = cursor.name(f"a word in '{clause.name}'").text
        case "depend":
            _dependences(cursor, clause)
        case "lastprivate":
            if cursor.accept_keyword("conditional"):
                raise cursor.error(
                    "'lastprivate(conditional: …)' is not supported",
                    "store the last value yourself",
                )
        case _:
            pass
    if clause.name in LISTS:
        clause.items = cursor.listed(lambda: _item(cursor, clause.name))
        if clause.name in ("aligned", "linear") and cursor.accept(":"):
            cursor.expression()
    elif clause.argument is None and clause.name not in _READ:
        clause.argument = cursor.expression()
    if clause.name == "default" and clause.word not in ("none", "shared"):
        raise error(
            clause.loc,
            f"default({clause.word}) is not supported",
            "write default(none) or (shared)",
        )


_READ = frozenset(("schedule", "default", "proc_bind", "depend"))
"""Clauses whose argument is more than a list or an expression."""


def _dependences(cursor: TokenCursor, clause: OmpClause) -> None:
    """The argument of `depend`, such as `in: x, a[i], p[0:n]`: keeps the variables, not the parts of
    them."""
    clause.word = cursor.accept_keyword("in", "out", "inout", "mutexinoutset")
    if not clause.word:
        raise cursor.error(
            "expected 'in:', 'out:' or 'inout:' in 'depend'",
            "write depend(in: x) or depend(out: x)",
        )
    clause.items = cursor.listed(lambda: _dependence(cursor))


def _dependence(cursor: TokenCursor) -> OmpItem:
    while cursor.next.text in ("*", "&"):
        cursor.advance()
    token = cursor.name("a variable in 'depend'")
    if cursor.next.text not in (",", ")"):
        cursor.expression()
    return OmpItem(token.text, cursor.loc_of(token))


def _operator(cursor: TokenCursor) -> str:
    token = cursor.advance()
    if token.text in ("task", "inscan", "default") and cursor.next.text == ",":
        if token.text != "default":
            raise error(
                cursor.loc_of(token), f"'reduction({token.text}, …)' is not supported", "remove it"
            )
        cursor.advance()
        token = cursor.advance()
    if token.text not in REDUCTIONS:
        raise error(
            cursor.loc_of(token),
            f"the reduction operator '{token.text}' is not supported",
            f"one of {' '.join(REDUCTIONS)}",
        )
    if not cursor.accept(":"):
        raise cursor.error(f"expected ':' after '{token.text}'", "write reduction(+: x)")
    return token.text


def _schedule(cursor: TokenCursor, clause: OmpClause) -> None:
    while cursor.next.text in ("monotonic", "nonmonotonic", "simd"):
        cursor.advance()
        if not (cursor.accept(":") or cursor.accept(",")):
            raise cursor.error("expected ':' after the modifier of 'schedule'")
    word = cursor.name("a kind of schedule")
    if word.text not in ("static", "dynamic", "guided", "runtime", "auto"):
        raise error(
            cursor.loc_of(word),
            f"unknown schedule '{word.text}'",
            "static, dynamic, guided, runtime or auto",
        )
    clause.word = word.text
    if cursor.accept(","):
        if word.text in ("runtime", "auto"):
            raise cursor.error(f"schedule({word.text}) has no chunk size", "remove it")
        clause.argument = cursor.expression("a chunk size")


_ABOUT_OTHERS = frozenset(("copyin", "copyprivate", "aligned", "uniform", "depend"))
"""Clauses whose variables may also be in other clauses."""


def _check_once(directive: OmpDirective) -> None:
    """Raise if a variable is in two clauses that contradict each other, or if a clause is written twice."""
    seen: dict[str, OmpClause] = {}
    for clause in directive.clauses:
        if clause.name in seen and clause.name not in LISTS and clause.name != "depend":
            raise error(clause.loc, f"'{clause.name}' is written twice", "keep one")
        seen[clause.name] = clause
    homes: dict[str, str] = {}
    for clause in directive.clauses:
        for item in () if clause.name in _ABOUT_OTHERS else clause.items:
            other = homes.get(item.name)
            if other is not None and {other, clause.name} != {"firstprivate", "lastprivate"}:
                raise error(
                    item.loc,
                    f"'{item.name}' is in '{other}' and in '{clause.name}'",
                    "keep it in one of them",
                )
            homes[item.name] = clause.name
