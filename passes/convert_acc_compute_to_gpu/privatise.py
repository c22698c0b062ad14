"""
Private copies: the memory of each variable of a gang, worker or thread.

Scalars and structures live in stack slots of every thread (LLVM makes them registers), even for a
gang's copy: code in gang-redundant mode keeps them equal in all threads. Arrays of a gang or worker
are shared by its threads, so they live in shared memory, as do scalars and structures that its
threads update by atomic operations (`meets_threads`); when they do not fit or their length is
known only at run time, in scratch memory. Arrays of a thread are stack slots, or scratch memory.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import i8, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ...compiler.base.diagnostics import SourceLoc, error
from ..decisions.device import WARP
from ..decisions.loop_partition import Mode
from ..ir.ops.building import Cursor, constant_value
from ..ir.ops.expressions import parts_of
from ..ir.ops.layout import size_of
from ..ir.variables.recipe_reading import CopyRecipe, Recipes, check_object
from .barriers import UNKNOWN, accesses
from .context import EXCHANGE_RESERVE, STATIC_SHARED_LIMIT, Kernel
from .leaves import CopyLayout, copy_layout, meets_threads
from .scratch import HOST_ARITHMETIC, ScratchArea, recompute
from .warp import leader_branch


def local_variable(k: Kernel, op: llvm.AllocaOp) -> SSAValue:
    """The memory of a variable declared in device code."""
    count = constant_value(op.size)
    hint = op.res.name_hint or "local"
    one = 1 if meets_threads(op) else None
    layout = CopyLayout(op.elem_type, one if count == 1 else count, None)
    if count is None:
        if k.mode is Mode.THREAD:
            return k.value(llvm.AllocaOp(k.values[op.size], op.elem_type, alignment=16), hint)
        return _in_scratch(k, CopyLayout(op.elem_type, op.size, None), hint, op)
    return allocate(k, layout, hint, op)


def allocate(k: Kernel, layout: CopyLayout, hint: str, op: Operation) -> SSAValue:
    """Allocates a copy in the current mode; returns the address of element 0 of the variable."""
    storage = layout.storage
    if storage is None:
        address = _in_scratch(k, layout, hint, op)
    elif k.mode is Mode.THREAD or not isinstance(storage, llvm.LLVMArrayType):
        address = k.stack_slot(storage, hint)
    else:
        address = _in_shared(k, layout, storage, hint, op)
    return shift_to_zero(k, layout, address)


def shift_to_zero(k: Kernel, layout: CopyLayout, address: SSAValue) -> SSAValue:
    """The address where element 0 of the variable would be, for a copy of a section."""
    if layout.lower is None:
        return address
    lower = k.values.get(layout.lower, layout.lower)
    if constant_value(lower) == 0:
        return address
    lower = k.to_i64(lower)
    back = k.sub(k.constant(0, i64), lower)
    shifted = k.value(
        llvm.GEPOp.from_mixed_indices(address, [back], layout.element), address.name_hint
    )
    return shifted


def _in_shared(
    k: Kernel, layout: CopyLayout, storage: Attribute, hint: str, op: Operation
) -> SSAValue:
    copies = 1 if k.mode is Mode.GANG else k.shape.workers or WARP
    bytes = copies * -(-size_of(storage) // 16) * 16
    if k.shared_bytes + bytes > STATIC_SHARED_LIMIT - EXCHANGE_RESERVE:
        if isinstance(layout.length, int) and k.is_kernel:
            return _in_scratch(k, layout, hint, op)
        elements = storage.size.data if isinstance(storage, llvm.LLVMArrayType) else 1
        element = storage.type if isinstance(storage, llvm.LLVMArrayType) else storage
        return _in_scratch(k, CopyLayout(element, elements, None), hint, op)
    k.shared_bytes += bytes
    key = op.results[0]
    if copies == 1:
        return k.shared_variable(storage, hint, key)
    array = llvm.LLVMArrayType(copies, storage)
    base = k.shared_variable(array, hint, key)
    return k.in_prologue().element(base, k.worker(), storage, hint)


def _host_known(k: Kernel, length: int | SSAValue) -> int | SSAValue | None:
    if isinstance(length, int):
        return length
    mapped = k.values.get(length, length)
    constant = constant_value(mapped)
    if constant is not None:
        return constant
    owner = mapped.owner
    if isinstance(owner, arith.ExtSIOp | arith.ExtUIOp):
        mapped = owner.operands[0]
    return mapped if _follows_from(mapped, k.entry) else None


def _follows_from(value: SSAValue, entry: Block) -> bool:
    """Whether the host can compute `value`, because it is integer arithmetic on the kernel's arguments."""

    def is_fine(part: SSAValue) -> bool:
        owner = part.owner
        if isinstance(owner, Block):
            return owner is entry
        return constant_value(part) is not None or isinstance(owner, HOST_ARITHMETIC)

    return all(is_fine(part) for part in parts_of(value, lambda part: not is_fine(part)))


