"""
Parses preprocessed C text into a pycparser tree, with errors at file, line and column.

pycparser knows C11 but few GNU spellings, so `mask_gnu` first rewrites those that real headers and
programs use, always to text of the same length: columns stay true. Attributes that are hints become spaces.

The parser subclass differs from pycparser's in three ways: errors carry a `SourceLoc`, operators have the
position of the operator itself for unary expressions, and a lone expression (a clause argument) can be
parsed in a scope where some names are types.
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportAttributeAccessIssue=false
# pyright: reportPrivateUsage=false, reportArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from typing import Any, NoReturn

from pycparser import c_ast
from pycparser.c_lexer import Token
from pycparser.c_parser import Coord, _TokenStream

from ..base.diagnostics import CompileError, SourceLoc, error
from ..base.identifiers import BEYOND_ASCII
from ..base.library_headers import is_system
from ..base.similar import did_you_mean
from .asm_syntax import ASM_WORD
from .attribute_syntax import ATTRIBUTE_WORD, KEPT_ATTRIBUTES, REFUSED_ATTRIBUTES
from .known_headers import header_of
from .preprocess_predefined import C23_MARK
from .shared_declarations import Known, SharedDeclarations, known_declarations
from .syntax_remedies import IS_CXX, OTHER_HALVES, in_list, is_cxx, remedy_of_context

BUILTIN_TYPEDEFS = frozenset(
    (
        "__builtin_va_list",
        "_Float32",
        "_Float32x",
        "_Float64",
        "_Float64x",
        "_Float128",
        "__float128",
        "__int128_t",
        "__uint128_t",
    )
)

# GNU spellings and their replacements, padded to the same length.
_SPELLINGS = {
    "__extension__": "",
    "__restrict": "restrict",
    "__restrict__": "restrict",
    "__inline": "inline",
    "__inline__": "inline",
    "__const": "const",
    "__const__": "const",
    "__volatile": "volatile",
    "__volatile__": "volatile",
    "__signed": "signed",
    "__signed__": "signed",
    "__alignof__": "_Alignof",
    "__alignof": "_Alignof",
    "__builtin_offsetof": "offsetof",
    "__complex__": "_Complex",
    "__complex": "_Complex",
}

_TOKENS = re.compile(
    r'"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*\#[^\n]*"
    r"|\b(?:__\w+|asm)\b",
    re.MULTILINE,
)
_LINE_MARKER = re.compile(r'^[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)(?:[ \t]+"([^"\n]*)")?', re.MULTILINE)


_NOT_OF_PLACES = re.compile(r"^([ \t]*#[ \t]*(?:line[ \t]+)?\d[^\n]*)|[^\n]+", re.MULTILINE)
"""Matches the lines of a text, without their line breaks; line markers are in a group."""


def line_marker(line: str) -> tuple[int, str | None] | None:
    """The number of the line after a line marker, and its file if the marker names one."""
    m = _LINE_MARKER.match(line)
    return None if m is None else (int(m.group(1)), m.group(2))


def place(text: str, position: int, filename: str) -> SourceLoc:
    """The place in the user's files of `position` in preprocessed `text`, by the last line marker."""
    marker = None
    for m in _LINE_MARKER.finditer(text, 0, position):
        marker = m
        filename = m.group(2) or filename
    column = position - (text.rfind("\n", 0, position) + 1) + 1
    if marker is None:
        return SourceLoc(filename, text.count("\n", 0, position) + 1, column)
    after = text.find("\n", marker.end()) + 1
    return SourceLoc(filename, int(marker.group(1)) + text.count("\n", after, position), column)


def _closing_parenthesis(text: str, position: int) -> int:
    """The position after the parenthesis that closes the one at `position`, or -1."""
    depth = 0
    for m in re.compile(r'"(?:\\.|[^"\\\n])*"|[()]').finditer(text, position):
        depth += {"(": 1, ")": -1}.get(m.group(), 0)
        if depth == 0:
            return m.end()
    return -1


def blank(text: str) -> str:
    """`text` with spaces in place of everything but line breaks and line markers."""
    return _NOT_OF_PLACES.sub(lambda m: m.group() if m.group(1) else " " * len(m.group()), text)


