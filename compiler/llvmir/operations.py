"""
Operations of `llvm` and `nvvm` as LLVM IR instructions: `EMITTERS` maps an operation's class to
the function that appends its text. Regular families are tables; each other operation has a function.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    Float32Type,
    Float64Type,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    i8,
)
from xdsl.dialects.llvm import LLVMFunctionType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import llvm_ext
from ...dialects.accx import ACCESS_GROUPS, ARRAY, IN_ROW, ITERATION, UNCHANGED, UNFUSED
from ...dialects.llvm_ext import AtomicOrdering
from ...dialects.volatility import is_volatile
from .constants import gep_text
from .intrinsics import INTRINSIC_EMITTERS
from .types import escape, identifier, overload_suffix

if TYPE_CHECKING:
    from .functions import FunctionPrinter

Emitter = Callable[["FunctionPrinter", Operation], None]

_BINARY: dict[type[Operation], str] = {
    llvm.AddOp: "add",
    llvm.SubOp: "sub",
    llvm.MulOp: "mul",
    llvm.ShlOp: "shl",
    llvm.UDivOp: "udiv",
    llvm.SDivOp: "sdiv",
    llvm.LShrOp: "lshr",
    llvm.AShrOp: "ashr",
    llvm.URemOp: "urem",
    llvm.SRemOp: "srem",
    llvm.AndOp: "and",
    llvm.OrOp: "or",
    llvm.XOrOp: "xor",
}

_OVERFLOW_FLAGS = ("", " nsw", " nuw", " nuw nsw")

_FLOAT_BINARY: dict[type[Operation], str] = {
    llvm.FAddOp: "fadd",
    llvm.FSubOp: "fsub",
    llvm.FMulOp: "fmul",
    llvm.FDivOp: "fdiv",
    llvm.FRemOp: "frem",
}

_CASTS: dict[type[Operation], str] = {
    llvm.TruncOp: "trunc",
    llvm.ZExtOp: "zext",
    llvm.SExtOp: "sext",
    llvm.SIToFPOp: "sitofp",
    llvm.FPExtOp: "fpext",
    llvm.FPTruncOp: "fptrunc",
    llvm.BitcastOp: "bitcast",
    llvm.PtrToIntOp: "ptrtoint",
    llvm.IntToPtrOp: "inttoptr",
    llvm_ext.UIToFPOp: "uitofp",
    llvm_ext.FPToSIOp: "fptosi",
    llvm_ext.FPToUIOp: "fptoui",
    llvm_ext.AddrSpaceCastOp: "addrspacecast",
}


def _binary(mnemonic: str) -> Emitter:
    def emit(p: FunctionPrinter, op: Operation) -> None:
        lhs, rhs = op.operands
        flags = ""
        properties = op.properties
        if properties:
            if (overflow := properties.get("overflowFlags")) is not None:
                assert isinstance(overflow, IntegerAttr)
                flags = _OVERFLOW_FLAGS[overflow.value.data]
            elif "isExact" in properties:
                flags = " exact"
            elif "isDisjoint" in properties:
                flags = " disjoint"
        p.line(op, f"{mnemonic}{flags} {p.types(lhs.type)} {p.value(lhs)}, {p.value(rhs)}")

    return emit


def _float_binary(mnemonic: str) -> Emitter:
    contracts = mnemonic in ("fadd", "fsub", "fmul")

    def emit(p: FunctionPrinter, op: Operation) -> None:
        lhs, rhs = op.operands
        flags = p.fast_math(op, contracts and UNFUSED not in op.attributes)
        p.line(op, f"{mnemonic} {flags}{p.types(lhs.type)} {p.value(lhs)}, {p.value(rhs)}")

    return emit


def _cast(mnemonic: str) -> Emitter:
    def emit(p: FunctionPrinter, op: Operation) -> None:
        flags = ""
        if op.properties:
            if (overflow := op.properties.get("overflowFlags")) is not None:
                assert isinstance(overflow, llvm.OverflowAttr)
                flags = _OVERFLOW_FLAGS[overflow.to_int()]
            elif "nonNeg" in op.properties:
                flags = " nneg"
        p.line(op, f"{mnemonic}{flags} {p.typed(op.operands[0])} to {p.types(op.results[0].type)}")

    return emit


def _fneg(p: FunctionPrinter, op: Operation) -> None:
    p.line(op, f"fneg {p.fast_math(op)}{p.typed(op.operands[0])}")


def _icmp(p: FunctionPrinter, op: Operation) -> None:
    predicate = cast(llvm.ICmpOp, op).predicate.value.data
    name = llvm.ALL_ICMP_FLAGS[predicate].value
    p.line(op, f"icmp {name} {p.typed(op.operands[0])}, {p.value(op.operands[1])}")


def _fcmp(p: FunctionPrinter, op: Operation) -> None:
    predicate = cast(llvm.FCmpOp, op).predicate.value.data
    name = llvm.ALL_FCMP_FLAGS[predicate].value.lstrip("_")
    flags = p.fast_math(op)
    p.line(op, f"fcmp {flags}{name} {p.typed(op.operands[0])}, {p.value(op.operands[1])}")


def _select(p: FunctionPrinter, op: Operation) -> None:
    cond, lhs, rhs = op.operands
    p.line(op, f"select {p.fast_math(op)}{p.typed(cond)}, {p.typed(lhs)}, {p.typed(rhs)}")


def _freeze(p: FunctionPrinter, op: Operation) -> None:
    p.line(op, f"freeze {p.typed(op.operands[0])}")


def _integer(op: Operation, name: str) -> int | None:
    """An integer among the properties or, where xDSL has no property, the attributes of `op`."""
    found = op.properties.get(name) or op.attributes.get(name)
    return found.value.data if isinstance(found, IntegerAttr) else None


def _has(op: Operation, name: str) -> bool:
    return name in op.properties or name in op.attributes


def _atomic(op: Operation, ordering: int) -> tuple[str, str]:
    """The words before the type and after the pointer of an atomic access."""
    if not ordering:
        return "", ""
    return " atomic", f"{_scope(op)} {AtomicOrdering(ordering).name}"


def _scope(op: Operation) -> str:
    scope = op.properties.get("syncscope") or op.attributes.get("syncscope")
    return f' syncscope("{scope.data}")' if isinstance(scope, StringAttr) else ""


def _access_suffix(p: FunctionPrinter, op: Operation) -> str:
    alignment = _integer(op, "alignment")
    out = f", align {alignment}" if alignment else ""
    if _has(op, "nontemporal"):
        out += f", !nontemporal {p.metadata.node('!{i32 1}')}"
    if _has(op, "invariant") or UNCHANGED in op.attributes:
        out += f", !invariant.load {p.metadata.node('!{}')}"
    out += p.metadata.scopes(op.attributes.get(ITERATION), op.attributes.get(ARRAY))
    return out + _group_suffix(p, op)


_SCALARS = (IntegerType, Float32Type, Float64Type, llvm.LLVMPointerType)


def _element_type(gep: llvm.GEPOp) -> Attribute | None:
    """The type that the address points to: the source's element type after all indices but the first."""
    found: Attribute = gep.elem_type
    for index in list(gep.rawConstantIndices.iter_values())[1:]:
        match found:
            case llvm.LLVMArrayType():
                found = found.type
            case llvm.LLVMStructType() if index >= 0:
                found = found.types.data[index]
            case _:
                return None
    return found


