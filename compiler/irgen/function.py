"""The state of generating one function: cursor, variables, control-flow targets, regions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import (
    IntegerAttr,
    IntegerType,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...dialects.accx import CONSTANT
from ..base.diagnostics import SourceLoc, error
from ..base.names import value_name
from ..c import ast as c
from ..c.types import (
    ArrayType,
    CType,
    IntType,
    VoidType,
)
from .builder import Builder
from .facts import FunctionFacts
from .layout import (
    PTR,
    result_of,
)

if TYPE_CHECKING:
    from .conventions import Signature
    from .places import Place
    from .symbols import ModuleState


@dataclass
class AllocaScope:
    """The place of a region's allocas: the beginning of its first block, one after the other."""

    block: Block
    last: Operation | None = None
    one: SSAValue | None = None

    def insert(self, op: Operation) -> None:
        if self.last is not None:
            self.block.insert_op_after(op, self.last)
        elif self.block.first_op is not None:
            self.block.insert_op_before(op, self.block.first_op)
        else:
            self.block.add_op(op)
        self.last = op


@dataclass
class JumpTargets:
    """
    The blocks to which `break` and `continue` branch, None where the jump would leave a construct; and the
    number of scopes with cleanup code around those blocks.
    """

    on_break: Block | None = None
    on_continue: Block | None = None
    outside_break: int = 0
    outside_continue: int = 0


@dataclass
class EnclosingConstruct:
    """An OpenACC construct around the current statement: its spelling and mode for loops."""

    name: str
    kind: str
    loc: SourceLoc


@dataclass(frozen=True)
class TreeRules:
    """
    The rules that emit trees. Rules call one another through this table: the rule for a node does not
    import those for its parts, but calls `fn.rvalue(part)` and the like.
    """

    rvalue: Callable[[FunctionState, c.Expr], SSAValue]
    condition: Callable[[FunctionState, c.Expr], SSAValue]
    discard: Callable[[FunctionState, c.Expr], None]
    place: Callable[[FunctionState, c.Expr], Place]
    statement: Callable[[FunctionState, c.Stmt], None]


