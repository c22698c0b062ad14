"""
Give every function that device code reaches an acc.routine, and check calls (OpenACC 3.4, 2.15.1).

Takes:  acc level.
Leaves: each `llvm.func` with a body that is called, or whose address is taken, in a compute region
        or in a routine has an `acc.routine`; new ones are marked `accx.implicit_routine`. Their level is
        the widest of the loops in the function and the routines it calls, else `seq`; a routine directive
        without a level gets its level in the same way. Loops in the other functions, outside of compute
        constructs, are warned about.
Fails:  a call of a function that is neither defined, declared as a routine nor known on devices; a
        static local or an undeclared global variable in a routine; a call of a routine from a loop
        that is already partitioned at the routine's level or a narrower one; a call through a
        pointer that host code made; a call of a `nohost` routine by host code; a loop or call in a
        routine at a wider level than its directive gives; data, compute and host directives in a routine;
        OpenMP in device code.

Before:
  llvm.func @square(%v: f32) -> f32 { ... }
  ... acc.parallel { ... llvm.call @square(%x) ... }
After:
  acc.routine @acc_routine_square func(@square) seq implicit attributes {accx.implicit_routine}
  llvm.func @square(%v: f32) -> f32 { ... }
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ..compiler.base.diagnostics import CompileError, Diagnostic, error
from ..compiler.base.library_headers import is_library
from ..compiler.base.names import c_name
from ..dialects.accx import ENTRY, IMPLICIT_ROUTINE
from ..dialects.accx_devices import UpdatePeerOp
from .decisions.device_functions import OPENMP_MARK, is_device_callable, is_openmp
from .decisions.levels import LEVEL_NAMES, Level
from .ir.ops.acc_ops import (
    COMPUTE_OPS,
    NONE,
    callee_of,
    constructs_of,
    enclosing,
    is_defined_inside,
    loops_around,
    source_loc,
    variable_name,
)
from .ir.ops.levels import bound_symbol, has_own_level, loop_levels, routine_level, set_level
from .ir.ops.messages import Messages

HOST_DIRECTIVES = (
    *COMPUTE_OPS,
    acc.DataOp,
    acc.EnterDataOp,
    acc.ExitDataOp,
    acc.HostDataOp,
    acc.InitOp,
    acc.SetOp,
    acc.ShutdownOp,
    acc.UpdateOp,
    acc.WaitOp,
    UpdatePeerOp,
)
"""Operations that only host code may contain."""


@dataclass
class _Program:
    """The module's symbols, collected once."""

    module: ModuleOp
    functions: dict[str, llvm.FuncOp] = field(default_factory=dict[str, llvm.FuncOp])
    globals_: dict[str, llvm.GlobalOp] = field(default_factory=dict[str, llvm.GlobalOp])
    routines: dict[str, acc.RoutineOp] = field(default_factory=dict[str, acc.RoutineOp])

    def __post_init__(self) -> None:
        for op in self.module.body.block.ops:
            match op:
                case llvm.FuncOp():
                    self.functions[op.sym_name.data] = op
                case llvm.GlobalOp():
                    self.globals_[op.sym_name.data] = op
                case acc.RoutineOp():
                    self.routines[op.func_name.string_value()] = op
                case _:
                    pass

    def given_level(self, name: str) -> bool:
        """Whether a routine directive gives the function a level."""
        routine = self.routines.get(name)
        return routine is not None and (has_own_level(routine) or bound_symbol(routine) is not None)

    def bound(self, name: str) -> str:
        """The function that device code calls for `name` (the `bind` clause)."""
        routine = self.routines.get(name)
        return name if routine is None else bound_symbol(routine) or name

    def level(self, name: str) -> Level:
        routine = self.routines.get(name)
        return Level.SEQ if routine is None else routine_level(routine)


