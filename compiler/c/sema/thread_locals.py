"""
Thread-local variables (`_Thread_local`, C11 6.2.4p4; `__thread`), in the manner of gcc's emulated TLS. The
variable's symbol becomes that of its initial value, and every use calls `__emutls_get_address`
(`c/thread_locals.c`) for the thread's object, with a control object that all files share by name.
"""

from __future__ import annotations

from ...base.names import CONTROL_PREFIX
from ..ast import (
    AddressOf,
    Call,
    Cast,
    Deref,
    Expr,
    FunctionDecl,
    FunctionRef,
    Initializer,
    IntConst,
    VarDecl,
    VarRef,
)
from ..types import (
    SIZE_T,
    VOID,
    FunctionType,
    PointerType,
    QualType,
    RecordMember,
    RecordType,
    pointer_to,
)
from .unit import Unit

_FIND = "__emutls_get_address"
_POINTER = pointer_to(VOID)


def _control_type() -> RecordType:
    record = RecordType("__emutls_object", False)
    record.complete(
        [
            RecordMember("size", QualType(SIZE_T)),
            RecordMember("align", QualType(SIZE_T)),
            RecordMember("object", QualType(_POINTER)),
            RecordMember("initial", QualType(_POINTER)),
        ]
    )
    return record


def make_thread_local(unit: Unit, decl: VarDecl) -> None:
    """Makes `decl` a thread-local variable."""
    unit.tree.has_thread_locals = True
    control = VarDecl(
        f"{CONTROL_PREFIX}{decl.name}", QualType(_control_type()), decl.loc, decl.storage
    )
    control.symbol = f"{CONTROL_PREFIX}{decl.symbol}"
    control.is_defined = decl.is_defined
    decl.control = control
    decl.symbol = f"__emutls_t.{decl.symbol}"
    decl.address_taken = True
    unit.tree.variables.append(control)


def fill_control(decl: VarDecl) -> None:
    """Stores size, alignment and initial value in the control object of a variable, whose type is now
    complete."""
    control, loc = decl.control, decl.loc
    assert control is not None
    place: Expr = VarRef(type=decl.type, loc=loc, decl=decl)
    initial = AddressOf(type=PointerType(decl.qual), loc=loc, operand=place)
    align = max(decl.type.align, decl.alignment or 1)
    items: list[tuple[int, Expr]] = [
        (0, IntConst(type=SIZE_T, loc=loc, value=decl.type.size)),
        (8, IntConst(type=SIZE_T, loc=loc, value=align)),
        (24, Cast(type=_POINTER, loc=loc, operand=initial)),
    ]
    control.init = Initializer(control.type, items, True, loc)


def own_object(ref: VarRef) -> Expr:
    """The calling thread's object of a thread-local variable."""
    control, loc = ref.decl.control, ref.loc
    assert control is not None
    place = VarRef(type=control.type, loc=loc, decl=control)
    address = AddressOf(type=pointer_to(control.type), loc=loc, operand=place)
    t = FunctionType(_POINTER, (_POINTER,))
    call = Call(
        type=_POINTER,
        loc=loc,
        callee=FunctionRef(type=t, loc=loc, decl=FunctionDecl(_FIND, t, loc)),
        args=[Cast(type=_POINTER, loc=loc, operand=address)],
        function_type=t,
    )
    target = PointerType(ref.decl.qual)
    return Deref(type=ref.type, loc=loc, pointer=Cast(type=target, loc=loc, operand=call))