def _is_of_pointer(text: str, position: int) -> bool:
    """Whether the text at a position follows a `*`, so that it qualifies a pointer."""
    return text[max(position - 80, 0) : position].rstrip().endswith("*")


def _after_attribute(text: str, start: int, end: int, filename: str) -> tuple[int, bool]:
    """
    The position after the attribute list whose keyword is text[start:end], and whether any of its
    attributes is more than a hint. Raises `CompileError` for attributes that change the program's meaning
    and are not supported.
    """
    opening = re.compile(r"\s*\(").match(text, end)
    close = _closing_parenthesis(text, opening.end() - 1) if opening else -1
    if close < 0:
        raise error(place(text, start, filename), "expected '((' after '__attribute__'")
    kept = False
    for word in ATTRIBUTE_WORD.finditer(text, end, close):
        name = word.group().strip("_")
        kept |= name in KEPT_ATTRIBUTES and (name != "noreturn" or not _is_of_pointer(text, start))
        if name in REFUSED_ATTRIBUTES:
            loc = place(text, word.start(), filename)
            if is_system(loc):
                continue
            raise error(loc, f"attribute '{name}' is not supported", REFUSED_ATTRIBUTES[name])
    return close, kept


def mask_gnu(text: str, filename: str) -> str:
    """
    `text` with GNU spellings replaced by standard ones or spaces of the same length. Raises
    `CompileError` for extensions that cannot be ignored.
    """
    out: list[str] = []
    done = 0
    for m in _TOKENS.finditer(text):
        if m.start() < done:
            continue
        word = m.group()
        end = m.end()
        if word in ("__attribute__", "__attribute"):
            end, kept = _after_attribute(text, m.start(), m.end(), filename)
            if kept:  # its arguments may have such spellings, too
                continue
            replacement = blank(text[m.start() : end])
        elif word in _SPELLINGS:
            replacement = _SPELLINGS[word].ljust(len(word))
        elif word == "asm":
            replacement = word if _is_declared_use(text, m) else ASM_WORD
        else:
            continue
        out += [text[done : m.start()], replacement]
        done = end
    out.append(text[done:])
    return "".join(out)


class UnknownType(CompileError):
    """Reports a name that is not a type where only a type can be."""

    def __init__(self, name: str, loc: SourceLoc, remedy: str):
        super().__init__(error(loc, f"unknown type name '{name}'", remedy).diagnostics)
        self.name = name


def _is_declared_use(text: str, m: re.Match[str]) -> bool:
    """Whether the program uses `asm`, an ordinary name in ISO C, as the name of a variable, function or
    type."""
    following = re.compile(r"\s*(\w+|\S)").match(text, m.end())
    return following is None or following.group(1) not in ("(", "volatile", "goto", "__volatile__")


_TOKENS_BEFORE = 64
"""How many tokens before a mistake messages look at."""


