"""
Typed trees of all source files → one acc-level module (docs/design.md, "acc level").

Statics that share a name get `.1`, `.2`, … ; declarations are emitted for what is used and not defined.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, llvm
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, UnitAttr
from xdsl.dialects.llvm import LLVMVoidType
from xdsl.ir import Block, BlockArgument, Region

from ...dialects.accx import ENTRY, PUNS
from ...passes.ir.variables.recipes import add_recipes
from ..base.diagnostics import CompileError, Diagnostic, DiagnosticSink
from ..base.names import value_name
from ..base.phases import phase
from ..c import ast as c
from ..c.function_texts import is_left_out
from ..c.types import FunctionType, PointerType
from . import conditions, expressions, lvalues, startup, statements, static_data
from .conventions import has_records, signature
from .default_none import check_default_none
from .device_assembly import check_device_assembly
from .directives import declarations, routines
from .directives.device_versions import needs_device_version
from .facts import analyze
from .function import FunctionState, TreeRules, remove_unreachable
from .normalize import normalize_body
from .records_by_value import emit_entries, take_parameters
from .symbols import EXTERNAL, INTERNAL, WEAK, ModuleState

RULES = TreeRules(
    rvalue=expressions.rvalue,
    condition=conditions.condition,
    discard=expressions.discard,
    place=lvalues.place,
    statement=statements.emit,
)


def generate_module(
    units: Sequence[c.TranslationUnit],
    sink: DiagnosticSink,
    mark: str = "",
    *,
    release: bool = False,
) -> ModuleOp:
    """
    The acc-level module of a whole program, or of one file of it, which has a `mark` (`ModuleState`).
    Remarks go to `sink`. To `release` the trees, each body is emptied when its IR is made, so that the IR of
    the next takes its memory; this is for programs without directives, for which bodies of other functions
    are read. Raises `CompileError` for invalid or unsupported code, with the first mistake of each function.
    """
    with phase("generate IR"):
        state = ModuleState(sink, RULES, any(u.selects_host for u in units), mark)
        return _generate(units, state, release=release)


def _generate(units: Sequence[c.TranslationUnit], state: ModuleState, *, release: bool) -> ModuleOp:
    mistakes: list[Diagnostic] = []
    state.define_externals(units)
    for unit in units:
        for variable in unit.variables:
            if variable.is_defined and id(variable) not in state.overridden:
                static_data.define(state, variable)
    check_device_assembly(state, units)
    for unit in units:
        globals_ = frozenset(decl for decl, _ in declarations.global_clauses(unit))
        for function in unit.functions:
            if function.body is not None and id(function) not in state.overridden:
                if is_left_out(function.body):
                    _declare_left_out(state, function)
                    continue
                try:
                    check_default_none(function, globals_)
                    _define_function(state, function, function.body)
                    if needs_device_version(function):
                        _define_function(state, function, function.body, on_device=True)
                    if state.is_external(function):
                        state.entry_symbol(function)
                    if release:
                        function.body = c.Compound(loc=function.body.loc, body=[])
                except CompileError as mistake:
                    mistakes += mistake.diagnostics
    if mistakes:
        raise CompileError(mistakes)
    startup.emit_callers(state, units)
    emit_entries(state)
    declared: dict[str, acc.DataClause] = {}
    for unit in units:
        declared |= declarations.emit_global(state, unit)
    routines.emit(state, units)
    for decl in state.referenced:
        # Static objects that no translation unit lists: file-scope compound literals.
        if state.symbol_of(decl) not in state.globals:
            static_data.define(state, decl)
    state.declare_externals()
    for symbol, clause in declared.items():
        op = state.globals[symbol]
        op.attributes["acc.declare"] = acc.DeclareAttr(clause)
        op.linkage = EXTERNAL  # also of statics: the runtime finds the host copy by name
    add_recipes(state.module, state.recipes)
    if state.types.has_unions:
        state.module.attributes[PUNS] = UnitAttr()
    return state.module


def _define_function(
    state: ModuleState, function: c.FunctionDecl, source: c.Compound, *, on_device: bool = False
) -> None:
    """The function of a definition, or its device version (`directives/device_versions.py`)."""
    symbol = state.function_symbol(function)
    t: FunctionType = function.type
    ir_type = state.function_types[symbol]
    body = normalize_body(function, source)
    facts = analyze(function, body, state.may_write)
    entry = Block(arg_types=ir_type.inputs.data)
    fn = FunctionState.of_block(state, entry, facts, function)
    fn.on_device = on_device
    region = Region(entry)
    fn.b.at(function.loc)
    if state.is_by_convention(function):
        fn.convention = signature(state.types, t)
        arguments = take_parameters(fn, fn.convention, t.params, entry)
    else:
        arguments = entry.args
    for param, arg in zip(function.params, arguments, strict=False):
        if arg.name_hint is None:
            arg.name_hint = value_name(param.name) if param.name else None
        if isinstance(arg, BlockArgument):
            arg.location = param.loc.to_attr()
        if fn.in_memory(param):
            fn.b.store(arg, fn.allocate(param))
        else:
            fn.values[param] = arg
    for param in function.params:
        fn.b.at(param.loc)
        statements.fix_extents(fn, param.declared or param.type)
    with declarations.function_scope(fn):
        fn.statement(body)
        _finish(fn, function, body)
    remove_unreachable(region)
    linkage = INTERNAL if function.is_static or function.is_inline else EXTERNAL
    if function.is_weak and linkage is EXTERNAL:
        linkage = WEAK
    if on_device:
        linkage = INTERNAL
        state.device_versions[symbol] = state.unique(f"{symbol}.device")
        symbol = state.device_versions[symbol]
    op = llvm.FuncOp(symbol, ir_type, linkage, body=region)
    op.location = function.loc.to_attr()
    _promise_restrict(op, function)
    name = state.name_of_entry(symbol)
    if name is not None and not state.has_entry(function):
        op.attributes[ENTRY] = name
    if fn.convention is not None and has_records(t):
        op.arg_attrs = fn.convention.attributes
    state.module.body.block.add_op(op)


def _declare_left_out(state: ModuleState, function: c.FunctionDecl) -> None:
    """Declares a function in the place of its definition, which is added to the text of the module."""
    symbol = state.function_symbol(function)
    op = llvm.FuncOp(symbol, state.function_types[symbol], EXTERNAL)
    op.location = function.loc.to_attr()
    state.module.body.block.add_op(op)


def _promise_restrict(op: llvm.FuncOp, function: c.FunctionDecl) -> None:
    """Pointer parameters declared `restrict` (C11 6.7.3.1) are `llvm.noalias`."""
    own = [p.qual.restrict and isinstance(p.type, PointerType) for p in function.params]
    if any(own):
        promise = {"llvm.noalias": UnitAttr()}
        op.arg_attrs = ArrayAttr(DictionaryAttr(promise if alone else {}) for alone in own)


def _finish(fn: FunctionState, function: c.FunctionDecl, body: c.Compound) -> None:
    """Emits the return at the end of a function: 0 from `main` (C11 5.1.2.2.3), otherwise an undefined
    value."""
    if fn.b.terminated:
        return
    fn.b.at(body.end_loc or function.loc)
    fn.leave()
    output = fn.module.function_types[fn.module.function_symbol(function)].output
    if isinstance(output, LLVMVoidType):
        fn.b.add(llvm.ReturnOp())
    elif function.name == "main":
        fn.b.add(llvm.ReturnOp(fn.b.int(0, output)))
    else:
        fn.b.add(llvm.ReturnOp(fn.b.undef(output)))
