"""
Macro expansion (C11 6.10.3).

Replacement is done the way gcc does it: the input is a stack of contexts, one per macro being replaced.
A macro is disabled while its context is on the stack, and a name met while its macro is disabled is
painted: it is never replaced. Arguments are collected unexpanded and expanded on their own where the
macro's text uses them, except beside `#` and `##`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ..base.diagnostics import SourceLoc, error
from .preprocess_lexer import Position, Token, closing, escaped, strip, tokenize


@dataclass(slots=True)
class _Context:
    """Tokens still to read; `macro` is the macro they replace, None for the text itself."""

    tokens: Sequence[Token]
    macro: str | None = None
    position: int = 0


MOST_TOKENS = 2_000_000
"""The most tokens that macros between two directives may expand to. The limit stops chains of macros that
each use the one before ten times."""


@dataclass(slots=True)
class _Budget:
    """The number of tokens that the text between two directives may still expand to."""

    asked: set[str]
    """Gets the names that `##` makes."""
    left: int = MOST_TOKENS

    def spend(self, tokens: Sequence[Token]) -> None:
        self.left -= len(tokens)
        if self.left < 0 and tokens:
            raise error(
                tokens[0].loc,
                f"macros expand to more than {MOST_TOKENS} tokens",
                "write a loop, or a function, in place of macros that use each other",
            )


@dataclass(frozen=True, slots=True)
class Macro:
    """Replacement text `value`, and the parameters of a function-like macro; the last one may be
    variadic."""

    value: Sequence[Token]
    arglist: Sequence[str] | None = None
    variadic: bool = False


def macro_of(tokens: Sequence[Token]) -> Macro:
    """The macro of a `#define` line, given from its name on; its parameters are already checked."""
    if len(tokens) < 2 or tokens[1].value != "(":
        return Macro(strip(tokens[1:]))
    close = next(i for i, token in enumerate(tokens) if token.value == ")")
    names = [token.value for token in tokens[2:close] if not token.is_space and token.value != ","]
    variadic = bool(names) and names[-1] == "..."
    if variadic:  # GNU C's `rest...` names the remaining arguments
        before = [token for token in tokens[2:close] if not token.is_space][-2:-1]
        named = bool(before) and before[0].type == "CPP_ID"
        names[-1:] = [] if named else ["__VA_ARGS__"]
    return Macro(strip(tokens[close + 1 :]), names, variadic)


class MacroExpander:
    """A table of macros, and their replacement in text."""

    def __init__(self) -> None:
        now = time.localtime()
        texts = {
            "__DATE__": f"{time.strftime('%b', now)} {now.tm_mday:2} {now.tm_year}",
            "__TIME__": time.strftime("%H:%M:%S", now),
        }
        self.table = {
            name: Macro([Token("CPP_STRING", f'"{text}"', ("", 1, 1))])
            for name, text in texts.items()
        }
        self._clock = set(texts.values())
        self._disabled: set[str] = set()
        self._counter = 0

    def clock(self) -> set[str]:
        """The texts of `__DATE__` and `__TIME__`, without the quotes."""
        return self._clock

    def expanded(
        self, tokens: Sequence[Token], *, in_condition: bool = False, asked: set[str] | None = None
    ) -> list[Token]:
        """
        `tokens` with all macros replaced. `in_condition`: except the operands of `defined`, even if a macro
        produced the `defined`, as other compilers do (C11 6.10.1 leaves that undefined). `asked` collects
        the names that `##` forms.
        """
        budget = _Budget(set() if asked is None else asked)
        run = _Expansion(self.table, self._disabled, self._count, budget, in_condition)
        try:
            return run.run(tokens)
        except RecursionError:
            raise error(tokens[0].loc, "macro expansion nests too deeply here") from None

    def _count(self) -> int:
        self._counter += 1
        return self._counter - 1


class _Expansion:
    """One run over a list of tokens; arguments are expanded by runs of their own."""

    def __init__(
        self,
        table: Mapping[str, Macro],
        disabled: set[str],
        count: Callable[[], int],
        budget: _Budget,
        in_condition: bool,
    ) -> None:
        self._budget = budget
        self._in_condition = in_condition
        self._table = table
        self._disabled = disabled
        self._count = count
        self._stack: list[_Context] = []

    def run(self, tokens: Sequence[Token]) -> list[Token]:
        self._stack.append(_Context(tokens))
        out: list[Token] = []
        table = self._table
        while (token := self._next_name(out)) is not None:
            macro = table.get(token.value)
            if self._in_condition and token.value == "defined":
                out += [token, *self._asked_about()]
            elif macro is None:
                out.append(self._builtin(token))
            elif token.value in self._disabled:
                out.append(Token(token.type, token.value, token.source, True, token.is_expanded))
            elif not self._replace(token, macro):
                out.append(token)
        return out

    def _next_name(self, out: list[Token]) -> Token | None:
        """The next token that may be a macro, None at the end; the tokens before it go to `out`."""
        table = self._table
        while True:
            context = self._stack[-1]
            tokens, first = context.tokens, context.position
            for at in range(first, len(tokens)):
                token = tokens[at]
                if token.type == "CPP_ID" and not token.painted:
                    value = token.value
                    if value in table or value in _NOT_IN_TABLE:
                        out += tokens[first:at]
                        context.position = at + 1
                        return token
            out += tokens[first:]
            context.position = len(tokens)
            if len(self._stack) == 1:
                return None
            self._pop()

    def _asked_about(self) -> list[Token]:
        """The operand of `defined`: a name, or a parenthesis and a name."""
        out: list[Token] = []
        wanted = 1
        while wanted and (token := self._read()) is not None:
            if not token.is_space:
                out.append(token)
                wanted -= not (token.value == "(" and len(out) == 1)
        return out

    def _read(self) -> Token | None:
        """The next token of the innermost context that has one; None at the end of the text."""
        while True:
            context = self._stack[-1]
            if context.position < len(context.tokens):
                context.position += 1
                return context.tokens[context.position - 1]
            if len(self._stack) == 1:
                return None
            self._pop()

    def _pop(self) -> None:
        name = self._stack.pop().macro
        assert name is not None
        self._disabled.discard(name)

    def _push(self, name: str, tokens: Sequence[Token]) -> None:
        self._budget.spend(tokens)
        self._disabled.add(name)
        self._stack.append(_Context(tokens, name))

    def _replace(self, name: Token, macro: Macro) -> bool:
        """Push the replacement of a macro's name; false if its arguments do not follow."""
        body = macro.value
        if macro.arglist is None:
            self._push(
                name.value,
                _substituted(body, {}, _no_argument, None, name.source, self._budget.asked),
            )
            return True
        if not self._at_parenthesis():
            return False
        names = macro.arglist
        arguments = self._arguments(name, names, macro.variadic)

        done: dict[str, list[Token]] = {}

        def expanded(parameter: str) -> list[Token]:
            if parameter not in done:
                run = _Expansion(
                    self._table, self._disabled, self._count, self._budget, self._in_condition
                )
                done[parameter] = run.run(arguments[parameter])
            return done[parameter]

        rest = names[-1] if macro.variadic else None
        if rest is not None and any(token.value == "__VA_OPT__" for token in body):
            body = _with_options(body, any(not t.is_space for t in expanded(rest)))
        self._push(
            name.value,
            _substituted(body, arguments, expanded, rest, name.source, self._budget.asked),
        )
        return True

    def _at_parenthesis(self) -> bool:
        """Whether the next token other than space is '('; if so, skips the space before it."""
        while True:
            context = self._stack[-1]
            at = context.position
            while at < len(context.tokens) and context.tokens[at].is_space:
                at += 1
            if at < len(context.tokens):
                if context.tokens[at].value != "(":
                    return False
                context.position = at
                return True
            if len(self._stack) == 1:
                return False
            spaces = context.tokens[context.position :]
            self._pop()
            outer = self._stack[-1]
            outer.tokens = [*spaces, *outer.tokens[outer.position :]]
            outer.position = 0

    def _arguments(
        self, name: Token, parameters: Sequence[str], variadic: bool
    ) -> dict[str, list[Token]]:
        """The arguments of a call, by parameter; the next token is its '('."""
        self._read()
        arguments: list[list[Token]] = [[]]
        depth = 1
        while depth:
            token = self._read()
            if token is None:
                raise error(
                    name.loc, f"the arguments of macro '{name.value}' are not closed", "add a ')'"
                )
            depth += (token.value == "(") - (token.value == ")")
            splits = not variadic or len(arguments) < len(parameters)
            if token.value == "," and depth == 1 and splits:
                arguments.append([])
            elif depth:
                arguments[-1].append(token)
        found = [strip(argument) for argument in arguments]
        if not parameters and found == [[]]:
            found = []
        if variadic and len(found) == len(parameters) - 1:
            found.append([])
        if len(found) != len(parameters):
            least = "at least " if variadic else ""
            wanted = len(parameters) - variadic
            raise error(
                name.loc,
                f"macro '{name.value}' takes {least}{wanted} arguments and is given {len(found)}",
            )
        return dict(zip(parameters, found, strict=True))

    def _builtin(self, token: Token) -> Token:
        if token.value == "__LINE__":
            return Token("CPP_INTEGER", str(token.source[1]), token.source)
        if token.value == "__COUNTER__":
            return Token("CPP_INTEGER", str(self._count()), token.source)
        return token