class _Parser(SharedDeclarations):
    """pycparser with our errors, unary operator positions, and a typedef oracle."""

    def __init__(self, *, c23: bool = False) -> None:
        super().__init__(c23=c23)
        self.is_typedef: Callable[[str], bool] | None = None
        self._types: set[str] = set(BUILTIN_TYPEDEFS)
        """The names that were declared as types anywhere in the file so far."""
        self.end: SourceLoc | None = None  # set by the parsing of a single expression

    def _parse_external_declaration(self) -> Any:
        tokens = self._tokens
        if tokens._index > 10 * _TOKENS_BEFORE:  # tokens that no message needs any more
            del tokens._buffer[: tokens._index - _TOKENS_BEFORE]
            tokens._index = _TOKENS_BEFORE
        return super()._parse_external_declaration()

    def _parse_error(self, msg: str, coord: Coord | str | None) -> NoReturn:
        token = self._token_before(0)
        if (
            token is not None
            and token.type == "TYPEID"
            and msg in (f"before: {token.value}", "Invalid expression")
        ):
            loc = SourceLoc(token.filename or self.filename, token.lineno, token.column)
            remedy = (
                "write a variable, or '(type)value' for a cast; check for a missing ';' before it"
            )
            raise error(loc, f"'{token.value}' is a type, which is not allowed here", remedy)
        if msg in _TYPE_MESSAGES:
            self._check_type_name(token)
        if not isinstance(coord, Coord):
            coord = self._tok_coord(token) if token is not None else None
        if coord is None and self.end is not None:
            raise error(self.end, "the expression ends too early", "write the missing operand")
        if coord is None:
            loc = SourceLoc(self.clex.filename or self.filename, self.clex._lineno)
        else:
            loc = SourceLoc(coord.file or self.filename, coord.line, coord.column or 0)
        message, remedy = _explain(msg, token.value if token is not None else None)
        name = self._token_before(1)
        if msg == "Invalid declaration" and name is not None and name.value in C23_WORDS:
            loc = SourceLoc(name.filename or self.filename, name.lineno, name.column)
            message = f"'{name.value}' is a keyword of C23"
            remedy = "use another name, or compile with -std=c17"
        if token is not None and token.value == "}" and len(self._scope_stack) == 1:
            remedy = "no '{' is open here: remove it, or a '}' before it"
        if token is not None and message.startswith(("syntax error", "expected a declaration")):
            remedy = remedy_of_context(self._words_before(), token.value) or remedy
        raise error(loc, message, remedy)

    def _words_before(self) -> list[str]:
        """The texts of the last tokens before the current one."""
        index = self._tokens._index
        first = max(index - _TOKENS_BEFORE, 0)
        return [t.value for t in self._tokens._buffer[first:index] if t is not None]

    def _token_before(self, count: int) -> Token | None:
        """The token `count` places before the current one; None before the first and after the last."""
        index, buffer = self._tokens._index - count, self._tokens._buffer
        return buffer[index] if 0 <= index < len(buffer) else None

    def _check_type_name(self, token: Token | None) -> None:
        """Raise if two names in a row, the first where a declaration may begin, show an unknown type."""
        name, before = self._token_before(1), self._token_before(2)
        if name is None or name.type != "ID":
            name, before = token, name
        elif token is None or token.type not in ("ID", "TIMES"):
            return
        if name is None or name.type != "ID":
            return
        if before is None or before.type in _BEFORE_DECLARATION:
            header = header_of(name.value)
            known = {n for scope in self._scope_stack for n, is_type in scope.items() if is_type}
            remedy = "declare it with typedef, or include its header"
            if name.value in OTHER_HALVES:
                remedy = OTHER_HALVES[name.value]
            elif is_cxx(name.value):
                remedy = IS_CXX
            elif header is not None:
                remedy = f"add '#include <{header}>'"
            else:
                remedy = did_you_mean(name.value, known) or remedy
            loc = SourceLoc(name.filename or self.filename, name.lineno, name.column)
            raise UnknownType(name.value, loc, remedy)

    def _expect(self, token_type: str) -> Token:
        token = self._peek()
        if token is not None and token.type == token_type:
            return self._advance()
        if token is None:
            self._parse_error("At end of input", None)
        if token.type == "ID" and token_type in ("SEMI", "RPAREN"):
            previous = self._token_before(1)
            if previous is not None and previous.type == "ID":
                self._check_type_name(token)
        expected = _PUNCTUATION.get(token_type)
        if expected is None:
            self._parse_error(f"before: {token.value}", self._tok_coord(token))
        previous = self._token_before(1)
        place = self._tok_coord(token)
        if token_type == "SEMI" and previous is not None:
            column = previous.column + len(previous.value)
            place = Coord(previous.filename, previous.lineno, column)
        loc = SourceLoc(place.file or self.filename, place.line, place.column or 0)
        remedy = f"write {expected} here"
        if token_type == "SEMI" and token.value == "{":
            remedy = "functions cannot be defined inside functions; otherwise write ';' here"
        if token_type in ("RPAREN", "RBRACE"):
            remedy = in_list(expected, token.value)
        if token_type == "SEMI" and len(self._scope_stack) == 1 and token.value in _STATEMENTS:
            remedy = f"write '{{' before '{token.value}': a function's body begins with it"
        remedy = remedy_of_context(self._words_before(), token.value) or remedy
        raise error(loc, f"expected {expected} before '{token.value}'", remedy)

    def _add_typedef_name(self, name: str, coord: Coord | None) -> None:
        self._types.add(name)
        super()._add_typedef_name(name, coord)

    def _is_type_in_scope(self, name: str) -> bool:
        if self.is_typedef is None and name not in self._types:
            return False
        for scope in reversed(self._scope_stack):
            if name in scope:
                return scope[name]
        return name in BUILTIN_TYPEDEFS or (self.is_typedef is not None and self.is_typedef(name))

    def _parse_unary_expression(self) -> c_ast.Node:
        token = self._peek()
        node = super()._parse_unary_expression()
        if (
            token is not None
            and isinstance(node, c_ast.UnaryOp)
            and token.value == node.op
            and not node.op.startswith("p")
        ):
            node.coord = self._tok_coord(token)
        return node

    def expression(self, text: str, loc: SourceLoc, is_typedef: Callable[[str], bool]) -> Any:
        """Parse `text` as one expression that starts at `loc`."""
        self._scope_stack = [{}]
        self.is_typedef = is_typedef
        self.filename = loc.file
        self.end = SourceLoc(loc.file, loc.line, loc.column + len(text.rstrip()))
        self._typedef_checked_token = None
        self.clex.input(text, loc.file)
        self.clex._lineno = loc.line
        self.clex._line_start = 1 - loc.column
        self._tokens = _TokenStream(self.clex.token)
        node = self._parse_expression()
        token = self._peek()
        if token is not None:
            self._parse_error(f"before: {token.value}", self._tok_coord(token))
        return node


