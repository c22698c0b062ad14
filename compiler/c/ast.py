"""
The typed syntax tree: what the semantic layer hands to IR generation.

Everything implicit in C is explicit here: every conversion is a `Cast`, every use of an lvalue's
value is a `Load`, arrays and functions that decay are `Decay`, `p->m` is `Member(Deref(p))`,
`sizeof` of a constant-size type is an `IntConst`, enumerators are `IntConst`s, and initialisers are
flat lists of (byte offset, scalar expression). Every node has a `loc`; every expression has a `type`
(unqualified). An expression with `is_lvalue` designates an object.

Operators: `BinaryOp.op` is C's spelling (`+ - * / % << >> < <= > >= == != & ^ | && ||`); operands of
arithmetic and comparison operators have been converted to one common type, so signedness of an
operation is that of its operands' type. Pointer arithmetic is `PtrAdd` and `PtrDiff`, never `+`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from ..base.diagnostics import SourceLoc
from .types import VOID, ArrayType, CType, FunctionType, QualType
from .types import Field as RecordField

if TYPE_CHECKING:
    from ..directives.records import Directive, VarRefItem


# Declarations ---------------------------------------------------------------------------------


class Storage(Enum):
    AUTO = "auto"
    STATIC_LOCAL = "static local"
    GLOBAL = "global"  # external linkage, or extern
    STATIC_GLOBAL = "static global"


@dataclass(eq=False)
class VarDecl:
    """
    A variable or parameter. Identity is the variable: each C declaration in its scope is one
    `VarDecl` (redeclarations of a global are merged).

    `symbol` is the linker-level name for anything not AUTO (static locals are made unique,
    `f.counter.1`). `is_defined` is false for an `extern` without definition. `address_taken` is
    true if `&x` occurs, or an array or record is used other than by loading its scalar members.
    """

    name: str
    qual: QualType
    loc: SourceLoc
    storage: Storage = Storage.AUTO
    symbol: str | None = None
    init: Initializer | None = None
    is_param: bool = False
    is_defined: bool = True
    address_taken: bool = False
    alignment: int | None = None  # _Alignas, bytes
    declared: ArrayType | None = None
    """The array type that a parameter with a pointer type was declared with, if it had a length: `double
    a[n]`."""
    is_thread_private: bool = False  # threadprivate in OpenMP
    control: VarDecl | None = None
    """For a `_Thread_local` variable: the object through which a thread finds its copy
    (`sema/thread_locals.py`)."""
    cleanup: FunctionDecl | None = None
    """The function that is called with its address when control leaves its scope (GNU C's `cleanup`)."""
    is_weak: bool = False
    alias: str | None = None
    """The symbol that it is another name of (GNU C)."""
    gave_way: bool = False
    """Whether another file's definition of the variable remains instead of this one (`agreement.py`)."""

    @property
    def type(self) -> CType:
        return self.qual.type


@dataclass(eq=False)
class FunctionDecl:
    """
    A function. `body` is None when only declared. `directives` are the `routine` and `declare` directives
    immediately before it, or those that name it. `is_implicit` is true as long as it is known only from
    calls.
    """

    name: str
    type: FunctionType
    loc: SourceLoc
    params: list[VarDecl] = field(default_factory=list["VarDecl"])
    body: Compound | None = None
    is_static: bool = False
    is_inline: bool = False
    is_implicit: bool = False
    is_noreturn: bool = False
    """Declared as a function that does not return (`_Noreturn`, or GNU C's attribute)."""
    symbol: str | None = None
    """The linker's name, where an assembler label gives another."""
    is_weak: bool = False
    alias: str | None = None
    """The symbol that it is another name of (GNU C)."""
    constructor: int | None = None
    """Its priority if it runs before `main`, lower ones first (GNU C's `constructor`)."""
    destructor: int | None = None
    """Its priority if it runs when the program ends (GNU C's `destructor`)."""
    directives: list[Directive] = field(default_factory=list["Directive"])
    jump_targets: frozenset[str] = frozenset()
    """The labels that jumps in the body name."""
    is_quiet: bool = False
    """Whether checking the body gave no message and declared no name with linkage (C11 6.2.2)."""


@dataclass(eq=False)
class TranslationUnit:
    """
    One source file, checked. `functions` and `variables` hold every function and every variable
    that is not AUTO (static locals included), in order; `directives` the file-scope directives
    (`declare`, named `routine`) in order. `selects_host`: the file may make the host its current
    device, so that compute constructs need code for it too.
    """

    file: str
    functions: list[FunctionDecl] = field(default_factory=list["FunctionDecl"])
    variables: list[VarDecl] = field(default_factory=list["VarDecl"])
    directives: list[Directive] = field(default_factory=list["Directive"])
    selects_host: bool = False
    is_of_target: bool = False
    """Whether the checked file may differ between targets."""
    has_assembly: bool = False
    weak: dict[str, str | None] = field(default_factory=dict[str, "str | None"])
    """The names of `#pragma weak`, and what they are other names of."""
    has_thread_locals: bool = False
    """It needs the functions that find a thread's variables (`compiler/c/thread_locals.c`)."""
    has_openmp: bool = False
    """It needs OpenMP's runtime (`compiler/c/openmp`)."""
    idle: frozenset[str] = frozenset()
    """Library functions that are only declared, in the headers that it includes."""


# Expressions ----------------------------------------------------------------------------------


@dataclass(eq=False, kw_only=True)
class Expr:
    type: CType
    loc: SourceLoc

    @property
    def is_lvalue(self) -> bool:
        return False


@dataclass(eq=False, kw_only=True)
class IntConst(Expr):
    """`value` is already wrapped to `type`. A null pointer constant may have pointer type."""

    value: int


@dataclass(eq=False, kw_only=True)
class FloatConst(Expr):
    """A floating constant. For a `long double` that is not exactly a double, `value` is the nearest double
    and `bits` are those of the `long double`."""

    value: float
    bits: int | None = None


@dataclass(eq=False, kw_only=True)
class StringLiteral(Expr):
    """An lvalue of array-of-char type. `data` holds the bytes with the terminating zero."""

    data: bytes

    @property
    def is_lvalue(self) -> bool:
        return True


@dataclass(eq=False, kw_only=True)
class ComplexOp(Expr):
    """
    An operation on complex numbers. `op`: `+ - * / == !=` of two operands of one type; `neg`, `conj`;
    `make` from a real and an imaginary part; `real`, `imag`; `convert` to another complex type.
    """

    op: str
    operands: list[Expr]


@dataclass(eq=False, kw_only=True)
class VarRef(Expr):
    decl: VarDecl

    @property
    def is_lvalue(self) -> bool:
        return True


@dataclass(eq=False, kw_only=True)
class FunctionRef(Expr):
    """A function designator: the callee of a direct call, or under `Decay` its address."""

    decl: FunctionDecl


@dataclass(eq=False, kw_only=True)
class Deref(Expr):
    """`*pointer`; `a[i]` is `Deref(PtrAdd(Decay(a), i))`."""

    pointer: Expr

    @property
    def is_lvalue(self) -> bool:
        return True


@dataclass(eq=False, kw_only=True)
class Member(Expr):
    """`record.field`, one step (anonymous members take several). An lvalue if `record` is."""

    record: Expr
    field: RecordField

    @property
    def is_lvalue(self) -> bool:
        return self.record.is_lvalue


@dataclass(eq=False, kw_only=True)
class CompoundLiteral(Expr):
    """`(T){…}`: an unnamed object, AUTO in a function, static at file scope."""

    decl: VarDecl

    @property
    def is_lvalue(self) -> bool:
        return True


@dataclass(eq=False, kw_only=True)
class Load(Expr):
    """The value of an lvalue of scalar or record type."""

    lvalue: Expr
    volatile: bool = False


@dataclass(eq=False, kw_only=True)
class Decay(Expr):
    """Array lvalue to pointer to its first element, or function designator to its address."""

    operand: Expr


@dataclass(eq=False, kw_only=True)
class AddressOf(Expr):
    operand: Expr


@dataclass(eq=False, kw_only=True)
class Cast(Expr):
    """
    A conversion, implicit or written, between scalar types, or to void. The pair of types says
    which: integer, floating, pointer, to `_Bool` (compares with zero). An `excess` one is a `_Float16`
    expression of which the operand is the value as evaluated, in `float` (FLT_EVAL_METHOD is 0): it is
    rounded where C discards excess precision (6.3.1.8p2), while operators take the operand.
    """

    operand: Expr
    implicit: bool = True
    excess: bool = False


@dataclass(eq=False, kw_only=True)
class UnaryOp(Expr):
    """`-`, `~` (operand promoted) or `!` (operand scalar, result int)."""

    op: str
    operand: Expr


@dataclass(eq=False, kw_only=True)
class BinaryOp(Expr):
    op: str
    lhs: Expr
    rhs: Expr
    folded: object = field(default=..., repr=False)
    """Its value at translation time as found by `sema/constants.py`; `...` before that was computed."""


@dataclass(eq=False, kw_only=True)
class PtrAdd(Expr):
    """`pointer + index` (or `- index` when `subtract`), index of any integer type, in elements."""

    pointer: Expr
    index: Expr
    subtract: bool = False


@dataclass(eq=False, kw_only=True)
class PtrDiff(Expr):
    """`lhs - rhs` in elements; type `long`."""

    lhs: Expr
    rhs: Expr


@dataclass(eq=False, kw_only=True)
class Assign(Expr):
    """`target = value`; `value` has been converted to the target's type."""

    target: Expr
    value: Expr
    volatile: bool = False


@dataclass(eq=False, kw_only=True)
class CompoundAssign(Expr):
    """
    `target op= value`. For arithmetic, the target is loaded, converted to `compute_type`, combined
    with `value` (already of `compute_type`, or an integer count for shifts), and converted back.
    For pointers (`p += i`), `compute_type` is the pointer type and `value` the integer index.
    """

    op: str
    target: Expr
    value: Expr
    compute_type: CType
    volatile: bool = False


@dataclass(eq=False, kw_only=True)
class IncDec(Expr):
    """`++x`, `x++`, `--x`, `x--` on an arithmetic or pointer lvalue."""

    target: Expr
    is_increment: bool
    is_prefix: bool
    volatile: bool = False


@dataclass(eq=False, kw_only=True)
class Asm(Expr):
    """
    An `asm` statement: `template` and `constraints` are LLVM's. The results, of `output_types`, are stored
    to the addresses `outputs`; `inputs` are values.
    """

    template: str
    constraints: str
    is_volatile: bool
    outputs: list[Expr]
    output_types: list[CType]
    inputs: list[Expr]
    type: CType = VOID


@dataclass(eq=False, kw_only=True)
class Conditional(Expr):
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(eq=False, kw_only=True)
class Comma(Expr):
    """`lhs, rhs`: `lhs` for its effects, value and type of `rhs`."""

    lhs: Expr
    rhs: Expr


@dataclass(eq=False, kw_only=True)
class Call(Expr):
    """
    `callee` is a `FunctionRef` (direct) or an expression of pointer-to-function type. Arguments
    are converted; those beyond `function_type.params` got the default argument promotions.
    """

    callee: Expr
    args: list[Expr]
    function_type: FunctionType


@dataclass(eq=False, kw_only=True)
class AtomicOp(Expr):
    """
    An atomic operation on the object of type `of` at `pointer`. `op` is one of: `load`; `store` and
    `exchange`, with one value; `compare`, with the address of the expected value, where the value found is
    stored, and a new value; `swap` and `swapped`, compare-and-swaps with an expected and a new value, whose
    result is whether they stored, or the value found; `+ - & | ^ nand`, with a value (in bytes for
    pointers), whose result is the object's value `before` or after; `fence`, without an object. `order`,
    and for `compare` also `failure`, are C11's memory orders by number (7.17.3).
    """

    op: str
    order: int
    of: CType = VOID
    pointer: Expr | None = None
    operands: list[Expr] = field(default_factory=list[Expr])
    failure: int = 5
    before: bool = False


@dataclass(eq=False, kw_only=True)
class StatementExpr(Expr):
    """`({ body value; })` of GNU C; `value` is None if it has none."""

    body: list[Stmt]
    value: Expr | None


@dataclass(eq=False, kw_only=True)
class SizeofVla(Expr):
    """`sizeof` of a variable-length array type, in bytes (`size_t`)."""

    of: CType


@dataclass(eq=False, kw_only=True)
class VaArg(Expr):
    """`va_arg(list, type)`; `list` is an expression of type pointer to the va_list record."""

    list: Expr


@dataclass(eq=False, kw_only=True)
class VaOp(Expr):
    """`va_start(list)`, `va_end(list)`, `va_copy(list, source)`: `op` is the name; type void."""

    op: str
    list: Expr
    source: Expr | None = None


@dataclass(eq=False)
class Initializer:
    """
    A flat initialiser of an object of type `type`. Everything is zero first when `zero_fill`
    (every brace-enclosed initialiser); then each (byte offset, expression) is stored in order. An
    expression has the scalar type at that place, is a record value, or is a `StringLiteral` for a
    char array. A bit-field entry stores through its `RecordField` in `bit_fields`, keyed by
    position in `items`. For static storage every expression is constant (`constants` says how).
    """

    type: CType
    items: list[tuple[int, Expr]]
    zero_fill: bool
    loc: SourceLoc
    bit_fields: dict[int, RecordField] = field(default_factory=dict[int, RecordField])


# Statements -----------------------------------------------------------------------------------


@dataclass(eq=False, kw_only=True)
class Stmt:
    loc: SourceLoc


@dataclass(eq=False, kw_only=True)
class ExprStmt(Stmt):
    expr: Expr


@dataclass(eq=False, kw_only=True)
class DeclStmt(Stmt):
    """Declares AUTO variables, in order (static locals are in the translation unit instead)."""

    decls: list[VarDecl]


@dataclass(eq=False, kw_only=True)
class Compound(Stmt):
    body: list[Stmt]
    end_loc: SourceLoc | None = None


@dataclass(eq=False, kw_only=True)
class If(Stmt):
    condition: Expr
    then: Stmt
    otherwise: Stmt | None = None


@dataclass(eq=False, kw_only=True)
class For(Stmt):
    init: Stmt | None  # DeclStmt or ExprStmt
    condition: Expr | None
    step: Expr | None
    body: Stmt


@dataclass(eq=False, kw_only=True)
class While(Stmt):
    condition: Expr
    body: Stmt


@dataclass(eq=False, kw_only=True)
class DoWhile(Stmt):
    body: Stmt
    condition: Expr


@dataclass(eq=False, kw_only=True)
class Switch(Stmt):
    value: Expr
    body: Stmt


@dataclass(eq=False, kw_only=True)
class Case(Stmt):
    """`case value:` (or `default:` when None), or `case value ... last:`, and the statement it labels."""

    value: int | None
    body: Stmt
    last: int | None = None


@dataclass(eq=False, kw_only=True)
class Break(Stmt):
    pass


@dataclass(eq=False, kw_only=True)
class Continue(Stmt):
    pass


@dataclass(eq=False, kw_only=True)
class Goto(Stmt):
    label: str


@dataclass(eq=False, kw_only=True)
class ComputedGoto(Stmt):
    """`goto *target;`: `labels` are those whose address is taken in the function, and their numbers."""

    target: Expr
    labels: dict[str, int]


@dataclass(eq=False, kw_only=True)
class Label(Stmt):
    name: str
    body: Stmt


@dataclass(eq=False, kw_only=True)
class Return(Stmt):
    value: Expr | None = None


@dataclass(eq=False, kw_only=True)
class Null(Stmt):
    pass


@dataclass(eq=False, kw_only=True)
class AccStmt(Stmt):
    """
    An OpenACC directive in statement position. `body` is the structured block, loop or statement
    it applies to; None for stand-alone directives (`update`, `wait`, `enter data`, `cache`, …).
    """

    directive: Directive
    body: Stmt | None = None


@dataclass(eq=False, kw_only=True)
class TeamStmt(Stmt):
    """
    A region that every thread of a team runs (OpenMP's `parallel`), or that one thread runs now or later
    (`task`, where `threads` is None). `name` is the directive's. `threads`: the requested number, 0 for the
    default; `several`: whether the region's `if` clause holds (2 if `threads` was written), or whether the
    task may be deferred. Each thread has its own copies of the variables in `copies`, initialised with
    those values. Every other variable from outside is shared; it must be one of `listed` if there is a list
    (`default(none)`).
    """

    name: str
    threads: Expr | None
    several: Expr
    copies: list[tuple[VarDecl, Expr]]
    listed: set[str] | None
    body: Stmt


def item_variable(item: VarRefItem) -> VarDecl | None:
    """The variable that an item of a clause names, or of which it names a section; None for members."""
    base = item.base.expr
    return base.decl if isinstance(base, VarRef) else None