_NOT_IN_TABLE = frozenset(("__LINE__", "__COUNTER__", "defined"))
"""Reserved names, which cannot be macros (`defined` in conditions)."""


_OPERATORS = frozenset(("#", "##"))


def _no_argument(parameter: str) -> list[Token]:
    raise KeyError(parameter)


def _placed(tokens: Sequence[Token], place: Position, *, arguments: bool = False) -> list[Token]:
    """
    Copies of `tokens` with the place of the macro's use; tokens of arguments on other lines keep their
    places, so that code inside the parentheses of a macro has its own line numbers.
    """
    file, line, _ = place
    out: list[Token] = []
    for token in tokens:
        source = token.source
        if source is place and token.is_expanded:
            out.append(token)  # already placed by the expansion of a macro inside
            continue
        apart = arguments and (source[1] != line or source[0] != file)
        out.append(Token(token.type, token.value, source if apart else place, token.painted, True))
    return out


def _substituted(
    body: Sequence[Token],
    arguments: Mapping[str, list[Token]],
    expanded: Callable[[str], list[Token]],
    rest: str | None,
    place: Position,
    asked: set[str],
) -> list[Token]:
    """
    A macro's text with parameters replaced by their `arguments` (beside `#` and `##`) or by the result of
    `expanded`, and `##` carried out; `asked` also collects its results. `rest` is the parameter of variable
    arguments.
    """
    out: list[Token] = []
    if _OPERATORS.isdisjoint([token.value for token in body]):
        for token in body:
            value = token.value
            if value in arguments:
                out += _placed(expanded(value), place, arguments=True)
            else:
                out.append(Token(token.type, value, place, token.painted, True))
        return out
    index = 0
    while index < len(body):
        token = body[index]
        after = _skip_space(body, index + 1)
        following = body[after] if after < len(body) else None
        if token.value == "#" and following is not None and following.value in arguments:
            text = _stringized(arguments[following.value])
            out += _placed([Token("CPP_STRING", text, place)], place)
            index = after + 1
        elif token.value == "##" and following is not None:
            index = after + 1
            after = _skip_space(body, index)
            if rest is not None and following.value == rest and out and out[-1].value == ",":
                out = out if arguments[rest] else out[:-1]
                out += _placed(expanded(rest), place, arguments=True)
                continue
            right = arguments.get(following.value, [following])
            if following.value == "#" and after < len(body) and body[after].value in arguments:
                right = [Token("CPP_STRING", _stringized(arguments[body[after].value]), place)]
                index = after + 1
            asked.add(_paste(out, _placed(right, place) or [_placemarker(place)], place))
        elif token.is_space and following is not None and following.value == "##":
            index = after
        elif token.value in arguments:
            pasted = following is not None and following.value == "##"
            argument = arguments[token.value] if pasted else expanded(token.value)
            tokens = _placed(argument, place, arguments=True)
            out += tokens or ([_placemarker(place)] if pasted else [])
            index += 1
        else:
            out += _placed([token], place)
            index += 1
    return [token for token in out if token.value]


