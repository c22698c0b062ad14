"""
Initialisers (C11 6.7.9) flattened to (byte offset, value) pairs.

An `_InitialiserBuilder` walks the type and the braced list together. A `_Cursor` is a position in one
braced list; sub-aggregates without braces of their own share the cursor of the list around them (6.7.9p20).
"""

# pyright: reportAttributeAccessIssue=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ..ast import Expr, FloatConst, Initializer, IntConst, StringLiteral
from ..gnu_syntax import ArrayRange
from ..types import ArrayType, ComplexType, CType, Field, IntType, RecordType
from . import complex_numbers
from .constants import AddressConstant, constant_value, float_const
from .conversions import convert_assigned, rvalue
from .members import member_path
from .unit import Unit


class _Cursor:
    """A position in a braced list; remembers expressions already checked."""

    def __init__(self, nodes: list[Any]) -> None:
        self._nodes = nodes
        self._index = 0
        self._checked: dict[Any, Expr] = {}

    @property
    def node(self) -> Any:
        """The next item, or None at the end."""
        return self._nodes[self._index] if self._index < len(self._nodes) else None

    @property
    def place(self) -> int:
        """The number of items read so far."""
        return self._index

    def go_to(self, place: int) -> None:
        """Goes back to a position that `place` returned."""
        self._index = place

    def advance(self) -> None:
        self._index += 1

    def expression(self, unit: Unit, node: Any) -> Expr:
        if node not in self._checked:
            self._checked[node] = unit.expressions.check(node)
        return self._checked[node]


MOST_ITEMS = 1 << 22
"""The most elements that a range `[first ... last]` may set."""

MOST_BYTES = 1 << 26
"""The largest size in bytes of an object with static storage and a value other than zero, since its bytes
become part of the program."""


