"""
Parses the arguments of clauses: one function per form of `rules.Form`, with its grammar.

Every function starts after the clause's name and ends after its ')'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ..base.diagnostics import DiagnosticSink, error
from ..base.similar import or_did_you_mean
from .cursor import TokenCursor
from .lexer import DirectiveToken, TokenKind
from .records import (
    BindClause,
    Clause,
    DefaultClause,
    DeviceTypeClause,
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
from .rules import DEVICE_TYPES, REDUCTION_OPERATORS, Form
from .variables import parse_variables, variable


def parse_clause(
    cursor: TokenCursor, kind: DirectiveKind, form: Form, name: str, word: DirectiveToken
) -> Clause:
    """The clause `name` (spelled `word`) of a directive of `kind`, whose argument has `form`."""
    loc, spelling = cursor.loc_of(word), word.text
    match form:
        case Form.VARS | Form.NAMES | Form.SECTIONS:
            clause = VarListClause(name=name, spelling=spelling, loc=loc)
            parse_variables(cursor, clause, kind, four_parts=form is Form.SECTIONS)
            if form is Form.NAMES:
                _require_names(clause)
            return clause
        case Form.WAIT:
            wait = WaitClause(name=name, spelling=spelling, loc=loc)
            if cursor.next.text == "(":
                parse_wait(cursor, wait)
            return wait
        case _:
            return _PARSERS[form](cursor, name, word)


def _flag(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    if cursor.next.text == "(":
        raise cursor.error(f"clause '{word.text}' takes no argument", "remove the parentheses")
    return FlagClause(name=name, spelling=word.text, loc=cursor.loc_of(word))


# '(' expression ')'
def _one_expression(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    clause = ExprClause(name=name, spelling=word.text, loc=cursor.loc_of(word))
    with cursor.argument(word.text):
        clause.args.append(cursor.expression())
        if cursor.next.text == ",":
            raise cursor.error(f"clause '{word.text}' takes one argument", "remove the others")
    return clause


# [ '(' expression ')' ]
def _optional_expression(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    if cursor.next.text == "(":
        return _one_expression(cursor, name, word)
    if name == "self":
        return FlagClause(name=name, spelling=word.text, loc=cursor.loc_of(word))
    return ExprClause(name=name, spelling=word.text, loc=cursor.loc_of(word))


# '(' expression [ ',' expression [ ',' expression ] ] ')'
def _sizes(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    clause = ExprClause(name=name, spelling=word.text, loc=cursor.loc_of(word))
    with cursor.argument(word.text):
        clause.args = cursor.listed(cursor.expression)
    if len(clause.args) > 3:
        raise error(
            clause.args[3].loc,
            f"clause '{word.text}' takes at most three arguments",
            "gangs have three dimensions",
        )
    return clause


_KEYWORDS = {"collapse": "force", "worker": "num", "vector": "length"}


# '(' [ keyword ':' ] expression ')', or nothing for levels
def _with_keyword(cursor: TokenCursor, name: str, word: DirectiveToken) -> ExprClause:
    clause = ExprClause(name=name, spelling=word.text, loc=cursor.loc_of(word))
    if name != "collapse" and cursor.next.text != "(":
        return clause
    keyword = _KEYWORDS[name]
    with cursor.argument(word.text):
        clause.keyword = cursor.accept_keyword(keyword)
        if (
            not clause.keyword
            and cursor.next.kind is TokenKind.NAME
            and cursor.ahead(1).text == ":"
        ):
            raise cursor.error(
                f"unknown argument '{cursor.next.text}:' of '{word.text}'", f"write '{keyword}:'"
            )
        clause.args.append(cursor.expression())
    return clause


# [ '(' gang-argument { ',' gang-argument } ')' ]
# gang-argument : [ 'num' ':' ] expression | 'dim' ':' expression | 'static' ':' ( expression | '*' )
def _gang(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    clause = GangClause(name=name, spelling=word.text, loc=cursor.loc_of(word))
    if cursor.next.text != "(":
        return clause
    with cursor.argument(word.text):
        seen: set[str] = set()
        while True:
            start = cursor.next
            keyword = cursor.accept_keyword("num", "dim", "static") or "num"
            if (
                start.kind is TokenKind.NAME
                and cursor.next is start
                and cursor.ahead(1).text == ":"
            ):
                raise cursor.error(
                    f"unknown argument '{start.text}:' of '{word.text}'",
                    "write 'num:', 'dim:' or 'static:'",
                )
            if keyword in seen:
                raise error(
                    cursor.loc_of(start),
                    f"clause '{word.text}' has two '{keyword}' arguments",
                    "remove one of them",
                )
            seen.add(keyword)
            if keyword == "static" and cursor.accept_star():
                clause.static_any = True
            else:
                setattr(clause, keyword, cursor.expression())
            if not cursor.accept(","):
                break
    return clause


# [ '(' 'dim' ':' expression ')' ]
def _routine_gang(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    clause = GangClause(name=name, spelling=word.text, loc=cursor.loc_of(word))
    if cursor.next.text != "(":
        return clause
    with cursor.argument(word.text):
        if not cursor.accept_keyword("dim"):
            raise cursor.error("'gang' on 'routine' takes only 'dim:'", "write gang(dim:1)")
        clause.dim = cursor.expression()
    return clause


# '(' size { ',' size } ')'        size : '*' | expression
def _tile(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    clause = TileClause(name=name, spelling=word.text, loc=cursor.loc_of(word))
    with cursor.argument(word.text):
        clause.sizes = cursor.listed(
            lambda: None if cursor.accept_star() else cursor.expression("a tile size")
        )
    return clause


# '(' [ 'devnum' ':' expression ':' ] [ 'queues' ':' ] expression { ',' expression } ')'
def parse_wait(cursor: TokenCursor, clause: WaitClause) -> None:
    """The argument of a `wait` clause or directive, into `clause`."""
    with cursor.argument(clause.spelling):
        if cursor.accept_keyword("devnum"):
            clause.devnum = cursor.expression("a device number")
            if not cursor.accept(":"):
                raise cursor.error(
                    f"expected ':' after the device number, not {cursor.next.described}",
                    "write wait(devnum:n:queues:q)",
                )
        cursor.accept_keyword("queues")
        clause.queues = cursor.listed(cursor.expression)


# '(' ( 'none' | 'present' ) ')'
def _default(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    with cursor.argument(word.text):
        value = cursor.next
        if value.text not in ("none", "present"):
            raise cursor.error(
                f"expected 'none' or 'present' in 'default', not {value.described}",
                "write default(none) or default(present)",
            )
        cursor.advance()
    return DefaultClause(name=name, spelling=word.text, loc=cursor.loc_of(word), value=value.text)


def _device_type_name(cursor: TokenCursor) -> DirectiveToken:
    token = cursor.next
    if token.text != "*" and token.kind is not TokenKind.NAME:
        raise cursor.error(
            f"expected a device type, not {token.described}",
            f"the device types are {', '.join(DEVICE_TYPES)}",
        )
    return cursor.advance()


def _device_type_word(token: DirectiveToken) -> str:
    """A device type in lower case; `acc_device_nvidia` is `nvidia`, as for other compilers."""
    return token.text.lower().removeprefix("acc_device_")


def _known_device_type(cursor: TokenCursor, known: Sequence[str]) -> DirectiveToken:
    token = _device_type_name(cursor)
    if _device_type_word(token) not in known:
        raise error(
            cursor.loc_of(token),
            f"unknown device type '{token.text}'{or_did_you_mean(token.text.lower(), known)}",
            f"the device types are {', '.join(known)}",
        )
    return token


# '(' device-type ')'
def _device_type(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    with cursor.argument(word.text):
        token = _known_device_type(cursor, [t for t in DEVICE_TYPES if t != "*"])
        if cursor.next.text == ",":
            raise cursor.error(f"'{word.text}' takes one device type here", "remove the others")
    types = (_device_type_word(token),)
    return DeviceTypeClause(name=name, spelling=word.text, loc=cursor.loc_of(word), types=types)


# '(' device-type { ',' device-type } ')'
def _device_types(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    with cursor.argument(word.text):
        tokens = cursor.listed(lambda: _known_device_type(cursor, DEVICE_TYPES))
    for token in tokens if len(tokens) > 1 else ():
        if token.text == "*":
            raise error(cursor.loc_of(token), "'*' beside other device types", "write '*' alone")
    types = tuple(map(_device_type_word, tokens))
    return DeviceTypeClause(name=name, spelling=word.text, loc=cursor.loc_of(word), types=types)


# '(' device-type { ',' device-type } ')'
def parse_device_types(cursor: TokenCursor, spelling: str, sink: DiagnosticSink) -> tuple[str, ...]:
    """The list of a `device_type` clause that makes later clauses specific, in lower case."""
    with cursor.argument(spelling):
        tokens = cursor.listed(lambda: _device_type_name(cursor))
    for token in tokens:
        if _device_type_word(token) not in DEVICE_TYPES:
            sink.warn(
                cursor.loc_of(token),
                f"unknown device type '{token.text}': the clauses after it will not apply",
                f"the device types are {', '.join(DEVICE_TYPES)}",
            )
    return tuple(map(_device_type_word, tokens))


# '(' ( name | string ) ')'
def _bind(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    with cursor.argument(word.text):
        token = cursor.next
        is_string = token.kind is TokenKind.STRING
        target = token.text
        if is_string:
            target = token.text[1:-1]
            if not token.text.startswith('"') or not target or "\\" in target:
                raise cursor.error(f"{token.text} is not the name of a symbol")
            cursor.advance()
        else:
            target = cursor.name("a function name or a string").text
    return BindClause(
        name=name,
        spelling=word.text,
        loc=cursor.loc_of(word),
        target=target,
        is_string=is_string,
    )


def _operator(cursor: TokenCursor, clause: str) -> str:
    token = cursor.next
    known = token.text in REDUCTION_OPERATORS or (token.text == "-" and clause == "reduction")
    if known and cursor.ahead(1).text == ":":
        cursor.advance()
        cursor.advance()
        return token.text
    listed = " ".join(REDUCTION_OPERATORS)
    operator = cursor.ahead(2).text
    if cursor.ahead(1).text == ":" and operator in REDUCTION_OPERATORS:
        raise cursor.error(
            f"expected an operator before ':' in '{clause}', not {token.described}",
            f"write {clause}({operator}:{token.text})",
        )
    if cursor.ahead(1).text == ":":
        raise cursor.error(
            f"'{token.text}' is not a {clause} operator", f"the operators are {listed}"
        )
    raise cursor.error(
        f"expected an operator and ':' in '{clause}', not {token.described}",
        f"write for example {clause}(+: …); the operators are {listed}",
    )


# '(' operator ':' variables ')'
def _reduction(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    with cursor.argument(word.text):
        clause = ReductionClause(
            name=name,
            spelling=word.text,
            loc=cursor.loc_of(word),
            operator=_operator(cursor, word.text),
        )
        clause.items = cursor.listed(lambda: variable(cursor))
    return clause


_IN_PLACE = "IN_PLACE"
"""The word for a scan's input that means its output, for a scan in place (R. Xu's dissertation, 4.1.7)."""


# '(' operator ':' variable ',' variable ',' expression ',' expression ')'
def _scan(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    form = "write scan(op: in, out, identity, count)"

    def comma() -> None:
        if not cursor.accept(","):
            raise cursor.error(f"expected ',' in 'scan', not {cursor.next.described}", form)

    with cursor.argument(word.text):
        operator = _operator(cursor, word.text)
        source = variable(cursor)
        comma()
        target = variable(cursor)
        if source.name == _IN_PLACE:
            source = replace(target, base=replace(target.base))
        comma()
        identity = cursor.expression("the identity")
        comma()
        count = cursor.expression("the number of elements")
    return ScanClause(
        name=name,
        spelling=word.text,
        loc=cursor.loc_of(word),
        operator=operator,
        input=source,
        output=target,
        identity=identity,
        count=count,
    )


# '(' variable ')'
def _peer_section(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    with cursor.argument(word.text):
        item = variable(cursor)
    return PeerClause(name=name, spelling=word.text, loc=cursor.loc_of(word), item=item)


# '(' expression ')'
def _peer_device(cursor: TokenCursor, name: str, word: DirectiveToken) -> Clause:
    with cursor.argument(word.text):
        device = cursor.expression("a device number")
    return PeerClause(name=name, spelling=word.text, loc=cursor.loc_of(word), device=device)


def _require_names(clause: VarListClause) -> None:
    for item in clause.items:
        if not item.name.replace("$", "_").isidentifier():
            raise error(
                item.loc,
                f"clause '{clause.spelling}' on 'declare' takes names of variables only",
                "name the whole variable",
            )


_PARSERS: Mapping[Form, Callable[[TokenCursor, str, DirectiveToken], Clause]] = {
    Form.FLAG: _flag,
    Form.EXPR: _one_expression,
    Form.OPTIONAL_EXPR: _optional_expression,
    Form.SIZES: _sizes,
    Form.REDUCTION: _reduction,
    Form.GANG: _gang,
    Form.WORKER: _with_keyword,
    Form.VECTOR: _with_keyword,
    Form.ROUTINE_GANG: _routine_gang,
    Form.COLLAPSE: _with_keyword,
    Form.TILE: _tile,
    Form.DEFAULT: _default,
    Form.DEVICE_TYPE: _device_type,
    Form.DEVICE_TYPES: _device_types,
    Form.BIND: _bind,
    Form.SCAN: _scan,
    Form.PEER_SECTION: _peer_section,
    Form.PEER_DEVICE: _peer_device,
}