def _references(op: Operation) -> Iterator[tuple[Operation, str]]:
    """The functions and globals that the regions of `op` name, each with the operation that names it."""
    for region in op.regions:
        for inner in region.walk():
            if (name := callee_of(inner)) is not None:
                yield inner, name
            elif isinstance(inner, llvm.AddressOfOp):
                yield inner, inner.global_name.string_value()


def _check_openmp(program: _Program, op: Operation, name: str) -> None:
    """
    Raises `CompileError` if `op` uses OpenMP in device code, which is for threads of the host. (In a
    program compiled without OpenMP, `omp_*` routines are those of one thread and allowed.)
    """
    if not is_openmp(name) or (name in program.functions and OPENMP_MARK not in program.functions):
        return
    what = f"'{name}'" if name.startswith("omp_") else "a directive of OpenMP"
    raise error(
        source_loc(op),
        f"{what} in device code",
        "OpenMP is for host code here: move it out of what the compute construct calls",
    )


def _check_callee(program: _Program, op: Operation, name: str) -> None:
    bound = program.bound(name)
    function = program.functions.get(bound)
    _check_openmp(program, op, bound)
    defined = function is not None and bool(function.body.blocks)
    if defined or is_device_callable(bound):
        return
    if bound != name:
        raise error(
            source_loc(op),
            f"'routine' binds '{c_name(name)}' to '{c_name(bound)}', and no such function is defined in"
            " the program",
            f"define '{c_name(bound)}' in one of the program's files",
            [(source_loc(program.routines[name]), "the directive is here")],
        )
    if name in program.routines:
        return
    if function is not None and is_library(source_loc(function)):
        raise error(
            source_loc(op),
            f"'{c_name(name)}' is called in device code, but it is a function of the host's library",
            "call it outside of compute constructs (docs/supported.md lists what device code has)",
        )
    if function is not None and ENTRY in function.attributes:
        raise error(
            source_loc(op),
            f"function '{c_name(name)}' is called in device code, but it is declared with another type"
            " than the C library's",
            "include the library's header, or define the function in one of the source files",
            [(source_loc(function), "the declaration is here")],
        )
    raise error(
        source_loc(op),
        f"function '{c_name(name)}' is called in device code, but it is neither defined in the "
        "program nor a function of the device's library",
        f"add '#pragma acc routine seq' to its declaration, or compile the file that defines"
        f" '{c_name(name)}' together with this one",
    )


def _check_global(program: _Program, op: Operation, name: str, routine: str) -> None:
    variable = program.globals_[name]
    if variable.constant is not None or "acc.declare" in variable.attributes:
        return
    if variable.linkage.linkage.data == "internal" and name.startswith(f"{routine}."):
        raise error(
            source_loc(op),
            f"static variable '{c_name(name)}' in function '{c_name(routine)}', which"
            " device code calls",
            "pass the variable as an argument, or make it a global variable with"
            " '#pragma acc declare'",
        )
    raise error(
        source_loc(op),
        f"global variable '{c_name(name)}' is used in function '{c_name(routine)}', which device code"
        " calls, but it is not declared on the device",
        f"add '#pragma acc declare create({c_name(name)})' after its definition and update it on the"
        " device",
    )


def _reach(program: _Program) -> list[str]:
    """
    The names of the functions that device code reaches, callers before callees. Raises `CompileError` with
    all symbols that device code cannot use, each at its first use in the text.
    """
    mistakes: dict[str, Diagnostic] = {}
    order: dict[str, None] = {}
    work: list[Operation] = [op for op in program.module.walk() if isinstance(op, COMPUTE_OPS)]
    for name in program.routines:
        function = program.functions.get(name)
        if program.bound(name) == name and function is not None and function.body.blocks:
            order.setdefault(name)
            work.append(function)
    while work:
        user = work.pop()
        for op, name in _references(user):
            try:
                _check_reference(program, user, op, name)
            except CompileError as mistake:
                found = mistake.diagnostics[0]
                mistakes[name] = min(found, mistakes.get(name, found), key=_place)
                continue
            if name in program.globals_:
                continue
            name = program.bound(name)
            function = program.functions.get(name)
            if function is not None and function.body.blocks and name not in order:
                order[name] = None
                work.append(function)
    if mistakes:
        raise CompileError(sorted(mistakes.values(), key=_place))
    return list(order)