_PUNCTUATION = {
    "SEMI": "';'",
    "RPAREN": "')'",
    "LPAREN": "'('",
    "RBRACKET": "']'",
    "RBRACE": "'}'",
    "LBRACE": "'{'",
    "COLON": "':'",
    "COMMA": "','",
    "WHILE": "'while'",
}
_TYPE_MESSAGES = frozenset(
    ("Invalid function definition", "Invalid declaration", "Invalid specifier list")
)
_BEFORE_DECLARATION = frozenset(
    (
        "SEMI",
        "LBRACE",
        "RBRACE",
        "LPAREN",
        "COMMA",
        "COLON",
        "PPPRAGMASTR",
        "STATIC",
        "CONST",
        "EXTERN",
    )
)

_STATEMENTS = ("return", "if", "for", "while", "do", "switch")
_REMEDIES = {
    ";": "check the line before for a missing operator or parenthesis",
    "}": "check for a missing ';' or parenthesis before it",
    "{": "check for a missing ';', ')' or a misspelled keyword before it",
    ")": "check for a missing operand or an extra parenthesis",
    "else": "'else' must directly follow the statement of an 'if'; check for an extra ';' before it",
}


def _explain(message: str, token: str | None) -> tuple[str, str]:
    """The message and the remedy for a message of pycparser."""
    if message.startswith("before: ") or message in ("Invalid expression", "Invalid declarator"):
        token = message.removeprefix("before: ") if message.startswith("before: ") else token
        if token is None:
            return "unexpected end of file", "check for a missing '}' or ')'"
        if token == "pragma":
            return (
                "a pragma is not allowed inside an expression or declaration",
                "move it before the statement",
            )
        remedy = _REMEDIES.get(token)
        if remedy is None:
            remedy = f"check for a missing ';' before '{token}', or an unknown type name"
        return f"syntax error before '{token}'", remedy
    if message.startswith("At end of input"):
        return "unexpected end of file", "check for a missing '}' or ')'"
    if "Comments are not supported" in message:
        return "unterminated comment", "close it with '*/'"
    if message.startswith("[[gnu::"):
        return message, "write it as __attribute__((…))"
    if message.startswith("Illegal character '\"'"):
        return "unterminated string literal", "close it with '\"' on the same line"
    if message.startswith("Invalid char constant"):
        return (
            message[0].lower() + message[1:],
            "write a string in double quotes; single ones hold one character",
        )
    if message == "Invalid multiple types specified":
        return (
            "several types in one declaration",
            "write ';' after the '}' of the structure here or before; otherwise remove all types but one",
        )
    if message.startswith("Unmatched '"):
        return "unterminated character constant", "close it with ' on the same line"
    if message == "Invalid function definition":
        return (
            "expected a declaration",
            "write e.g. 'int name;', or move the statement into a function",
        )
    if "previously declared" in message:
        return message[0].lower() + message[1:], "use a different name"
    if message.lower().endswith(("require c23", "requires c23")):
        return message[0].lower() + message[1:], "compile with -std=c23"
    if message == "Missing type in declaration":
        return (
            "missing type in declaration",
            "write the type, e.g. 'int', or include the header that declares it",
        )
    return message[0].lower() + message[1:], "check the C syntax here"


