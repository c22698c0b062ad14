"""
The functions that `stream-stores` calls, which it adds to the module:

    i1   __accopt_streams(i64 bytes, i1 stencil)     whether a launch that touches this many bytes streams
    void __accopt_stream(ptr to, ptr from, i64 bytes)   copies by non-temporal stores, a multiple of 4

Whole cache lines are written by non-temporal stores, the edges by ordinary ones. `__accopt_team_cache`, of
the runtime (`runtime/native/gangs_team.py`), tells the size of the caches.
"""

from __future__ import annotations

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import ModuleOp, VectorType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from ..decisions.streams import SMALL_BYTES
from ..ir.ops.building import PTR, Cursor, put_first

STREAM = "__accopt_stream"
STREAMS = "__accopt_streams"
_CACHE = "__accopt_team_cache"
_LINE = 64


def add_functions(module: ModuleOp, symbols: dict[str, Operation], limit: int | None) -> None:
    """Adds the functions; `limit` is the size of the caches, which the runtime tells if it is None."""
    new: list[Operation] = [_streams(limit), _stream()]
    if limit is None and _CACHE not in symbols:
        told = llvm.LLVMFunctionType([i1], i64)
        new.append(llvm.FuncOp(_CACHE, told, llvm.LinkageAttr("external")))
    for op in reversed(new):
        op.location = module.location
        put_first(module.body.block, op)


def _function(
    name: str, arguments: list[Attribute], result: Attribute
) -> tuple[llvm.FuncOp, Block]:
    block = Block(arg_types=arguments)
    type_ = llvm.LLVMFunctionType(arguments, result)
    function = llvm.FuncOp(name, type_, llvm.LinkageAttr("internal"), body=Region(block))
    return function, block


def _streams(limit: int | None) -> llvm.FuncOp:
    function, block = _function(STREAMS, [i64, i1], i1)
    at = Cursor(InsertPoint.at_end(block), function.location)
    bytes_, stencil = block.args
    if limit is not None:
        at.insert(llvm.ReturnOp(_compare(at, "sgt", bytes_, at.i64(limit))))
        return function
    some = _compare(at, "sge", bytes_, at.i64(SMALL_BYTES))
    (found,) = at.either(
        some,
        lambda within: [_compare(within, "sgt", bytes_, _last_cache(within, stencil))],
        lambda without: [without.constant(0, i1)],
    )
    at.insert(llvm.ReturnOp(found))
    return function


def _last_cache(at: Cursor, stencil: SSAValue) -> SSAValue:
    return at.value(llvm.CallOp(_CACHE, stencil, return_type=i64))


def _stream() -> llvm.FuncOp:
    function, block = _function(STREAM, [PTR, PTR, i64], llvm.LLVMVoidType())
    at = Cursor(InsertPoint.at_end(block), function.location)
    to, source, bytes_ = block.args
    address = at.value(llvm.PtrToIntOp(to, i64))
    edge = at.value(arith.AndIOp(at.sub(at.i64(0), address), at.i64(_LINE - 1)))
    edge = at.value(arith.MinSIOp(edge, bytes_))
    _words(at, to, source, at.i64(0), edge)
    lines = at.value(arith.DivSIOp(at.sub(bytes_, edge), at.i64(_LINE)))
    end = at.add(edge, at.mul(lines, at.i64(_LINE)))
    loop, body = at.for_loop(edge, end, at.i64(_LINE), "at")
    offset = loop.body.block.args[0]
    line = VectorType(i64, [_LINE // 8])
    load = llvm.LoadOp(body.offset(source, offset), line, alignment=1)
    body.insert(
        llvm.StoreOp(body.value(load), body.offset(to, offset), alignment=_LINE, nontemporal=True)
    )
    _words(at, to, source, end, bytes_)
    at.insert(llvm.ReturnOp())
    return function


def _words(at: Cursor, to: SSAValue, source: SSAValue, begin: SSAValue, end: SSAValue) -> None:
    """Emits a copy of the bytes from `begin` to `end`, four at a time, by ordinary stores."""
    loop, body = at.for_loop(begin, end, at.i64(4), "at")
    offset = loop.body.block.args[0]
    word = body.value(llvm.LoadOp(body.offset(source, offset), i32, alignment=1))
    body.insert(llvm.StoreOp(word, body.offset(to, offset), alignment=1))


def _compare(at: Cursor, how: str, left: SSAValue, right: SSAValue) -> SSAValue:
    return at.value(arith.CmpiOp(left, right, how))