def _check_reference(program: _Program, user: Operation, op: Operation, name: str) -> None:
    """Raises `CompileError` if the code of `user`, for the device, cannot use `name` as `op` does."""
    if name not in program.globals_:
        _check_callee(program, op, name)
        return
    _check_openmp(program, op, name)
    if isinstance(user, llvm.FuncOp):
        _check_global(program, op, name, user.sym_name.data)


def _place(mistake: Diagnostic) -> tuple[str, int, int]:
    return mistake.loc.file, mistake.loc.line, mistake.loc.column


def _infer_levels(program: _Program, reached: list[str]) -> dict[str, Level]:
    """The level of every reached function: given, or the widest of its loops and callees."""
    levels = {
        name: program.level(name)
        if program.given_level(name)
        else max(
            (max(loop_levels(loop), default=Level.SEQ) for loop in _loops(program, name)),
            default=Level.SEQ,
        )
        for name in reached
    }
    changed = True
    while changed:
        changed = False
        for name in reached:
            if program.given_level(name):
                continue
            for _, callee in _references(program.functions[name]):
                wanted = levels.get(callee, program.level(callee))
                if wanted > levels[name]:
                    levels[name] = wanted
                    changed = True
    return levels


def _loops(program: _Program, name: str) -> list[acc.LoopOp]:
    return [op for op in program.functions[name].walk() if isinstance(op, acc.LoopOp)]


def make_routine(name: str, level: Level, like: llvm.FuncOp) -> acc.RoutineOp:
    """The `acc.routine` of a function that has none."""
    routine = acc.RoutineOp(
        sym_name=f"acc_routine_{name}",
        func_name=name,
        implicit=True,
        gang=NONE if level is Level.GANG else None,
        worker=NONE if level is Level.WORKER else None,
        vector=NONE if level is Level.VECTOR else None,
        seq=NONE if level is Level.SEQ else None,
    )
    routine.attributes[IMPLICIT_ROUTINE] = UnitAttr()
    routine.location = like.location
    return routine


def _check_nesting(levels: dict[str, Level], program: _Program) -> Iterator[CompileError]:
    """The mistakes where a routine is called where its level, or a narrower one, is already taken."""
    for call in program.module.walk():
        name = callee_of(call)
        if name is None:
            continue
        wanted = levels.get(name, program.level(name))
        if wanted is Level.SEQ:
            continue
        for loop in loops_around(call):
            narrowest = min(loop_levels(loop), default=None)
            if narrowest is not None and narrowest <= wanted:
                yield error(
                    source_loc(call),
                    f"routine '{c_name(name)}' has level {LEVEL_NAMES[wanted]}, but it is called in a"
                    f" loop that is already partitioned over {LEVEL_NAMES[narrowest]}s",
                    f"call it in a wider loop, or give '{c_name(name)}' a narrower level",
                    [(source_loc(loop), "the loop is here")],
                )
                break