class InitialiserChecker:
    """Checks initialisers in the unit's current scope."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit

    def check(self, t: CType, node: Any, what: str, is_static: bool) -> Initializer:
        """
        The initialiser `node` of an object of type `t`; its `type` has the length of an array
        declared without one. `what` begins messages. With `is_static` values must be constant.
        """
        builder = _InitialiserBuilder(self.unit, what, is_static=is_static)
        t = builder.whole(t, node)
        if is_static:
            builder.require_constants()
            self._check_size(t, node, what, builder)
        return Initializer(
            t, builder.items, builder.zero_fill, self.unit.loc(node), builder.bit_fields
        )

    def _check_size(self, t: CType, node: Any, what: str, builder: _InitialiserBuilder) -> None:
        """Raise `CompileError` for an object above `MOST_BYTES`, unless all its values are zero; zeros are
        left out then."""
        if not isinstance(t, ArrayType | RecordType) or t.size <= MOST_BYTES:
            return
        if all(_is_zero(expr) for _, expr in builder.items):
            builder.items.clear()
            builder.zero_fill = True
            return
        raise error(
            self.unit.loc(node),
            f"{what}: {t.size} bytes with values other than zero, of which {MOST_BYTES} are supported",
            "set its elements at the beginning of main",
        )


def _is_zero(expr: Expr) -> bool:
    """Whether a constant is all zero bits, which -0.0 is not."""
    return isinstance(expr, IntConst | FloatConst) and str(expr.value) in ("0", "0.0")


class _InitialiserBuilder:
    def __init__(self, unit: Unit, what: str, *, is_static: bool) -> None:
        self.unit = unit
        self.what = what
        self.is_static = is_static
        self.items: list[tuple[int, Expr]] = []
        self.bit_fields: dict[int, Field] = {}
        self.zero_fill = False
        self._known: dict[tuple[int, str, str], Expr] = {}
        """The values of numbers by type (the number of its object), kind and spelling: long tables repeat
        theirs."""

    # Whole objects ----------------------------------------------------------------------------

    def whole(self, t: CType, node: Any) -> CType:
        """Initialise a whole object; returns its type, completed by the length of the initialiser."""
        self._require_complete(t, node)
        string = self._string_for(t, node)
        if string is not None and isinstance(t, ArrayType):
            length = self._add_string(t, string, 0)
            return ArrayType(t.element, length) if t.length is None else t
        if isinstance(node, c_ast.InitList):
            return self._braced(t, node, 0, None)
        if isinstance(t, ArrayType):
            raise error(
                self.unit.loc(node), f"{self.what}: an array needs a braced list", "write '{ … }'"
            )
        self._scalar_or_record(t, self.unit.expressions.check(node), 0, None)
        return t

    def _require_complete(self, t: CType, node: Any) -> None:
        if not t.is_complete and not isinstance(t, ArrayType):
            raise error(
                self.unit.loc(node),
                f"{self.what}: type '{t}' is incomplete",
                "define the type first",
            )

    def _braced(self, t: CType, node: Any, offset: int, field: Field | None) -> CType:
        """`{ … }` for an object of type `t` at `offset`."""
        self.zero_fill = True
        cursor = _Cursor(list(node.exprs or ()))
        if isinstance(t, ArrayType | RecordType) and not isinstance(t, ComplexType):
            count = self._aggregate(t, cursor, offset, braced=True)
            t = ArrayType(t.element, count) if isinstance(t, ArrayType) and t.length is None else t
        elif cursor.node is not None:
            self._element(t, cursor, offset, field)
        if cursor.node is not None:
            raise error(
                self.unit.loc(cursor.node),
                f"{self.what}: too many values for '{t}'",
                "remove the values in excess",
            )
        return t

    # Aggregates -------------------------------------------------------------------------------

    def _aggregate(
        self,
        t: ArrayType | RecordType,
        cursor: _Cursor,
        offset: int,
        *,
        braced: bool,
        start: int = 0,
    ) -> int:
        """
        Initialise the elements or members of `t` from `start`; returns the number of elements that an array
        without length gets.
        """
        index, extent = start, start
        while (node := cursor.node) is not None:
            if isinstance(node, c_ast.NamedInitializer):
                if not braced:
                    return extent
                index = self._designated(t, node, list(node.name), cursor, offset)
            else:
                place = self._place(t, index)
                if place is None:
                    return extent
                element, inner_offset, field = place
                self._element(element, cursor, offset + inner_offset, field)
                index += 1
            extent = max(extent, index)
        return extent

    def _place(
        self, t: ArrayType | RecordType, index: int
    ) -> tuple[CType, int, Field | None] | None:
        """Type, offset and field of the element or member number `index`; None past the end."""
        if isinstance(t, ArrayType):
            if isinstance(t.length, int) and index >= t.length:
                return None
            return t.element.type, index * t.element.type.size, None
        fields = t.fields or ()
        if index >= (min(1, len(fields)) if t.is_union else len(fields)):
            return None
        field = fields[index]
        array = field.type.type
        if isinstance(array, ArrayType) and not array.length:
            # The object is then larger than its type (GNU C), which only static storage allows.
            if self.is_static and index == len(fields) - 1 and not t.is_union:
                return ArrayType(array.element, None), field.offset, field
            if array.length is None:
                return None
        return field.type.type, field.offset, field

    def _designated(
        self,
        t: ArrayType | RecordType,
        item: Any,
        designators: list[Any],
        cursor: _Cursor,
        offset: int,
    ) -> int:
        """Initialise the designated part, `[i].m… = value`, of `t`; returns the index after it
        (6.7.9p17)."""
        designator, rest = designators[0], designators[1:]
        if isinstance(designator, ArrayRange):
            return self._designated_range(t, item, designators, cursor, offset)
        if isinstance(designator, c_ast.ArrayDesignator):
            index = self._array_index(t, designator)
        else:
            index, extra = self._member_index(t, designator)
            rest = extra + rest
        place = self._designated_place(t, index)
        element, inner_offset, field = place
        if not rest:
            self._element(element, cursor, offset + inner_offset, field, item.expr)
        else:
            if not isinstance(element, ArrayType | RecordType):
                raise error(
                    self.unit.loc(rest[0]),
                    f"{self.what}: '{element}' has no elements or members",
                    "shorten the designator",
                )
            after = self._designated(element, item, rest, cursor, offset + inner_offset)
            self._aggregate(element, cursor, offset + inner_offset, braced=False, start=after)
        return index + 1

    def _designated_range(
        self,
        t: ArrayType | RecordType,
        item: Any,
        designators: list[Any],
        cursor: _Cursor,
        offset: int,
    ) -> int:
        """`[first ... last] = value` (GNU C): the item once for each index."""
        span, rest = designators[0], designators[1:]
        first = self._array_index(t, span)
        last = self._array_index(t, c_ast.ArrayDesignator(span.last, span.coord))
        if last < first:
            raise error(
                self.unit.loc(span), f"{self.what}: an empty range", "write the lower index first"
            )
        if last - first >= MOST_ITEMS:
            raise error(
                self.unit.loc(span),
                f"{self.what}: a range of {last - first + 1} elements, of which {MOST_ITEMS} are supported",
                "set them in a loop",
            )
        start, after = cursor.place, last + 1
        for index in range(first, last + 1):
            cursor.go_to(start)
            number = c_ast.Constant("int", str(index), span.coord)
            single = c_ast.ArrayDesignator(number, span.coord)
            after = self._designated(t, item, [single, *rest], cursor, offset)
        return after

    def _designated_place(
        self, t: ArrayType | RecordType, index: int
    ) -> tuple[CType, int, Field | None]:
        if isinstance(t, RecordType) and t.is_union:
            field = (t.fields or ())[index]
            return field.type.type, field.offset, field
        place = self._place(t, index)
        if place is None:
            raise error(
                SourceLoc(self.unit.file, 0),
                f"{self.what}: a flexible array member cannot be initialised",
                "allocate it",
            )
        return place

    def _array_index(self, t: ArrayType | RecordType, designator: Any) -> int:
        loc = self.unit.loc(designator)
        if not isinstance(t, ArrayType):
            raise error(loc, f"{self.what}: '[…]' in the initialiser of '{t}'", "write '.member ='")
        index = self.unit.expressions.integer(designator.expr)
        if index is None:
            raise error(
                loc,
                f"{self.what}: the index of a designator must be a constant",
                "write a constant",
            )
        if index < 0 or (isinstance(t.length, int) and index >= t.length):
            raise error(
                loc, f"{self.what}: index {index} is outside '{t}'", "use an index within the array"
            )
        return index

    def _member_index(self, t: ArrayType | RecordType, designator: Any) -> tuple[int, list[Any]]:
        """The index of `.name` in `t`, and the designators that remain inside anonymous members."""
        loc, name = self.unit.loc(designator), designator.name
        if not isinstance(t, RecordType):
            raise error(
                loc, f"{self.what}: '.{name}' in the initialiser of an array", "write '[index] ='"
            )
        path = member_path(t, name, loc, f"{self.what}: ")
        index = next(i for i, f in enumerate(t.fields or ()) if f is path[0])
        return index, [designator] if len(path) > 1 else []

    # Elements ---------------------------------------------------------------------------------

    def _element(
        self, t: CType, cursor: _Cursor, offset: int, field: Field | None, given: Any = None
    ) -> None:
        """Initialise one element, from the cursor, or from `given`, the value of a designated item."""
        node = given if given is not None else cursor.node
        spelling = None
        if type(node) is c_ast.Constant and (field is None or field.bit_width is None):
            spelling = (id(t), node.type, node.value)
            if (known := self._known.get(spelling)) is not None:
                cursor.advance()
                self.items.append((offset, known))
                return
        string = self._string_for(t, node)
        if string is not None and isinstance(t, ArrayType):
            cursor.advance()
            self._add_string(t, string, offset)
        elif isinstance(node, c_ast.InitList):
            cursor.advance()
            self._braced(t, node, offset, field)
        elif isinstance(t, ComplexType):
            cursor.advance()
            self._scalar_or_record(t, self.unit.expressions.check(node), offset, field)
        elif isinstance(t, ArrayType | RecordType):
            expr = cursor.expression(self.unit, node)
            if isinstance(t, RecordType) and expr.type is t:
                cursor.advance()
                self._scalar_or_record(t, expr, offset, field)
            elif given is not None:
                # The value starts a sub-aggregate whose braces are left out.
                cursor.advance()
                place = self._place(t, 0)
                if place is None:
                    raise error(
                        self.unit.loc(node),
                        f"{self.what}: '{t}' has no members",
                        "remove the value",
                    )
                single = _Cursor([node])
                self._element(place[0], single, offset + place[1], place[2])
                self._aggregate(t, cursor, offset, braced=False, start=1)
            elif self._aggregate(t, cursor, offset, braced=False) == 0:
                raise error(
                    self.unit.loc(node), f"{self.what}: '{t}' takes no values", "remove the value"
                )
        else:
            cursor.advance()
            said = len(self.unit.sink.diagnostics)
            self._scalar_or_record(t, cursor.expression(self.unit, node), offset, field)
            if spelling is not None and len(self.unit.sink.diagnostics) == said:
                self._known[spelling] = self.items[-1][1]

    def _scalar_or_record(self, t: CType, expr: Expr, offset: int, field: Field | None) -> None:
        value = convert_assigned(rvalue(expr), t, self.what, self.unit.sink)
        parts = complex_numbers.constant_parts(value) if isinstance(t, ComplexType) else None
        if isinstance(t, ComplexType) and parts is not None:
            for n, part in enumerate(parts):
                constant = float_const(t.element, value.loc, part)
                self.items.append((offset + n * t.element.size, constant))
            return
        if field is not None and field.bit_width is not None:
            self.bit_fields[len(self.items)] = field
        self.items.append((offset, value))

    # Strings ----------------------------------------------------------------------------------

    def _string_for(self, t: CType, node: Any) -> StringLiteral | None:
        """The literal when `node` is a string (perhaps in braces) for a character array `t`."""
        if not (isinstance(t, ArrayType) and isinstance(t.element.type, IntType)):
            return None
        if isinstance(node, c_ast.InitList) and len(node.exprs or ()) == 1:
            node = node.exprs[0]
        if not (isinstance(node, c_ast.Constant) and node.type == "string"):
            return None
        literal = self.unit.expressions.check(node)
        assert isinstance(literal, StringLiteral) and isinstance(literal.type, ArrayType)
        if literal.type.element.type.size != t.element.type.size:
            raise error(
                literal.loc,
                f"{self.what}: a string of other characters than '{t}'",
                "match the string's prefix",
            )
        return literal

    def _add_string(self, t: ArrayType, literal: StringLiteral, offset: int) -> int:
        """Store a string, cut to the array; returns its length in elements, with the terminating zero."""
        unit = t.element.type.size
        length = len(literal.data) // unit
        if isinstance(t.length, int) and length > t.length:
            if length - 1 > t.length:
                self.unit.sink.warn(
                    literal.loc,
                    f"{self.what}: the string is longer than '{t}'",
                    "make the array longer",
                )
            data = literal.data[: t.length * unit]
            literal = StringLiteral(type=ArrayType(t.element, t.length), loc=literal.loc, data=data)
        self.zero_fill = True
        if literal.data:
            self.items.append((offset, literal))
        return length

    # Static storage ---------------------------------------------------------------------------

    def require_constants(self) -> None:
        """Replace each value by its constant; addresses stay expressions (`constant_value`). Raises
        `CompileError` for a value that is not constant."""
        # Repeated values stay one object.
        made: dict[int, Expr | None] = dict.fromkeys(map(id, self._known.values()))
        for i, (offset, expr) in enumerate(self.items):
            if isinstance(expr, StringLiteral):
                continue
            if (known := made.get(id(expr))) is not None:
                self.items[i] = (offset, known)
                continue
            value = constant_value(expr)
            if value is None:
                raise error(
                    expr.loc,
                    f"{self.what}: the value is not a constant",
                    "static objects take constants and addresses; assign the value at run time",
                )
            if isinstance(value, AddressConstant):
                continue
            if isinstance(value, float):
                constant = float_const(expr.type, expr.loc, value)
            else:
                constant = IntConst(type=expr.type, loc=expr.loc, value=value)
            self.items[i] = (offset, constant)
            if id(expr) in made:
                made[id(expr)] = constant