def _scalar_tag(p: FunctionPrinter, pointer: SSAValue, type_: Attribute) -> str:
    """
    The `!tbaa` suffix of an access to an element or member in a kernel whose memory has its declared types;
    empty for other accesses, bit-fields among them.
    """
    if not p.typed_accesses or not isinstance(pointer.owner, llvm.GEPOp):
        return ""
    if type_ == i8 or not isinstance(type_, _SCALARS) or _element_type(pointer.owner) != type_:
        return ""
    return f", !tbaa {p.metadata.scalar_type(p.types(type_))}"


def _load(p: FunctionPrinter, op: Operation) -> None:
    before, after = _atomic(op, cast(llvm.LoadOp, op).ordering.value.data)
    volatile = " volatile" if is_volatile(op) else ""
    type = p.types(op.results[0].type)
    p.line(
        op,
        f"load{before}{volatile} {type}, {p.typed(op.operands[0])}{after}{_access_suffix(p, op)}"
        f"{_scalar_tag(p, op.operands[0], op.results[0].type)}",
    )


def _store(p: FunctionPrinter, op: Operation) -> None:
    before, after = _atomic(op, _integer(op, "ordering") or 0)
    volatile = " volatile" if is_volatile(op) else ""
    value, ptr = op.operands
    p.line(
        op,
        f"store{before}{volatile} {p.typed(value)}, {p.typed(ptr)}{after}{_access_suffix(p, op)}"
        f"{_scalar_tag(p, ptr, value.type)}",
    )


