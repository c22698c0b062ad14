"""
The text of operations that `mlir-opt` prints in a form that xDSL 0.74 does not read: `gpu` operations in
their own syntax (GPUOps.td), which are printed in the generic form here, `scf.while` without operands, and
volatile loads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.dialects import gpu, llvm, scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    SymbolRefAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser, UnresolvedOperand

from .volatility import set_volatile


def complete() -> None:
    """Makes xDSL's dialects read all this; again has no effect."""
    forms: dict[type[Operation], Callable[[Any, Parser], Operation]] = {
        gpu.ModuleOp: _module,
        gpu.FuncOp: _function,
        gpu.LaunchFuncOp: _launch,
        gpu.ReturnOp: _return,
        gpu.BarrierOp: _no_operands,
        **dict.fromkeys((gpu.LaneIdOp, gpu.SubgroupIdOp, gpu.NumSubgroupsOp), _no_operands),
        gpu.SubgroupSizeOp: _no_operands,
        **dict.fromkeys(_WITH_DIMENSION, _dimension),
        llvm.LoadOp: _load,
        scf.WhileOp: _while,
    }
    for operation, form in forms.items():
        setattr(operation, "parse", classmethod(form))  # noqa: B010


_WITH_DIMENSION: tuple[type[Operation], ...] = (
    gpu.BlockDimOp,
    gpu.BlockIdOp,
    gpu.GlobalIdOp,
    gpu.GridDimOp,
    gpu.ThreadIdOp,
)


def _module(cls: type[gpu.ModuleOp], parser: Parser) -> gpu.ModuleOp:
    name = parser.parse_symbol_name()
    if parser.parse_optional_punctuation("<") is not None or parser.parse_optional_punctuation("["):
        parser.raise_error("targets and offloading handlers of GPU modules are not supported")
    attributes = parser.parse_optional_attr_dict_with_keyword()
    op = cls(name, parser.parse_region())  # pyright: ignore[reportArgumentType]
    op.attributes |= {} if attributes is None else attributes.data
    return op


def _function(cls: type[gpu.FuncOp], parser: Parser) -> gpu.FuncOp:
    name = parser.parse_symbol_name()
    about: list[DictionaryAttr] = []

    def argument() -> Parser.Argument:
        found = parser.parse_argument()
        about.append(DictionaryAttr(parser.parse_optional_attr_dict()))
        parser.parse_optional_location()
        return found

    arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, argument)
    results: list[Attribute] = []
    if parser.parse_optional_punctuation("->") is not None:
        listed = parser.parse_optional_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_type
        )
        results = [parser.parse_type()] if listed is None else list(listed)
    if parser.parse_optional_keyword_in(("workgroup", "private")) is not None:
        parser.raise_error("memory attributions of GPU functions are not supported")
    kernel = parser.parse_optional_keyword("kernel") is not None
    attributes = parser.parse_optional_attr_dict_with_keyword()
    types = FunctionType.from_lists([a.type for a in arguments], results)
    op = cls(name.data, types, parser.parse_region(arguments), kernel)
    op.attributes |= {} if attributes is None else attributes.data
    if any(entry.data for entry in about):
        op.attributes["arg_attrs"] = ArrayAttr(about)
    if kernel:
        op.attributes["gpu.kernel"] = UnitAttr()
    return op


def _launch(cls: type[gpu.LaunchFuncOp], parser: Parser) -> Operation:
    stream: list[SSAValue] = []
    if parser.parse_optional_punctuation("<") is not None:
        stream.append(_typed(parser))
        parser.parse_punctuation(">")
    kernel = parser.parse_attribute()
    sizes: list[UnresolvedOperand] = []
    for word in ("blocks", "threads"):
        parser.parse_keyword(word)
        parser.parse_keyword("in")
        sizes += parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
    if len(sizes) != 6:
        parser.raise_error("expected three numbers of blocks and three of threads")
    type: Attribute = IndexType()
    if parser.parse_optional_punctuation(":") is not None:
        type = parser.parse_type()
    memory: list[SSAValue] = []
    if parser.parse_optional_keyword("dynamic_shared_memory_size") is not None:
        memory.append(parser.resolve_operand(parser.parse_unresolved_operand(), i32))
    arguments: list[SSAValue] = []
    if parser.parse_optional_keyword("args") is not None:
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: _typed(parser)
        )
    attributes = parser.parse_optional_attr_dict()
    values = [[parser.resolve_operand(size, type)] for size in sizes]
    if not isinstance(kernel, SymbolRefAttr):
        parser.raise_error("expected the symbol of a kernel")
    return cls.build(
        operands=[[], *values, [], [], [], memory, arguments, stream],
        properties={"kernel": kernel},
        attributes=attributes,
        result_types=[[]],
    )


def _typed(parser: Parser) -> SSAValue:
    operand = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    return parser.resolve_operand(operand, parser.parse_type())


def _return(cls: type[gpu.ReturnOp], parser: Parser) -> Operation:
    attributes = parser.parse_optional_attr_dict()
    operands = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    values: list[SSAValue] = []
    if operands:
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        values = list(parser.resolve_operands(operands, types, parser.pos))
    return cls.build(operands=[values], attributes=attributes)


def _dimension(cls: type[IRDLOperation], parser: Parser) -> Operation:
    found = gpu.DimensionAttr(parser.parse_str_enum(gpu.DimensionEnum))
    _no_upper_bound(parser)
    return cls.build(
        properties={"dimension": found},
        attributes=parser.parse_optional_attr_dict(),
        result_types=[IndexType()],
    )


def _no_operands(cls: type[IRDLOperation], parser: Parser) -> Operation:
    results = len(cls.get_irdl_definition().results)
    _no_upper_bound(parser)
    attributes = parser.parse_optional_attr_dict()
    if results and parser.parse_optional_punctuation(":") is not None:
        parser.parse_type()
    return cls.build(attributes=attributes, result_types=[IndexType()] * results)


def _no_upper_bound(parser: Parser) -> None:
    """Skips a bound of the result, a promise which may be left out."""
    if parser.parse_optional_keyword("upper_bound") is not None:
        parser.parse_integer()


_parse_load = llvm.LoadOp.parse.__func__  # pyright: ignore[reportFunctionMemberAccess]


def _load(cls: type[llvm.LoadOp], parser: Parser) -> Operation:
    volatile = parser.parse_optional_keyword("volatile") is not None
    op = _parse_load(cls, parser)
    if volatile:
        set_volatile(op)
    return op


_parse_while = scf.WhileOp.parse.__func__  # pyright: ignore[reportFunctionMemberAccess]


def _while(cls: type[scf.WhileOp], parser: Parser) -> Operation:
    if parser.parse_optional_punctuation(":") is None:
        return _parse_while(cls, parser)
    types = parser.parse_function_type()
    if types.inputs.data:
        parser.raise_error("expected an operand for each type")
    before = parser.parse_region()
    parser.parse_keyword("do")
    after = parser.parse_region()
    op = cls((), types.outputs.data, before, after)
    attributes = parser.parse_optional_attr_dict_with_keyword()
    op.attributes |= {} if attributes is None else attributes.data
    return op