@dataclass
class FunctionState:
    """
    One function (or static initialiser) being generated. `values` holds SSA variables and, inside
    constructs, the device pointers that replace pointer variables; `addresses` holds the address
    of every variable in memory; `members` the replacements of `p->x` that data clauses name;
    `assigned` remembers the variables that bodies of directives assign.
    """

    module: ModuleState
    b: Builder
    facts: FunctionFacts
    function: c.FunctionDecl | None = None
    values: dict[c.VarDecl, SSAValue] = field(default_factory=dict[c.VarDecl, SSAValue])
    addresses: dict[c.VarDecl, SSAValue] = field(default_factory=dict[c.VarDecl, SSAValue])
    members: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    extents: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])
    targets: JumpTargets = field(default_factory=JumpTargets)
    labels: dict[str, Block] = field(default_factory=dict[str, Block])
    dispatch: Block | None = None
    """The switch that the `goto *p` among `labels` share, which takes a label's number."""
    allocas: list[AllocaScope] = field(default_factory=list[AllocaScope])
    array_scopes: list[AllocaScope] = field(default_factory=list[AllocaScope])
    """The places of arrays that the bodies of loops without a directive declare in the innermost region."""
    constructs: list[EnclosingConstruct] = field(default_factory=list[EnclosingConstruct])
    exits: list[Callable[[], None]] = field(default_factory=list["Callable[[], None]"])
    case_blocks: dict[int, Block] = field(default_factory=dict[int, Block])
    assigned: dict[c.Stmt, set[c.VarDecl]] = field(default_factory=dict[c.Stmt, set[c.VarDecl]])
    convention: Signature | None = None
    """The signature by which the function takes its arguments, if not as first-class values."""
    flat: bool = True
    on_device: bool = False
    """Whether this is the device version of a routine."""
    loop_level: int = 0

    @staticmethod
    def of_block(
        module: ModuleState,
        block: Block,
        facts: FunctionFacts | None = None,
        function: c.FunctionDecl | None = None,
    ) -> FunctionState:
        """The state at the beginning of `block`, the first one of a function."""
        fn = FunctionState(module, Builder(block), facts or FunctionFacts(), function)
        fn.allocas.append(AllocaScope(block))
        return fn

    @property
    def returns_value(self) -> bool:
        return self.function is not None and not isinstance(self.function.type.result, VoidType)

    def leave(self, outer: int = 0) -> None:
        """
        Emits the code for leaving scopes (`declare` regions, `cleanup`), innermost first, until `outer` of
        them remain.
        """
        for action in reversed(self.exits[outer:]):
            action()

    # Parts of the tree ------------------------------------------------------------------------

    def rvalue(self, e: c.Expr) -> SSAValue:
        """The value of `e`, which is not void. A record is a first-class aggregate."""
        return self.module.rules.rvalue(self, e)

    def integer(self, e: c.Expr, t: IntegerType) -> SSAValue:
        """The value of the integer expression `e`, as an integer of type `t`."""
        assert isinstance(e.type, IntType)
        return self.b.resize(self.rvalue(e), t, signed=e.type.signed)

    def condition(self, e: c.Expr) -> SSAValue:
        """Whether `e` is nonzero, as i1."""
        return self.module.rules.condition(self, e)

    def discard(self, e: c.Expr) -> None:
        """Evaluates `e` for its effects."""
        self.module.rules.discard(self, e)

    def place(self, e: c.Expr) -> Place:
        """The object that lvalue `e` designates (rvalue records are put in memory first)."""
        return self.module.rules.place(self, e)

    def statement(self, s: c.Stmt) -> None:
        """Emits any statement at the cursor."""
        self.module.rules.statement(self, s)

    def call(
        self, symbol: str, arguments: Sequence[SSAValue], hint: str | None = None
    ) -> SSAValue | None:
        """Calls the module's function `symbol` with arguments that fit it; the result, if it returns one."""
        t = self.module.function_types[symbol]
        variadic = t if t.is_variadic else None
        op = llvm.CallOp(symbol, *arguments, return_type=result_of(t), var_callee_type=variadic)
        return self.b.add(op, hint).returned

    # Variables --------------------------------------------------------------------------------

    def in_memory(self, decl: c.VarDecl) -> bool:
        return decl.storage is not c.Storage.AUTO or decl in self.facts.memory

    def address(self, decl: c.VarDecl) -> SSAValue:
        """The address of a variable in memory (here, of its device copy in a construct that maps it)."""
        found = self.addresses.get(decl)
        if found is not None:
            return found
        if decl.storage is not c.Storage.AUTO:
            return self.symbol_address(self.module.symbol_of(decl), decl.name)
        # Control has not passed the declaration (dead code, `goto` into its scope).
        return self.allocate(decl)

    def symbol_address(self, symbol: str, hint: str) -> SSAValue:
        return self.b.value(llvm.AddressOfOp(symbol, PTR), hint)

    def allocate(self, decl: c.VarDecl) -> SSAValue:
        """
        Storage for a variable of constant size, at the beginning of the innermost region; for an array that a
        loop in it declares, of the innermost loop's body, so that it is known to belong to an iteration.
        """
        found = self.addresses.get(decl)
        if found is None:
            align = max(decl.type.align, decl.alignment or 1)
            own = isinstance(decl.type, ArrayType) and self.array_scopes
            scope = self.array_scopes[-1] if own else self.allocas[-1]
            found = self.scratch(self.module.types.convert(decl.type), align, decl.name, scope)
            if decl.qual.is_constant and isinstance(found.owner, llvm.AllocaOp):
                found.owner.attributes[CONSTANT] = UnitAttr()
            self.addresses[decl] = found
        return found

    def scratch(
        self, t: Attribute, align: int, hint: str, scope: AllocaScope | None = None
    ) -> SSAValue:
        """An alloca in `scope`, or in the innermost OpenACC region or the function's entry block."""
        scope = scope or self.allocas[-1]
        if scope.one is None:
            one = arith.ConstantOp(IntegerAttr(1, i32))
            one.result.name_hint = "one"
            one.location = self.b.loc
            scope.insert(one)
            scope.one = one.result
        op = llvm.AllocaOp(scope.one, t, alignment=align)
        op.location = self.b.loc
        op.res.name_hint = value_name(hint)
        scope.insert(op)
        return op.res

    def read(self, decl: c.VarDecl) -> SSAValue:
        """The current value of an SSA variable (undefined before its first assignment)."""
        value = self.values.get(decl)
        if value is None:
            value = self.b.undef(self.module.types.convert(decl.type), decl.name)
            self.values[decl] = value
        return value

    # Sizes ------------------------------------------------------------------------------------

    def extent(self, t: ArrayType) -> SSAValue:
        """The length of an array as i64; for a variable-length array, that computed at its declaration."""
        if isinstance(t.length, int):
            return self.b.int(t.length, i64)
        found = self.extents.get(id(t.length))
        if found is None:
            if t.length is None:
                raise ValueError("incomplete array")
            found = self.rvalue(t.length)
            self.extents[id(t.length)] = found = self.b.resize(
                found, i64, signed=getattr(t.length.type, "signed", True)
            )
        return found

    def byte_size(self, t: CType) -> SSAValue:
        """The size of a type as i64, also of variable-length arrays."""
        if isinstance(t, ArrayType) and t.is_vla:
            inner = self.byte_size(t.element.type)
            return self.b.mul_nsw(self.extent(t), inner)
        return self.b.int(t.size, i64)

    # Blocks and regions -----------------------------------------------------------------------

    def new_block(self, block: Block | None = None) -> Block:
        """A new block, or `block`, at the end of the current region (only where blocks are allowed)."""
        block = block or Block()
        region = self.b.block.parent
        assert region is not None
        region.add_block(block)
        return block

    def append(self, block: Block) -> None:
        """Continues in `block`, at the end of the current region."""
        self.b.block = self.new_block(block)

    def start(self, block: Block) -> None:
        """Continues in `block`, branching there from the current one unless that has ended."""
        self.b.branch(block)
        self.b.block = block

    def ensure_open(self) -> None:
        """After a jump, later statements go to a block of their own (removed if never reached)."""
        if self.b.terminated:
            self.b.block = self.new_block()

    @contextmanager
    def region(self, block: Block, *, flat: bool) -> Generator[Region]:
        """
        Generates into a new region that begins with `block`, then restores the cursor. Values of variables
        set inside are not visible outside. Unreachable blocks are erased.
        """
        saved_block, saved_flat, saved_values = self.b.block, self.flat, dict(self.values)
        saved_extents = dict(self.extents)
        region = Region(block)
        self.b.block, self.flat = block, flat
        yield region
        self.b.block, self.flat = saved_block, saved_flat
        self.values, self.extents = saved_values, saved_extents
        if flat:
            remove_unreachable(region)

    @contextmanager
    def construct(
        self, name: str, kind: str, loc: SourceLoc, own: Block | None = None
    ) -> Generator[None]:
        """Marks the statements emitted inside as those of an OpenACC construct, which jumps cannot leave; the
        first block `own` gets the variables that they declare, if it is given."""
        saved = self.targets, self.labels, self.dispatch
        addresses, members = dict(self.addresses), dict(self.members)
        self.targets, self.labels, self.dispatch = JumpTargets(), {}, None
        array_scopes, self.array_scopes = self.array_scopes, []
        self.constructs.append(EnclosingConstruct(name, kind, loc))
        if own is not None:
            self.allocas.append(AllocaScope(own))
        yield
        if own is not None:
            self.allocas.pop()
        self.constructs.pop()
        self.array_scopes = array_scopes
        self.targets, self.labels, self.dispatch = saved
        self.addresses, self.members = addresses, members

    @contextmanager
    def loop_body(self, block: Block) -> Generator[None]:
        """Marks the statements emitted inside as the body of a counted loop without a directive."""
        if len(self.allocas) < 2:
            yield  # outside of regions iterations are sequential
            return
        self.array_scopes.append(AllocaScope(block))
        yield
        self.array_scopes.pop()

    def leaves_construct(self, what: str, loc: SourceLoc) -> Exception:
        """The error for a jump out of the innermost construct."""
        inner = self.constructs[-1]
        return error(
            loc,
            f"{what} branches out of the '{inner.name}' construct",
            "let control reach the end of the construct, or move the branch outside it",
            [(inner.loc, "the construct is here")],
        )


def remove_unreachable(region: Region) -> None:
    """Erases the blocks of `region` that no path from its first block reaches."""
    entry = region.blocks.first
    if entry is None or entry.next_block is None:
        return
    reached = {entry}
    stack = [entry]
    while stack:
        last = stack.pop().last_op
        for successor in last.successors if last is not None else ():
            if successor not in reached:
                reached.add(successor)
                stack.append(successor)
    dead = [b for b in region.blocks if b not in reached]
    for block in dead:
        for op in block.walk():
            op.drop_all_references()
    for block in dead:
        region.detach_block(block)
        block.erase(safe_erase=False)