def _atomicrmw(p: FunctionPrinter, op: Operation) -> None:
    atomic = cast(llvm_ext.AtomicRMWOp, op)
    volatile = " volatile" if atomic.volatile_ is not None else ""
    ordering = AtomicOrdering(atomic.ordering.value.data).name
    p.line(
        op,
        f"atomicrmw{volatile} {atomic.kind.ir_name} {p.typed(atomic.ptr)}, {p.typed(atomic.val)}"
        f"{_scope(op)} {ordering}{_access_suffix(p, op)}",
    )


def _cmpxchg(p: FunctionPrinter, op: Operation) -> None:
    exchange = cast(llvm_ext.CmpXchgOp, op)
    words = " weak" if exchange.weak is not None else ""
    words += " volatile" if exchange.volatile_ is not None else ""
    success = AtomicOrdering(exchange.success_ordering.value.data).name
    failure = AtomicOrdering(exchange.failure_ordering.value.data).name
    p.line(
        op,
        f"cmpxchg{words} {p.operands(op)}{_scope(op)} {success} {failure}{_access_suffix(p, op)}",
    )


def _fence(p: FunctionPrinter, op: Operation) -> None:
    ordering = AtomicOrdering(cast(llvm_ext.FenceOp, op).ordering.value.data).name
    p.line(op, f"fence{_scope(op)} {ordering}")


def _alloca(p: FunctionPrinter, op: Operation) -> None:
    type = p.types(cast(llvm.AllocaOp, op).elem_type)
    alignment = _integer(op, "alignment")
    suffix = f", align {alignment}" if alignment else ""
    p.line(op, f"alloca {type}, {p.typed(op.operands[0])}{suffix}")


_NO_WRAP = {
    1: " inbounds",
    2: " nusw",
    3: " inbounds",
    4: " nuw",
    6: " nusw nuw",
    7: " inbounds nuw",
}


def _gep(p: FunctionPrinter, op: Operation) -> None:
    gep = cast(llvm.GEPOp, op)
    flags = _NO_WRAP.get(_integer(op, "noWrapFlags") or 0, "")
    if not flags and "inbounds" in op.properties:
        flags = " inbounds"
    if not flags and IN_ROW in op.attributes:
        flags = " nusw"
    p.line(op, f"getelementptr{flags} {gep_text(gep, p.types, p.typed)}")


def _positions(op: Operation) -> str:
    position = cast("DenseArrayBase[IntegerType]", op.properties["position"])
    return "".join(f", {index}" for index in position.get_values())


def _extractvalue(p: FunctionPrinter, op: Operation) -> None:
    p.line(op, f"extractvalue {p.typed(op.operands[0])}{_positions(op)}")


def _insertvalue(p: FunctionPrinter, op: Operation) -> None:
    container, value = op.operands
    p.line(op, f"insertvalue {p.typed(container)}, {p.typed(value)}{_positions(op)}")


def _insertelement(p: FunctionPrinter, op: Operation) -> None:
    p.line(op, f"insertelement {p.operands(op)}")


def _shufflevector(p: FunctionPrinter, op: Operation) -> None:
    mask = cast(llvm.ShuffleVectorOp, op).mask.get_values()
    lanes = ", ".join("i32 poison" if lane == -1 else f"i32 {lane}" for lane in mask)
    vectors = ", ".join(map(p.typed, op.operands))
    p.line(op, f"shufflevector {vectors}, <{len(mask)} x i32> <{lanes}>")


def _br(p: FunctionPrinter, op: Operation) -> None:
    p.line(op, f"br label {p.edge(op, 0)}{p.loop(op)}")


def _cond_br(p: FunctionPrinter, op: Operation) -> None:
    condition = p.value(op.operands[0])
    p.line(op, f"br i1 {condition}, label {p.edge(op, 0)}, label {p.edge(op, 1)}{p.loop(op)}")


def _switch(p: FunctionPrinter, op: Operation) -> None:
    switch = cast(llvm_ext.SwitchOp, op)
    type = p.types(switch.value.type)
    cases = " ".join(
        f"{type} {number}, label {p.edge(op, index)}"
        for index, (number, _, _) in enumerate(switch.cases, start=1)
    )
    p.line(op, f"switch {p.typed(switch.value)}, label {p.edge(op, 0)} [{cases}]")


def _return(p: FunctionPrinter, op: Operation) -> None:
    p.line(op, f"ret {p.typed(op.operands[0])}" if op.operands else "ret void")


def _unreachable(p: FunctionPrinter, op: Operation) -> None:
    p.line(op, "unreachable")


