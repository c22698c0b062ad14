"""
Records as arguments and results of functions by the platform's calling convention (`conventions.py`).

In the IR, functions of the program take and return records as first-class values, for passes and device
code. Code outside of the program follows the convention instead. So

- calls of functions elsewhere, and calls through pointers, pass records by the convention;
- a function that others can reach, because it is external or its address is used, has an *entry*: a
  function that takes its arguments by the convention and calls it. The entry's address is used as the
  function's, and in the end (`name-entries`) it gets the function's name;
- a variadic function, which an entry could not call, itself follows the convention.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import StringAttr, i8
from xdsl.dialects.llvm import LLVMArrayType
from xdsl.ir import Attribute, Block, Region, SSAValue

from ...dialects.accx import ENTRY
from ..c import ast as c
from ..c.types import CType, RecordType
from . import objects
from .conventions import AsItIs, InMemory, InRegisters, Nothing, Passing, Signature, signature
from .function import FunctionState
from .symbols import EXTERNAL, INTERNAL, ModuleState


def pass_argument(fn: FunctionState, passing: Passing, e: c.Expr) -> list[SSAValue]:
    """The IR arguments of the C argument `e`."""
    match passing:
        case AsItIs():
            return [fn.rvalue(e)]
        case Nothing():
            fn.discard(e)
            return []
        case InMemory():
            address = fn.scratch(fn.module.types.convert(e.type), passing.align, "arg")
            objects.record_into(fn, address, e)
            return [address]
        case InRegisters():
            buffer = _buffer(fn, passing, e.type)
            objects.record_into(fn, buffer, e)
            return _load_pieces(fn, passing, buffer)


def take(
    fn: FunctionState, passing: Passing, t: CType, values: Sequence[SSAValue]
) -> SSAValue | None:
    """The value of type `t` that was passed as the IR arguments `values`; None for a record without
    members."""
    ir_type = fn.module.types.convert(t)
    match passing:
        case AsItIs():
            return values[0]
        case Nothing():
            return fn.b.zero(ir_type) if isinstance(t, RecordType) else None
        case InMemory():
            return fn.b.load(values[0], ir_type)
        case InRegisters():
            buffer = _buffer(fn, passing, t)
            for value, (offset, _) in zip(values, passing.pieces, strict=True):
                fn.b.store(value, fn.b.offset(buffer, offset))
            return fn.b.load(buffer, ir_type)


def result_buffer(fn: FunctionState, passing: Passing, t: CType) -> list[SSAValue]:
    """The address that a call passes as its first argument for its result; empty if the result is not in
    memory."""
    if not isinstance(passing, InMemory):
        return []
    return [fn.scratch(fn.module.types.convert(t), max(passing.align, t.align), "result")]


def take_result(
    fn: FunctionState, passing: Passing, t: CType, returned: SSAValue | None, buffer: list[SSAValue]
) -> SSAValue | None:
    """The value of a call of a function that returns `t`, None if it has none."""
    if isinstance(passing, InMemory):
        return take(fn, passing, t, buffer)
    if returned is None:
        return take(fn, passing, t, [])
    if not isinstance(passing, InRegisters) or len(passing.pieces) == 1:
        return take(fn, passing, t, [returned])
    pieces = [fn.b.part(returned, n, piece) for n, (_, piece) in enumerate(passing.pieces)]
    return take(fn, passing, t, pieces)


def give_result(
    fn: FunctionState, passing: Passing, t: CType, value: SSAValue, target: SSAValue
) -> SSAValue | None:
    """The IR value that a function returns for `value`; None for a result in memory, which is stored to
    `target`."""
    match passing:
        case AsItIs():
            return value
        case Nothing():
            return None
        case InMemory():
            fn.b.store(value, target)
            return None
        case InRegisters():
            buffer = _buffer(fn, passing, t)
            fn.b.store(value, buffer)
            pieces = _load_pieces(fn, passing, buffer)
            if len(pieces) == 1:
                return pieces[0]
            whole = fn.b.undef(passing.result_type)
            for n, piece in enumerate(pieces):
                whole = fn.b.with_part(whole, [n], piece)
            return whole


def _buffer(fn: FunctionState, passing: InRegisters, t: CType) -> SSAValue:
    """A temporary large enough for a record's bytes and for its pieces, which may extend past the
    record."""
    room: Attribute = LLVMArrayType(max(passing.size, t.size), i8)
    return fn.scratch(room, max(16, t.align), "pieces")


def _load_pieces(fn: FunctionState, passing: InRegisters, buffer: SSAValue) -> list[SSAValue]:
    return [fn.b.load(fn.b.offset(buffer, offset), t) for offset, t in passing.pieces]


def take_parameters(
    fn: FunctionState, convention: Signature, types: Sequence[CType], entry: Block
) -> list[SSAValue]:
    """The values of a function's parameters from its arguments by `convention`."""
    arguments = list(entry.args)
    if isinstance(convention.result, InMemory):
        del arguments[0]
    values: list[SSAValue] = []
    for passing, t in zip(convention.params, types, strict=True):
        count = 1
        if isinstance(passing, Nothing | InRegisters):
            count = len(passing.pieces) if isinstance(passing, InRegisters) else 0
        value = take(fn, passing, t, arguments[:count])
        assert value is not None
        values.append(value)
        del arguments[:count]
    return values


def emit_entries(state: ModuleState) -> None:
    """The entries of the functions that need one."""
    for symbol, (entry, decl) in state.entries.items():
        convention = signature(state.types, decl.type)
        block = Block(arg_types=convention.type.inputs.data)
        fn = FunctionState.of_block(state, block)
        fn.b.at(decl.loc)
        arguments = take_parameters(fn, convention, decl.type.params, block)
        value = fn.call(symbol, arguments)
        if value is not None:
            target = block.args[0] if block.args else value
            value = give_result(fn, convention.result, decl.type.result, value, target)
        fn.b.add(llvm.ReturnOp(value))
        external = state.is_external(decl)
        op = llvm.FuncOp(
            entry, convention.type, EXTERNAL if external else INTERNAL, body=Region(block)
        )
        op.arg_attrs = convention.attributes
        op.location = decl.loc.to_attr()
        if external:
            op.attributes[ENTRY] = state.name_of_entry(symbol) or StringAttr(symbol)
        state.module.body.block.add_op(op)