def _in_scratch(k: Kernel, layout: CopyLayout, hint: str, op: Operation) -> SSAValue:
    """Allocates a copy for the gang, worker or thread in the kernel's scratch memory."""
    assert layout.length is not None
    length = _host_known(k, layout.length)
    if length is None or not k.is_kernel:
        raise error(
            SourceLoc.from_attr(op.location),
            f"the length of the private array '{hint}' is not known before the compute construct",
            "give it a constant length, or compute the length before the construct",
        )
    number = _unit_number(k, k.mode)
    start, bytes = _scratch_area(k, layout, length, k.mode, hint)
    address = k.value(
        llvm.GEPOp.from_mixed_indices(start, [k.mul(k.to_i64(number), bytes)], i8), hint
    )
    if k.mode is not Mode.THREAD:
        k.shared_roots[address] = op.results[0]
    else:
        k.own_memory.add(address)
    return address


def _scratch_area(
    k: Kernel, layout: CopyLayout, length: int | SSAValue, per: Mode, hint: str
) -> tuple[SSAValue, SSAValue]:
    """A new area of scratch memory: its address, and the bytes (i64) of each copy in it."""
    base, offset = k.scratch_base(), k.add_argument(i64, f"{hint}_offset")
    element_bytes = size_of(layout.element)
    k.scratch.areas.append(ScratchArea(length, element_bytes, per, offset))
    elements = k.constant(length, i64) if isinstance(length, int) else k.to_i64(length)
    bytes = k.mul(elements, k.constant(element_bytes, i64))
    return k.value(llvm.GEPOp.from_mixed_indices(base, [offset], i8), f"{hint}_area"), bytes


def _unit_number(k: Kernel, mode: Mode) -> SSAValue:
    """The number of the gang, worker or thread over the whole grid (i32)."""
    number = k.gang_number()
    if mode is Mode.WORKER:
        return k.add(k.mul(number, k.workers()), k.worker())
    if mode is Mode.THREAD:
        return k.add(k.mul(number, k.threads()), k.thread())
    return number


def section_length(k: Kernel, layout: CopyLayout, hint: str, op: Operation) -> SSAValue:
    """
    The length of a section that is not constant, as an i64 of the kernel's prologue. Raises
    `CompileError` if the host cannot compute it before the launch.
    """
    assert isinstance(layout.length, SSAValue)
    length = _host_known(k, layout.length)
    if not isinstance(length, SSAValue) or not k.is_kernel:
        raise error(
            SourceLoc.from_attr(op.location),
            f"the length of the section of reduction variable '{hint}' is not known before the"
            " compute construct",
            "give the section a constant length, or one computed before the construct",
        )
    with k.at(k.in_prologue()):
        return k.to_i64(recompute(k, length))


def thread_section(k: Kernel, element: Attribute, length: SSAValue, hint: str) -> SSAValue:
    """Scratch memory for `length` elements of each thread; the address is computed in the prologue."""
    with k.at(k.in_prologue()):
        layout = CopyLayout(element, length, None)
        start, bytes = _scratch_area(k, layout, length, Mode.THREAD, hint)
        number = k.to_i64(_unit_number(k, Mode.THREAD))
        address = k.value(llvm.GEPOp.from_mixed_indices(start, [k.mul(number, bytes)], i8), hint)
    k.own_memory.add(address)
    return address


def gang_results(k: Kernel, element: Attribute, length: SSAValue, hint: str) -> SSAValue:
    """
    Scratch memory for `length` results of every gang, gang after gang; the address is computed in the
    prologue.
    """
    with k.at(k.in_prologue()):
        return _scratch_area(k, CopyLayout(element, length, None), length, Mode.GANG, hint)[0]


def private_copy(k: Kernel, op: acc.PrivateOp, recipe: CopyRecipe) -> SSAValue:
    """The copy of a `private` clause in the current mode (OpenACC 3.4, 2.5.13)."""
    hint = "private" if op.var_name is None else op.var_name.data
    layout = copy_layout(op)
    copy = allocate(k, layout, hint, op)
    if recipe.has_init:
        _each_object(k, op, recipe, layout, recipe.start, copy)
    return copy


