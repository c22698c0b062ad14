"""
An analysis of a function before IR generation: which statements have structured control flow, which loops
are counted, and which variables are SSA values (docs/design.md, "acc level").

A local scalar is in memory if its address is taken, if a data or privatisation clause names it, or if it is
assigned inside a *barrier* that does not contain its declaration. Barriers are OpenACC regions (which have
no results) and statements without structured control flow (whose blocks have no arguments). Variables whose
declaration a jump to a label or `case` can bypass are in memory too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..c import ast as c
from ..c.tree import (
    READING,
    Node,
    assigned_variable,
    children,
    clause_items,
    from_outside,
    holds,
    int_constant,
    walk,
)
from ..c.types import PointerType, is_scalar
from ..directives.records import (
    AtomicKind,
    Clause,
    DirectiveKind,
    ExprClause,
    TileClause,
    VarRefItem,
)
from .counted import CountedLoop, EffectsOf, recognize

BY_VALUE_CLAUSES = frozenset(
    ["present", "no_create", "deviceptr", "use_device", "attach", "detach", "delete", "compression"]
)
"""Clauses in which a pointer without section means the object it points to."""


def names_pointee(clause: Clause, item: VarRefItem) -> bool:
    """Whether `item` names what a pointer points to, rather than the pointer variable."""
    base = item.base.expr
    return (
        base is not None
        and isinstance(base.type, PointerType)
        and (bool(item.sections) or clause.name in BY_VALUE_CLAUSES)
    )


@dataclass(frozen=True)
class Jumps:
    """The jumps of a statement that leave it or enter it, and the labels inside."""

    breaks: bool = False
    continues: bool = False
    returns: bool = False
    cases: bool = False
    gotos: tuple[str, ...] = ()
    labels: frozenset[str] = frozenset()

    def __or__(self, other: Jumps) -> Jumps:
        return Jumps(
            self.breaks or other.breaks,
            self.continues or other.continues,
            self.returns or other.returns,
            self.cases or other.cases,
            self.gotos + other.gotos,
            self.labels | other.labels,
        )


NO_FLOW = Jumps()
_IN_EXPRESSION = "inside an expression"
"""A pseudo-label: the target of the jumps of a statement expression, as seen from the statements around
it."""
NOTHING: frozenset[c.VarDecl] = frozenset()


@dataclass
class FunctionFacts:
    """
    The results of the analysis, keyed by node identity. `loop_only` variables exist only in counted loops;
    `exposed` ones are named by clauses that read them, so memory must hold their value inside loops too.
    """

    total_gotos: tuple[str, ...] = ()
    has_statement_expressions: bool = False
    flow: dict[int, Jumps] = field(default_factory=dict[int, Jumps])
    counted: dict[int, CountedLoop | str] = field(default_factory=dict[int, CountedLoop | str])
    memory: set[c.VarDecl] = field(default_factory=set[c.VarDecl])
    loop_only: set[c.VarDecl] = field(default_factory=set[c.VarDecl])
    exposed: set[c.VarDecl] = field(default_factory=set[c.VarDecl])
    _assigned: dict[int, frozenset[c.VarDecl]] = field(
        default_factory=dict[int, frozenset[c.VarDecl]]
    )

    def escapes(self, s: c.Stmt) -> bool:
        """Whether control leaves or enters `s` other than at its beginning and end."""
        flow = self.flow.get(id(s), NO_FLOW)
        return self._escapes(flow, flow.gotos)

    def _escapes(self, flow: Jumps, gotos: Sequence[str]) -> bool:
        if flow.breaks or flow.continues or flow.returns or flow.cases:
            return True
        return any(g not in flow.labels for g in gotos) or any(
            self.total_gotos.count(name) != flow.gotos.count(name) for name in flow.labels
        )

    def leaves(self, s: c.Stmt) -> bool:
        """As `escapes`, but jumps out of a statement expression count only if they leave `s` as well."""
        flow = self.flow.get(id(s), NO_FLOW)
        return self._escapes(flow, [g for g in flow.gotos if g != _IN_EXPRESSION])

    def jumps(self, e: c.Expr) -> bool:
        """Whether a statement expression in `e` contains jumps or labels."""
        return id(e) in self.flow

    def has_labels(self, s: c.Stmt) -> bool:
        return bool(self.flow.get(id(s), NO_FLOW).labels)

    def structured(self, s: c.Stmt) -> bool:
        """Whether `s` can be a structured operation (its parts may still need blocks of their own)."""
        match s:
            case c.If():
                other = s.otherwise is not None and self.escapes(s.otherwise)
                return not (other or self.escapes(s.then))
            case c.For() | c.While() | c.DoWhile():
                return not self.escapes(s.body)
            case c.Switch():
                return False
            case _:
                return not self.escapes(s)

    def needs_blocks(self, s: c.Stmt) -> bool:
        """Whether `s` has a label, or a direct part of compound `s` needs basic blocks around it."""
        return isinstance(s, c.Label) or (
            isinstance(s, c.Compound)
            and any(self.escapes(b) or self.needs_blocks(b) for b in s.body)
        )

    def assigned(self, node: Node) -> frozenset[c.VarDecl]:
        """The SSA variables that `node` assigns and does not declare."""
        found = self._assigned.get(id(node))
        if found is not None:
            return found
        out: set[c.VarDecl] = set()
        declared: list[c.VarDecl] = []
        var = assigned_variable(node)
        if var is not None and var.storage is c.Storage.AUTO:
            out.add(var)
        pending = list(children(node))
        while pending:
            child = pending.pop()
            kind = type(child)
            if kind in READING:
                pending += children(child)
                continue
            out |= self.assigned(child)
            if kind is c.DeclStmt:
                assert isinstance(child, c.DeclStmt)
                declared += child.decls
        if not out:
            if isinstance(
                node, c.Stmt | c.Conditional | c.BinaryOp
            ):  # for these, one answer covers their parts
                self._assigned[id(node)] = NOTHING
            return NOTHING
        out = out.difference(declared, self.memory, self.loop_only)
        found = self._assigned[id(node)] = frozenset(out)
        return found


def analyze(
    function: c.FunctionDecl, body: c.Compound, may_write: Callable[[c.FunctionDecl], bool]
) -> FunctionFacts:
    """The facts about `function` with (normalised) body `body`."""
    facts = FunctionFacts()
    facts.has_statement_expressions = holds(body, c.StatementExpr)
    _compute_flow(facts, body)
    facts.total_gotos = facts.flow.get(id(body), NO_FLOW).gotos
    storage = _Storage(facts, may_write)
    for param in function.params:
        storage.declare(param)
    storage.statement(body, directive_loops=0)
    facts.loop_only = {
        v for v in storage.loop_variables if storage.uses.get(v, 0) == storage.loop_uses.get(v, 0)
    } - facts.exposed
    facts.memory = storage.memory | (storage.final_memory - facts.loop_only)
    return facts


def _compute_flow(facts: FunctionFacts, s: c.Stmt) -> Jumps:
    flow = NO_FLOW
    for child in children(s):
        if isinstance(child, c.Stmt):
            flow |= _compute_flow(facts, child)
        elif facts.has_statement_expressions:
            inside = _expression_flow(facts, child)
            # The surrounding code is then in blocks, and an expression may cover several.
            flow |= inside if inside == NO_FLOW else inside | Jumps(gotos=(_IN_EXPRESSION,))
    match s:
        case c.Break():
            flow = Jumps(breaks=True)
        case c.Continue():
            flow = Jumps(continues=True)
        case c.Return():
            flow = Jumps(returns=True)
        case c.Goto():
            flow = Jumps(gotos=(s.label,))
        case c.ComputedGoto():
            flow |= Jumps(gotos=tuple(s.labels))
        case c.Label():
            flow |= Jumps(labels=frozenset([s.name]))
        case c.Case():
            flow |= Jumps(cases=True)
        case c.For() | c.While() | c.DoWhile():
            flow = Jumps(False, False, flow.returns, flow.cases, flow.gotos, flow.labels)
        case c.Switch():
            flow = Jumps(False, flow.continues, flow.returns, False, flow.gotos, flow.labels)
        case _:
            pass
    if flow != NO_FLOW:
        facts.flow[id(s)] = flow
    return flow


def _expression_flow(facts: FunctionFacts, e: c.Expr) -> Jumps:
    """The jumps of the statement expressions in `e`, recorded in `facts` if there are any."""
    flow = NO_FLOW
    for child in children(e):
        if isinstance(child, c.Stmt):
            flow |= _compute_flow(facts, child)
        else:
            flow |= _expression_flow(facts, child)
    if flow != NO_FLOW:
        facts.flow[id(e)] = flow
    return flow


class _Storage:
    """Decides storage in one walk; `level` counts the barriers around the current statement."""

    def __init__(self, facts: FunctionFacts, may_write: Callable[[c.FunctionDecl], bool]):
        self.facts = facts
        self.effects_of = EffectsOf(may_write)
        self.memory: set[c.VarDecl] = set()
        self.final_memory: set[c.VarDecl] = set()  # only for a loop variable's value after its loop
        self.declared_at: dict[c.VarDecl, int] = {}
        self.uses: dict[c.VarDecl, int] = {}
        self.loop_uses: dict[c.VarDecl, int] = {}
        self.loop_variables: set[c.VarDecl] = set()
        self.open_loops: dict[c.VarDecl, int] = {}
        self.level = 0
        self.bypassed = False

    def declare(self, decl: c.VarDecl) -> None:
        self.declared_at[decl] = self.level
        kept = decl.address_taken or decl.qual.volatile or decl.cleanup is not None
        if not is_scalar(decl.type) or kept or self.bypassed:
            self.memory.add(decl)

    def is_barred(self, decl: c.VarDecl) -> bool:
        """Whether an assignment to `decl` here cannot be the definition of an SSA value."""
        return self.bypassed or self.level > self.declared_at.get(decl, 0)

    def assign(self, decl: c.VarDecl) -> None:
        if decl.storage is c.Storage.AUTO and self.is_barred(decl):
            self.memory.add(decl)

    def use(self, decl: c.VarDecl) -> None:
        self.uses[decl] = self.uses.get(decl, 0) + 1
        if self.open_loops.get(decl, 0):
            self.loop_uses[decl] = self.loop_uses.get(decl, 0) + 1

    def expression(self, e: c.Expr) -> None:
        outer = self.level, self.bypassed
        if self.facts.has_statement_expressions and self.facts.jumps(e):
            self.level += 1
            self.bypassed = self.bypassed or bool(self.facts.flow[id(e)].labels)
        stack: list[Node] = [e]
        while stack:
            node = stack.pop()
            if isinstance(node, c.VarRef):
                self.use(node.decl)
                continue
            if type(node) in READING:
                stack += reversed(children(node))
                continue
            if isinstance(node, c.Stmt):  # of a statement expression
                self.statement(node, directive_loops=0)
                continue
            if isinstance(node, c.CompoundLiteral):
                self.declare(node.decl)
                self.memory.add(node.decl)
            else:
                var = assigned_variable(node)
                if var is not None:
                    self.assign(var)
            stack += reversed(children(node))
        self.level, self.bypassed = outer

    def statement(self, s: c.Stmt, *, directive_loops: int) -> None:
        """Visits a statement; `directive_loops` is the number of nested `for`s from here that belong to a
        loop directive."""
        match s:
            case c.DeclStmt():
                for decl in s.decls:
                    self.declare(decl)
                self.parts(s)
            case c.For():
                self.for_loop(s, directive_loops)
            case c.AccStmt():
                self.directive(s)
            case c.TeamStmt():
                self.team(s)
            case c.Label():
                outer = self.level, self.bypassed
                self.level, self.bypassed = self.level + 1, True
                self.parts(s)
                self.level, self.bypassed = outer
            case c.Compound():
                outer = self.level, self.bypassed
                if self.facts.has_labels(s):
                    self.level, self.bypassed = self.level + 1, True
                for b in s.body:
                    self.statement(b, directive_loops=directive_loops)
                self.level, self.bypassed = outer
            case c.If() | c.While() | c.DoWhile() | c.Switch():
                outer = self.level, self.bypassed
                if not self.facts.structured(s):
                    self.level += 1
                    self.bypassed = self.bypassed or isinstance(s, c.Switch)
                elif not self.facts.has_labels(s):
                    self.bypassed = False
                self.parts(s)
                self.level, self.bypassed = outer
            case _:
                self.parts(s)

    def parts(self, s: c.Stmt) -> None:
        for child in children(s):
            if isinstance(child, c.Expr):
                self.expression(child)
            else:
                self.statement(child, directive_loops=0)

    def for_loop(self, s: c.For, directive_loops: int) -> None:
        counted = recognize(s, self.effects_of, directive=directive_loops > 0)
        flow = self.facts.flow.get(id(s.body), NO_FLOW)
        if directive_loops and (flow.breaks or self.facts.leaves(s)):
            counted = "control leaves its body other than at the end"
        self.facts.counted[id(s)] = counted
        structured = self.facts.structured(s)
        if directive_loops and isinstance(counted, CountedLoop):
            structured = True
        as_loop = isinstance(counted, CountedLoop) and structured
        outer = self.level, self.bypassed
        if as_loop:
            assert isinstance(counted, CountedLoop)
            self.counted_loop(s, counted, directive_loops)
        else:
            if s.init is not None:
                self.statement(s.init, directive_loops=0)
            if not structured:
                self.level += 1
            elif not self.facts.has_labels(s):
                self.bypassed = False
            for part in (s.condition, s.step):
                if part is not None:
                    self.expression(part)
            self.statement(s.body, directive_loops=0)
        self.level, self.bypassed = outer

    def counted_loop(self, s: c.For, counted: CountedLoop, directive_loops: int) -> None:
        var = counted.var
        for part in (counted.start, counted.bound, counted.step):
            if isinstance(part, c.Expr):
                self.expression(part)
        self.loop_variables.add(var)
        self.open_loops[var] = self.open_loops.get(var, 0) + 1
        if counted.declared:
            self.declared_at[var] = self.level
        elif not directive_loops and self.is_barred(var):
            self.final_memory.add(var)
        if directive_loops:
            self.level += 1
        elif not self.facts.has_labels(s):
            self.bypassed = False
        self.statement(s.body, directive_loops=max(0, directive_loops - 1))
        self.open_loops[var] -= 1

    def directive(self, s: c.AccStmt) -> None:
        directive = s.directive
        for clause in directive.clauses:
            for item in clause_items(clause):
                decl = c.item_variable(item)
                if decl is None or names_pointee(clause, item):
                    continue
                if decl.storage is c.Storage.AUTO:
                    self.memory.add(decl)
                    if clause.name != "private":
                        self.facts.exposed.add(decl)
        for child in children(s):
            if isinstance(child, c.Expr) and not isinstance(child, c.VarRef):
                self.expression(child)
        if s.body is None:
            return
        if directive.kind is DirectiveKind.ATOMIC:
            self.atomic_operands(s.body, directive.atomic)
        self.level += 1
        loops = (
            loop_depth(s) if directive.kind is DirectiveKind.LOOP or directive.is_combined else 0
        )
        self.statement(s.body, directive_loops=loops)
        self.level -= 1

    def team(self, s: c.TeamStmt) -> None:
        """Visits a region that other threads run: variables that it assigns, or that a task shares, are in
        memory."""
        for value in (s.threads, s.several, *(value for _, value in s.copies)):
            if value is not None:
                self.expression(value)
        if s.threads is None:
            shared = {ref.decl for ref in from_outside(s)}
            self.memory.update(decl for decl in shared if decl.storage is c.Storage.AUTO)
            self.facts.exposed.update(shared)
        outer = self.level, self.bypassed
        self.level, self.bypassed = self.level + 1, False
        for decl, _ in s.copies:
            self.declare(decl)
        self.statement(s.body, directive_loops=0)
        self.level, self.bypassed = outer

    def atomic_operands(self, body: c.Stmt, kind: AtomicKind | None) -> None:
        for node in walk(body):
            var = assigned_variable(node)
            if var is not None:
                self.memory.add(var)
            if isinstance(node, c.Assign) and kind in (AtomicKind.READ, AtomicKind.CAPTURE):
                for part in walk(node.value):
                    if isinstance(part, c.VarRef):
                        self.memory.add(part.decl)


def loop_depth(s: c.AccStmt) -> int:
    """How many nested loops the loop directive of `s` covers (its `collapse` or `tile`)."""
    collapse = s.directive.find("collapse", ExprClause)
    if collapse is not None and collapse.args:
        return int_constant(collapse.args[0].expr) or 1
    tile = s.directive.find("tile", TileClause)
    return len(tile.sizes) if tile is not None and tile.sizes else 1