def _with_options(body: Sequence[Token], present: bool) -> list[Token]:
    """A macro's text with the contents of `__VA_OPT__(…)` if variable arguments are `present`, or without
    them (C23 6.10.4.1)."""
    out: list[Token] = []
    index = 0
    while index < len(body):
        token = body[index]
        index += 1
        opening = _skip_space(body, index)
        if token.value != "__VA_OPT__" or opening >= len(body) or body[opening].value != "(":
            out.append(token)
            continue
        close = closing(body, opening)
        if close is None:
            raise error(token.loc, "the argument of '__VA_OPT__' is not closed", "add a ')'")
        out += body[opening + 1 : close] if present else ()
        index = close + 1
    return out


def _skip_space(tokens: Sequence[Token], index: int) -> int:
    while index < len(tokens) and tokens[index].is_space:
        index += 1
    return index


def _placemarker(place: Position) -> Token:
    return Token("CPP_PLACEMARKER", "", place)


def _paste(out: list[Token], right: Sequence[Token], place: Position) -> str:
    """Join the last token of `out` and the first of `right`, and append the others; the text of both."""
    left = out.pop() if out else _placemarker(place)
    text = left.value + right[0].value
    joined = tokenize(text, place, fixed=True) if text else [_placemarker(place)]
    if len(joined) != 1 or joined[0].type.startswith("CPP_COMMENT"):
        raise error(
            SourceLoc(*place),
            f"'##' cannot join '{left.value}' and '{right[0].value}' to one token",
        )
    out += _placed(joined, place)
    out += right[1:]
    return text