def _each_object(
    k: Kernel,
    op: acc.PrivateOp | acc.FirstprivateOp,
    recipe: CopyRecipe,
    layout: CopyLayout,
    act: Callable[..., None],
    *addresses: SSAValue,
) -> None:
    """
    Applies `act` of `recipe` to the objects at `addresses`, the last of which is the copy; for a section,
    to each of its elements. Every thread does so for its own copy, the leader for a shared one.
    """
    check_object(op, recipe, layout.element)
    root = k.root(addresses[-1])
    place: Cursor = k
    if root is not None and k.mode is not Mode.THREAD:
        k.access(accesses((UNKNOWN,), (root,), leader=True))
        place = leader_branch(k)
    with k.at(place):
        if layout.length is None:
            act(k, *addresses)
            return
        lower, length = _section(k, layout)
        _, body = k.for_loop(k.constant(0, i64), length, k.constant(1, i64), "object")
        with k.at(body):
            index = k.add(lower, _induction(body), "index")
            act(k, *(k.element(address, index, layout.element) for address in addresses))


def _section(k: Kernel, layout: CopyLayout) -> tuple[SSAValue, SSAValue]:
    """The first element of a section and the number of its elements (i64)."""
    lower = k.constant(0, i64)
    if layout.lower is not None:
        lower = k.to_i64(k.values.get(layout.lower, layout.lower))
    if isinstance(layout.length, SSAValue):
        return lower, k.to_i64(k.values.get(layout.length, layout.length))
    assert layout.length is not None
    return lower, k.constant(layout.length, i64)


def firstprivate_copy(k: Kernel, op: acc.FirstprivateOp, recipe: CopyRecipe) -> SSAValue:
    """The copy of a `firstprivate` clause, initialised from the variable (OpenACC 3.4, 2.5.14)."""
    if recipe.is_plain:
        return _copy_of_bytes(k, op)
    hint = "firstprivate" if op.var_name is None else op.var_name.data
    layout = copy_layout(op)
    copy = allocate(k, layout, hint, op)
    if recipe.has_init:
        _each_object(k, op, recipe, layout, recipe.start, copy)
    _each_object(k, op, recipe, layout, recipe.move, k.values[op.var], copy)
    return copy


def _copy_of_bytes(k: Kernel, op: acc.FirstprivateOp) -> SSAValue:
    """Makes a bytewise copy of the variable; the threads of a gang copy its array together."""
    hint = "firstprivate" if op.var_name is None else op.var_name.data
    source = k.values[op.var]
    layout = copy_layout(op)
    if layout.length is None and not isinstance(layout.element, llvm.LLVMArrayType):
        if k.root(source) is None:
            return source
        copy = k.stack_slot(layout.element, hint)
        k.store(k.load(source, layout.element, hint), copy)
        return copy
    copy = allocate(k, layout, hint, op)
    storage = layout.storage
    if layout.length is None:
        assert isinstance(storage, llvm.LLVMArrayType)
        lower, element = k.constant(0, i64), storage.type
        length = k.constant(storage.size.data, i64)
    else:
        (lower, length), element = _section(k, layout), layout.element
    root = k.root(copy)
    shared = root is not None and k.mode is not Mode.THREAD
    if root is not None and shared:
        k.access(accesses((), (root,), leader=False))
    first = k.constant(0, i64)
    step = k.constant(1, i64)
    if shared:
        thread = k.thread() if k.mode is Mode.GANG else k.lane()
        threads = k.threads() if k.mode is Mode.GANG else k.lanes()
        first, step = k.zero_extend(thread, i64), k.zero_extend(threads, i64)
    _, body = k.for_loop(first, length, step, "element")
    with k.at(body):
        index = k.add(lower, _induction(body), "index")
        k.store(
            k.load(k.element(source, index, element), element, hint),
            k.element(copy, index, element),
        )
    return copy


def own_copy(k: Kernel, op: acc.PrivateOp | acc.FirstprivateOp, recipes: Recipes) -> SSAValue:
    """The copy that a `private` or `firstprivate` clause makes at the current position."""
    recipe = recipes.copies(op)
    if isinstance(op, acc.FirstprivateOp):
        return firstprivate_copy(k, op, recipe)
    return private_copy(k, op, recipe)


def _induction(body: Cursor) -> SSAValue:
    return body.point.block.args[0]
