"""
`accx.element`: the address of an array element, with all subscripts as in C.

    double a[n][m];    a[i][j + 1]    %a_i = accx.element %a[%i, %0] rows(%m) of f64 : i32, i32
    struct s *p;       p[k].v[2]      %p_v = accx.element %p[%k, 1, 2] of !llvm.struct<"struct.s", (…)> : ui64
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, Signedness, i32, i64
from xdsl.dialects.llvm import GEP_USE_SSA_VAL, LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.dialects.utils.dynamic_index_list import (
    parse_dynamic_index_list_without_types,
    print_dynamic_index_list,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoMemoryEffect
from xdsl.utils.exceptions import VerifyException


@dataclass(frozen=True)
class Index:
    """A subscript: an integer of any width, which C widens without sign if `unsigned`."""

    value: SSAValue
    unsigned: bool = False


@irdl_op_definition
class ElementOp(IRDLOperation):
    """
    The address of `ptr[s0][s1]…` (C11 6.5.2.1). `ptr` points to an element of an array whose elements are
    arrays of lengths `rows` (i64, outermost first) of `elem_type`. The first subscript counts these
    elements, the next ones select within the rows, the rest within `elem_type`: subscripts of arrays,
    constant members of structures. With fewer subscripts the result is the address of a row. `path` has the
    constant subscripts, and `GEP_USE_SSA_VAL` for each of `subscripts`; `unsigned` lists the positions,
    among `subscripts`, of those without sign.
    """

    name = "accx.element"

    ptr = operand_def(LLVMPointerType)
    subscripts = var_operand_def(IntegerType)
    rows = var_operand_def(i64)
    path = prop_def(DenseArrayBase.constr(i32))
    unsigned = opt_prop_def(DenseArrayBase.constr(i32))
    elem_type = prop_def()
    result = result_def(LLVMPointerType)

    traits = traits_def(NoMemoryEffect())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self,
        ptr: SSAValue | Operation,
        path: Sequence[int | Index],
        elem_type: Attribute,
        rows: Sequence[SSAValue] = (),
    ):
        ptr = SSAValue.get(ptr)
        subscripts = [step for step in path if isinstance(step, Index)]
        unsigned = [i for i, step in enumerate(subscripts) if step.unsigned]
        indices = [step if isinstance(step, int) else GEP_USE_SSA_VAL for step in path]
        super().__init__(
            operands=[ptr, [step.value for step in subscripts], rows],
            properties={
                "path": DenseArrayBase.from_list(i32, indices),
                "unsigned": DenseArrayBase.from_list(i32, unsigned) if unsigned else None,
                "elem_type": elem_type,
            },
            result_types=[ptr.type],
        )

    def steps(self) -> Iterator[int | Index]:
        """The subscripts, outermost first."""
        unsigned = self.unsigned
        narrow = () if unsigned is None else unsigned.get_values()
        operands, position = self.operands, 0  # the first operand is the pointer
        for index in self.path.get_values():
            if index == GEP_USE_SSA_VAL:
                position += 1
                yield Index(operands[position], position - 1 in narrow)
            else:
                yield index

    def containers(self) -> Iterator[Attribute | None]:
        """
        For each subscript, the array or structure in which it selects; None for those that step over
        elements or rows. Raises `VerifyException` if a subscript selects in another type.
        """
        inside: Attribute = self.elem_type
        rows = len(self.rows)
        for position, step in enumerate(self.steps()):
            if position <= rows:
                yield None
            elif isinstance(inside, LLVMArrayType):
                yield inside
                inside = inside.type
            elif isinstance(inside, LLVMStructType):
                yield inside
                if not isinstance(step, int) or not 0 <= step < len(inside.types):
                    raise VerifyException(
                        f"subscript {position} selects no member of {inside}: write a constant"
                        f" below {len(inside.types)}"
                    )
                inside = inside.types.data[step]
            else:
                raise VerifyException(f"subscript {position} is one too many: {inside} has none")

    def verify_(self) -> None:
        indices = list(self.path.iter_values())
        if not indices:
            raise VerifyException("expected a subscript")
        if indices.count(GEP_USE_SSA_VAL) != len(self.subscripts):
            raise VerifyException(
                f"the path takes {indices.count(GEP_USE_SSA_VAL)} subscripts,"
                f" there are {len(self.subscripts)}"
            )
        if self.result.type != self.ptr.type:
            raise VerifyException(f"expected a result of type {self.ptr.type}")
        for _ in self.containers():
            pass

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.ptr)
        print_dynamic_index_list(printer, GEP_USE_SSA_VAL, self.subscripts, self.path.iter_values())
        if self.rows:
            printer.print_string(" rows(")
            printer.print_list(self.rows, printer.print_ssa_value)
            printer.print_string(")")
        printer.print_string(" of ")
        printer.print_attribute(self.elem_type)
        printer.print_op_attributes(self.attributes)
        if self.subscripts or self.ptr.type != LLVMPointerType():
            printer.print_string(" : ")
            printer.print_list(self._types(), printer.print_attribute)

    def _types(self) -> Iterator[Attribute]:
        """
        The types of the subscripts with their signedness, preceded by that of the pointer if it is not
        plain `!llvm.ptr`.
        """
        if self.ptr.type != LLVMPointerType():
            yield self.ptr.type
        for step in self.steps():
            if isinstance(step, Index):
                type_ = step.value.type
                assert isinstance(type_, IntegerType)
                yield IntegerType(type_.width.data, Signedness.UNSIGNED) if step.unsigned else type_

    @classmethod
    def parse(cls, parser: Parser) -> ElementOp:
        pointer = parser.parse_unresolved_operand()
        names, indices = parse_dynamic_index_list_without_types(parser, GEP_USE_SSA_VAL)
        lengths = []
        if parser.parse_optional_keyword("rows") is not None:
            lengths = parser.parse_comma_separated_list(
                parser.Delimiter.PAREN, parser.parse_unresolved_operand
            )
        parser.parse_keyword("of")
        elem_type = parser.parse_type()
        attributes = parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        if parser.parse_optional_punctuation(":") is not None:
            types = list(
                parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            )
        pointer_type: Attribute = LLVMPointerType()
        if types and isinstance(types[0], LLVMPointerType):
            pointer_type = types.pop(0)
        signless = [IntegerType(t.width.data) if isinstance(t, IntegerType) else t for t in types]
        values = iter(parser.resolve_operands(names, signless, parser.pos))
        unsigned = iter(
            isinstance(t, IntegerType) and t.signedness.data is Signedness.UNSIGNED for t in types
        )
        op = cls(
            parser.resolve_operand(pointer, pointer_type),
            [
                Index(next(values), next(unsigned)) if index == GEP_USE_SSA_VAL else index
                for index in indices
            ],
            elem_type,
            [parser.resolve_operand(length, i64) for length in lengths],
        )
        op.attributes |= attributes
        return op


OPERATIONS: tuple[type[Operation], ...] = (ElementOp,)