def _stringized(tokens: Sequence[Token]) -> str:
    """The string literal into which `#` converts an argument (C11 6.10.3.2)."""
    parts: list[str] = []
    for index, token in enumerate(tokens):
        if token.is_space:
            if index and not tokens[index - 1].is_space:
                parts.append(" ")
        elif token.type in ("CPP_STRING", "CPP_CHAR"):
            parts.append(escaped(token.value))
        else:
            parts.append(token.value)
    return '"' + "".join(parts) + '"'


def check_parameters(args: list[Token]) -> None:
    """Raises `CompileError` for malformed parameter lists and misplaced `##` in a #define of `args`."""
    body = args[1:]
    if len(args) > 1 and args[1].value == "(":
        close = next((i for i, t in enumerate(args) if t.value == ")"), None)
        if close is None:
            raise error(args[1].loc, "expected ')' after the macro's parameters")
        names = [t for t in args[2:close] if not t.is_space]
        for index, token in enumerate(names):
            wanted = index % 2 == 1
            dots = token.value == "..." and index == len(names) - 1
            if dots or ((token.value == ",") if wanted else (token.type == "CPP_ID")):
                continue
            raise error(token.loc, f"unexpected '{token.value}' among the macro's parameters")
        if names and names[-1].value == ",":
            raise error(names[-1].loc, "expected a parameter after ','")
        body = args[close + 1 :]
    elif len(args) > 1 and not args[1].is_space:
        raise error(args[1].loc, f"expected a space after the macro name '{args[0].value}'")
    body = strip(body)
    if body and "##" in (body[0].value, body[-1].value):
        raise error(body[0].loc, "'##' is not allowed at either end of a macro's text")


def spelling(tokens: Sequence[Token]) -> str:
    """The text of tokens, with single spaces."""
    return re.sub(r"\s+", " ", "".join(t.value for t in tokens)).strip()