def _check_bodies(levels: dict[str, Level], program: _Program) -> Iterator[CompileError]:
    """
    The mistakes where a routine contains a wider level than its own, or an operation for host code
    (2.15.1).
    """
    for name, level in levels.items():
        for op in program.functions[name].walk():
            wanted, what, instead = Level.SEQ, "", ""
            if isinstance(op, acc.LoopOp):
                wanted = max(loop_levels(op), default=Level.SEQ)
                what, instead = f"a {LEVEL_NAMES[wanted]} loop", "remove the level from the loop"
            elif (callee := callee_of(op)) is not None:
                wanted = levels.get(callee, program.level(callee))
                what = f"a call of '{c_name(callee)}', which has level {LEVEL_NAMES[wanted]},"
                instead = "call it in the compute construct"
            elif isinstance(op, HOST_DIRECTIVES):
                yield error(
                    source_loc(op),
                    f"'{op.name.removeprefix('acc.').replace('_', ' ')}' in '{c_name(name)}', which device"
                    " code calls",
                    "only loop, atomic and cache are allowed in device code: call it from a function"
                    " of its own",
                )
            if wanted > level:
                yield error(
                    source_loc(op),
                    f"{what} is in '{c_name(name)}', a routine of level {LEVEL_NAMES[level]}",
                    f"give '{c_name(name)}' the level {LEVEL_NAMES[wanted]}, or {instead}",
                    [(source_loc(program.routines[name]), "the directive is here")],
                )


def _check_indirect(module: ModuleOp) -> Iterator[CompileError]:
    """
    The calls through a pointer from host code: a function's host address has no
    meaning on the device.
    """
    for construct in constructs_of(module, COMPUTE_OPS):
        for call in construct.walk():
            if not isinstance(call, llvm.CallOp) or call.callee is not None:
                continue
            if not is_defined_inside(call.args[0], construct):
                name = variable_name(call.args[0])
                yield error(
                    source_loc(call),
                    f"a function is called through '{name}', whose value is an address on the host",
                    "call functions by name in the construct, selected by 'if' or 'switch'",
                )


def _check_host_calls(program: _Program) -> Iterator[CompileError]:
    """
    The mistakes where host code calls a `nohost` routine, which exists on the device only (2.15.1).
    """
    nohost = {name for name, routine in program.routines.items() if routine.nohost is not None}
    if not nohost:
        return
    for name, function in program.functions.items():
        if name in nohost:
            continue
        for call, callee in _references(function):
            if callee in nohost and enclosing(call, *COMPUTE_OPS) is None:
                yield error(
                    source_loc(call),
                    f"'{callee}' is a routine for devices only (nohost), and host code calls it",
                    f"call it in a compute construct, or leave out nohost of '{callee}'",
                )


def _warn_of_host_loops(program: _Program, reached: list[str]) -> None:
    """Warns of loop directives in host code outside of compute constructs, which have no effect (2.9)."""
    messages = Messages(program.module)
    for name in program.functions:
        if name in program.routines or name in reached:
            continue
        outer: acc.LoopOp | None = None
        for loop in _loops(program, name):
            inner = outer is not None and outer.is_ancestor(loop)
            if loop.seq is None and not inner and enclosing(loop, *COMPUTE_OPS) is None:
                outer = loop
                messages.warn(
                    source_loc(loop),
                    "this 'loop' is not in a compute construct: it runs on the host, sequentially",
                    f"write 'parallel loop', or give '{c_name(name)}' a 'routine' directive and call it in"
                    " a compute construct",
                )
    messages.save()


def _refuse(mistakes: list[CompileError]) -> None:
    """Raises `CompileError` with all of these mistakes, if there are any."""
    if mistakes:
        raise CompileError([d for mistake in mistakes for d in mistake.diagnostics])


@dataclass(frozen=True)
class InferRoutinesPass(ModulePass):
    """See the module's description."""

    name = "infer-routines"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        program = _Program(op)
        _refuse([*_check_indirect(op), *_check_host_calls(program)])
        reached = _reach(program)
        _warn_of_host_loops(program, reached)
        levels = _infer_levels(program, reached)
        _refuse([*_check_nesting(levels, program), *_check_bodies(levels, program)])
        for name in reached:
            if name not in program.routines:
                function = program.functions[name]
                routine = make_routine(name, levels[name], function)
                op.body.block.insert_op_before(routine, function)
            elif not program.given_level(name):
                set_level(program.routines[name], levels[name])