def parse_text(text: str, filename: str) -> c_ast.FileAST:
    """
    Parse a preprocessed translation unit; `filename` names it where `text` has no line markers.
    Raises `CompileError` on syntax errors.
    """
    return parse_masked(mask_gnu(text, filename), filename)


def parse_masked(text: str, filename: str, types: AbstractSet[str] = frozenset()) -> c_ast.FileAST:
    """
    As `parse_text`, for text that `mask_gnu` returned; `types` are further names of types. Raises
    `UnknownType` where a name that is not a type is used as one.
    """
    known = known_declarations()
    if known is not None and not types:
        with suppress(CompileError):  # the second attempt finds the mistake again and explains it
            return _parse(text, filename, types, known)
    return _parse(text, filename, types, None)


def _parse(text: str, filename: str, types: AbstractSet[str], known: Known | None) -> c_ast.FileAST:
    parser = _Parser(c23=text.startswith(C23_MARK))
    parser.filename, parser.known = filename, known
    parser.is_typedef = types.__contains__ if types else None
    try:
        return parser.parse(text, filename)
    except RecursionError:
        raise error(
            SourceLoc(parser.clex.filename, parser.clex._lineno),
            "the program is nested too deeply",
            "split the expression or the blocks here into several",
        ) from None
    except ValueError as e:  # pycparser's integer suffix check
        raise error(SourceLoc(parser.clex.filename, parser.clex._lineno), str(e)) from e


C23_WORDS = frozenset(
    (
        *("alignas", "alignof", "bool", "static_assert", "thread_local", "true", "false"),
        *("nullptr", "constexpr", "typeof_unqual"),
    )
)
"""Keywords of C23 that are ordinary names in C11."""
_NAME = re.compile(rf"\s*([A-Za-z_${BEYOND_ASCII}][\w${BEYOND_ASCII}]*)\s*\Z")
_NUMBER = re.compile(r"\s*(0|[1-9][0-9]*)\s*\Z")
_KEYWORDS = frozenset({"sizeof", "_Alignof", "offsetof", "__builtin_va_arg", "_Generic"})
_KEYWORDS_23 = _KEYWORDS | {"alignof", "true", "false", "nullptr"}


def parse_expression(
    text: str, loc: SourceLoc, is_typedef: Callable[[str], bool], *, c23: bool = False
) -> Any:
    """
    Parse a lone C expression (a clause argument) whose first character is at `loc`. `is_typedef` tells
    which names are types in its scope; `c23` makes C23's keywords keywords. Raises `CompileError` on syntax
    errors.
    """
    name = _NAME.match(text)
    plain = name is not None and name.group(1) not in (_KEYWORDS_23 if c23 else _KEYWORDS)
    if name is not None and plain and not is_typedef(name.group(1)):
        column = loc.column + name.start(1)
        return c_ast.ID(name.group(1), Coord(loc.file, loc.line, column))
    number = _NUMBER.match(text)
    if number is not None:
        column = loc.column + number.start(1)
        return c_ast.Constant("int", number.group(1), Coord(loc.file, loc.line, column))
    if not text.strip():
        raise error(loc, "expected an expression", "write an expression here")
    return _Parser(c23=c23).expression(mask_gnu(text, loc.file), loc, is_typedef)