def _call(p: FunctionPrinter, op: Operation) -> None:
    call = cast(llvm.CallOp, op)
    callee = op.properties.get("callee")
    arguments = list(call.args)
    if isinstance(callee, SymbolRefAttr):
        symbol = callee.root_reference.data
        target = f"@{identifier(symbol)}"
    else:
        symbol = None
        target = p.value(arguments.pop(0))
    result = p.types(op.results[0].type) if op.results else "void"
    variadic = op.properties.get("var_callee_type")
    type_text = p.types(variadic) if isinstance(variadic, LLVMFunctionType) else result
    if symbol is not None and symbol not in p.declared:
        inputs = variadic if isinstance(variadic, LLVMFunctionType) else None
        p.declare(symbol, result, [argument.type for argument in arguments], inputs)
    convention = p.convention(call.CConv)
    kind = call.TailCallKind.data.value
    tail = "" if kind == "none" else f"{kind} "
    flags = p.fast_math(op)
    # Calls to functions that may contain barriers must not be moved across control flow.
    suffix = " convergent" if p.convergent else ""
    text = (
        f"{tail}call {flags}{convention}{type_text} {target}({p.arguments(op, arguments)}){suffix}"
    )
    text += _group_suffix(p, op)
    p.line(op, text)


def _group_suffix(p: FunctionPrinter, op: Operation) -> str:
    groups = op.attributes.get(ACCESS_GROUPS)
    return "" if groups is None else f", !llvm.access.group {p.metadata.access_group(groups)}"


def _call_intrinsic(p: FunctionPrinter, op: Operation) -> None:
    call = cast(llvm.CallIntrinsicOp, op)
    arguments = ", ".join(map(p.typed, call.args))
    result = p.types(op.results[0].type) if op.results else "void"
    name = call.intrin.data
    if name in _OVERLOADED:
        name += f".{overload_suffix(op.results[0].type)}"
    p.line(op, f"call {p.fast_math(op)}{result} @{identifier(name)}({arguments})")


_OVERLOADED = ("llvm.maximumnum", "llvm.minimumnum")
"""Intrinsics called by `llvm.call_intrinsic` that have a name for each type."""


def _inline_asm(p: FunctionPrinter, op: Operation) -> None:
    asm = cast(llvm.InlineAsmOp, op)
    result = p.types(op.results[0].type) if op.results else "void"
    words = " sideeffect" if asm.has_side_effects is not None else ""
    words += " alignstack" if asm.is_align_stack is not None else ""
    words += " inteldialect" if asm.asm_dialect and asm.asm_dialect.value.data == 1 else ""
    code, constraints = (escape(s.data.encode()) for s in (asm.asm_string, asm.constraints))
    suffix = " convergent" if p.convergent and asm.has_side_effects is not None else ""
    text = f'call {result} asm{words} "{code}", "{constraints}"({p.operands(op)}){suffix}'
    p.line(op, text)


def _va_arg(p: FunctionPrinter, op: Operation) -> None:
    p.line(op, f"va_arg {p.typed(op.operands[0])}, {p.types(op.results[0].type)}")


EMITTERS: dict[type[Operation], Emitter] = {
    **{cls: _binary(mnemonic) for cls, mnemonic in _BINARY.items()},
    **{cls: _float_binary(mnemonic) for cls, mnemonic in _FLOAT_BINARY.items()},
    **{cls: _cast(mnemonic) for cls, mnemonic in _CASTS.items()},
    **INTRINSIC_EMITTERS,
    llvm.FNegOp: _fneg,
    llvm.ICmpOp: _icmp,
    llvm.FCmpOp: _fcmp,
    llvm.SelectOp: _select,
    llvm.LoadOp: _load,
    llvm.StoreOp: _store,
    llvm.AllocaOp: _alloca,
    llvm.GEPOp: _gep,
    llvm.ExtractValueOp: _extractvalue,
    llvm.InsertValueOp: _insertvalue,
    llvm.InsertElementOp: _insertelement,
    llvm.ShuffleVectorOp: _shufflevector,
    llvm.BrOp: _br,
    llvm.CondBrOp: _cond_br,
    llvm.ReturnOp: _return,
    llvm.UnreachableOp: _unreachable,
    llvm.CallOp: _call,
    llvm.CallIntrinsicOp: _call_intrinsic,
    llvm.InlineAsmOp: _inline_asm,
    llvm_ext.AtomicRMWOp: _atomicrmw,
    llvm_ext.CmpXchgOp: _cmpxchg,
    llvm_ext.FenceOp: _fence,
    llvm_ext.SwitchOp: _switch,
    llvm_ext.FreezeOp: _freeze,
    llvm_ext.VaArgOp: _va_arg,
}
