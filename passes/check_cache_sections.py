"""
Add run-time checks that accesses to cached arrays lie in the sections of their `cache` directives (OpenACC
3.4, 2.10).

Each iteration may touch a cached array only inside the section. Each index that is not proved to lie inside
is checked at run time: the construct records the first access outside in memory of its own, and continues
with the correct values. After the construct, the runtime ends the program with an error that names the
access, the array, the index and the section.

Takes:  scheduled IR, before sections become tiles; `enabled` as the driver's `--check-cache` sets it.
Leaves: before every load and store through a directive's view whose index is not proved to lie in
        the section (or in one of them, if several sections of the array are visible), comparisons and a
        call of a routine that keeps the first finding. The construct has a data clause for the record, and
        the host waits for it. Accesses that cannot be checked are listed in `accx.remarks`.
Fails:  never.

Before:
  %view = acc.cache varPtr(%a) bounds(%lower : %length)
  … llvm.load %view[%j] …
After:
  %view = acc.cache varPtr(%a) bounds(%lower : %length)
  %inside = arith.cmpi ult, %j - %lower, %length : i64
  scf.if not %inside {
    llvm.call @__accopt_note_outside(%record, 1, %j, %lower, %length)
  }
  … llvm.load %view[%j] …
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from xdsl.context import Context
from xdsl.dialects import acc, arith, llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr, i8, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ..dialects.llvm_ext import AtomicBinOp, AtomicRMWOp
from .decisions.cache_section import CachedSection, Element
from .decisions.declined import Declined
from .ir.data.cached_accesses import Symbols, Use, access_of, read_section, uses_of_view
from .ir.data.cached_code import polynomial
from .ir.kernels.runtime_calls import RuntimeCalls
from .ir.ops.acc_ops import (
    EXIT_OPS,
    NONE,
    enclosing,
    enclosing_function,
    parallel_constructs,
    set_operand_groups,
    source_loc,
)
from .ir.ops.building import PTR, Cursor, erase
from .ir.ops.machine import machine_of
from .ir.ops.notes import note

NOTE = "__accopt_note_outside"
WORDS = 5
"""The words of a record: number of the access (0: none), index, lower bound, length, count of findings."""
_VOID = llvm.LLVMVoidType()
_RECORD = llvm.LLVMArrayType(WORDS, i64)


@dataclass
class _Checks:
    """The checked accesses of one construct, as lines of text for the runtime."""

    construct: acc.ParallelOp
    symbols: Symbols
    record: SSAValue
    lines: list[str] = field(default_factory=list[str])
    notes: list[tuple[acc.CacheOp, str]] = field(default_factory=list[tuple[acc.CacheOp, str]])

    def number(self, use: Use, op: acc.CacheOp, section: CachedSection, dim: int) -> int:
        """The number, from 1, of the check of one dimension of an access."""
        loc, directive = source_loc(use.op), source_loc(op)
        parts = (loc.file, loc.line, loc.column, section.name, dim + 1, len(section.dims))
        line = "\t".join(str(part) for part in (*parts, directive.line))
        if line not in self.lines:
            self.lines.append(line)
        return self.lines.index(line) + 1


def _sections(op: acc.CacheOp, symbols: Symbols) -> list[tuple[acc.CacheOp, CachedSection]]:
    """The section of a directive, and those of the enclosing directives for the same array."""
    found: list[tuple[acc.CacheOp, CachedSection]] = []
    current: acc.CacheOp | None = op
    while current is not None:
        found.append((current, read_section(current, symbols, any_length=True)))
        owner = current.var.owner
        current = owner if isinstance(owner, acc.CacheOp) else None
    return found


def _check_directive(checks: _Checks, op: acc.CacheOp) -> None:
    try:
        sections = _sections(op, checks.symbols)
    except Declined as reason:
        checks.notes.append((op, f"accesses are not checked: {reason}"))
        return
    for use in uses_of_view(op.acc_var, checks.symbols):
        if isinstance(use.op, acc.CacheOp):
            continue
        access = use.access
        read = (
            []
            if access is None
            else [access_of(section, access, use.path, checks.symbols) for _, section in sections]
        )
        if any(each.certain for each in read):
            continue
        if not read or any(each.element is None for each in read):
            name, line = sections[0][1].name, source_loc(use.op).line
            text = f"cache({name}): line {line} is not checked against the section"
            checks.notes.append((op, text))
            continue
        elements = [each.element for each in read if each.element is not None]
        _check_access(checks, use, sections, elements)


def _check_access(
    checks: _Checks,
    use: Use,
    sections: list[tuple[acc.CacheOp, CachedSection]],
    elements: list[Element],
) -> None:
    at = Cursor.before(use.op)
    missed: list[tuple[SSAValue, int, list[SSAValue]]] = []
    for (op, section), element in zip(sections, elements, strict=True):
        outside: SSAValue | None = None
        for dim, index in enumerate(element.indices):
            bounds = op.bounds[dim].owner
            assert isinstance(bounds, acc.DataBoundsOp)
            assert bounds.lowerbound is not None and bounds.extent is not None
            here = polynomial(at, index, {}, i64)
            lower, length = at.to_i64(bounds.lowerbound), at.to_i64(bounds.extent)
            distance = at.sub(here, lower)
            own = at.value(arith.CmpiOp(distance, length, "uge"), "outside")
            missed.append((own, checks.number(use, op, section, dim), [here, lower, length]))
            outside = at.any_bits(outside, own)
        assert outside is not None
        if len(sections) > 1:
            missed[-len(element.indices) :] = [(outside, missed[-1][1], missed[-1][2])]
    if len(sections) > 1:
        everywhere = reduce(at.both, [condition for condition, _, _ in missed])
        missed = [(everywhere, *missed[0][1:])]
    for condition, number, values in missed:
        then = at.if_then(condition)
        then.insert(llvm.CallOp(NOTE, checks.record, then.i64(number), *values))


def _instrument(construct: acc.ParallelOp, module: ModuleOp, number: int) -> bool:
    """Adds checks for the directives of a construct; returns whether there was anything to check."""
    directives = [op for op in construct.walk() if isinstance(op, acc.CacheOp)]
    if not directives:
        return False
    function = enclosing_function(construct)
    first = function.body.blocks[0].first_op
    assert first is not None
    memory = Cursor.before(first, construct.location).alloca(_RECORD, "outside")
    before = Cursor.before(construct)
    for word in range(WORDS):
        before.store(before.i64(0), before.field(memory, 8 * word))
    name = StringAttr("cache sections")
    copy = acc.DataClauseAttr(acc.DataClause.ACC_COPY)
    entry = before.insert(
        acc.CopyinOp(var=memory, var_type=_RECORD, data_clause=copy, var_name=name)
    )
    entry.acc_var.name_hint = "outside"
    checks = _Checks(construct, Symbols(construct), entry.acc_var)
    for op in directives:
        _check_directive(checks, op)
    note(construct, checks.notes)
    if not checks.lines:
        erase(entry)
        return False
    set_operand_groups(
        construct, data_clause_operands=[*construct.data_clause_operands, entry.acc_var]
    )
    Cursor.after(construct).insert(
        acc.CopyoutOp(
            acc_var=entry.acc_var, var=memory, var_type=_RECORD, data_clause=copy, var_name=name
        )
    )
    _report(construct, module, memory, checks.lines, number)
    return True


def _report(
    construct: acc.ParallelOp, module: ModuleOp, memory: SSAValue, lines: list[str], number: int
) -> None:
    """
    Emits, after the construct and its data operations, the call that reports an error if the record has a
    finding.
    """
    text = "\n".join(lines).encode() + b"\0"
    symbol = f".cache_sections.{number}"
    table = llvm.GlobalOp(
        llvm.LLVMArrayType(len(text), i8),
        symbol,
        "private",
        constant=True,
        value=StringAttr(text.decode()),
        alignment=1,
    )
    table.location = construct.location
    module.body.block.add_op(table)
    last: Operation = construct
    while isinstance(last.next_op, EXIT_OPS):
        last = last.next_op
    after = Cursor.after(last, construct.location)
    if construct.async_operands or construct.async_only is not None:
        after.insert(acc.WaitOp())
    address = after.value(llvm.AddressOfOp(symbol, PTR), "sections")
    found = after.load(after.field(memory, 0), i64, "found")
    some = after.value(arith.CmpiOp(found, after.i64(0), "ne"))
    then = after.if_then(some)
    calls = RuntimeCalls.in_module(module)
    calls.call(then, "__accopt_outside", then.i32(-1), address, memory)


def _declare(module: ModuleOp) -> None:
    """The routine that keeps the first finding, and the runtime's entry point."""
    block = Block(arg_types=[PTR, i64, i64, i64, i64])
    record, number, *values = block.args
    for argument, hint in zip(
        block.args, ("record", "number", "index", "lower", "length"), strict=True
    ):
        argument.name_hint = hint
    loc = module.location
    at = Cursor.at_end(block, loc)
    count = at.field(record, 8 * (WORDS - 1))
    found = at.value(AtomicRMWOp(AtomicBinOp.add, count, at.i64(1), alignment=8), "findings")
    first = at.if_then(at.value(arith.CmpiOp(found, at.i64(0), "eq"), "first"))
    for word, value in enumerate((number, *values)):
        first.store(value, first.field(record, 8 * word))
    at.insert(llvm.ReturnOp())
    type_ = llvm.LLVMFunctionType([PTR, i64, i64, i64, i64], _VOID)
    routine = llvm.FuncOp(NOTE, type_, llvm.LinkageAttr("internal"), body=Region(block))
    directive = acc.RoutineOp(
        sym_name=f"acc_routine_{NOTE}", func_name=NOTE, implicit=True, seq=NONE
    )
    for op in (directive, routine):
        op.location = loc
        module.body.block.add_op(op)


def _note_routines(module: ModuleOp) -> None:
    """Notes that accesses under directives in routines, which have no record, are not checked."""
    for function in module.body.block.ops:
        if not isinstance(function, llvm.FuncOp):
            continue
        inside = [op for op in function.walk() if isinstance(op, acc.CacheOp)]
        free = [op for op in inside if enclosing(op, acc.ParallelOp) is None]
        note(function, [(op, "accesses in routines are not checked") for op in free])


@dataclass(frozen=True)
class CheckCacheSectionsPass(ModulePass):
    """See the contract at the top of this file."""

    name = "check-cache-sections"

    enabled: bool | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        enabled = machine_of(op).check_cache if self.enabled is None else self.enabled
        if not enabled:
            return
        constructs = parallel_constructs(op)
        found = [_instrument(each, op, number) for number, each in enumerate(constructs)]
        if any(found):
            _declare(op)
        _note_routines(op)
