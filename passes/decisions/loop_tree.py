"""The loops of a compute construct as scheduling sees them: a tree of plain values, without IR."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from ...compiler.base.diagnostics import UNKNOWN_LOC, SourceLoc, error
from .levels import LEVEL_NAMES, Level
from .shared_work import InnerWork


@dataclass(eq=False)
class LoopNode:
    """
    One `acc.loop`. `trip` is the constant number of iterations (of all collapsed loops together),
    else None; `host_trip`: it can be computed before the construct. `tight`: its body consists of its one
    child.
    `joint`: it reduces exactly the scalars that its one child reduces, and is otherwise tight.
    `contiguous` counts accesses of neighbouring elements by neighbouring iterations, `apart` those among
    them that have other elements between them, `strided` the
    others that depend on the variable, `records` those among them of members of neighbouring structures.
    `hands_on`: iterations take values from those before, which lanes
    compute together (this counts as a reduction). `gang_reduction`: a variable of the gang is reduced, so
    its value is needed before the kernel ends and gangs cannot share the loop. `element_bytes` is the
    largest element accessed, `streaming` says that the body has no loops and no calls, `fixed_inner` that
    it contains a sequential loop with the same trip count in every iteration, `cached` that it has cache
    directives, `array_bytes` the size of the arrays that each iteration has of its own, `open_ended` that
    its body has a loop that ends by a condition.
    """

    parallel: bool
    loc: SourceLoc = UNKNOWN_LOC
    levels: frozenset[Level] = frozenset()
    gang_dim: int | None = None
    trip: int | None = None
    host_trip: bool = True
    tight: bool = False
    joint: bool = False
    reduction: bool = False
    hands_on: bool = False
    gang_reduction: bool = False
    contiguous: int = 0
    apart: int = 0
    strided: int = 0
    records: int = 0
    element_bytes: int = 4
    streaming: bool = True
    fixed_inner: bool = False
    cached: bool = False
    array_bytes: int = 0
    open_ended: bool = False
    routine: Level = Level.SEQ
    work: InnerWork = field(default_factory=InnerWork)
    children: list[LoopNode] = field(default_factory=list["LoopNode"])

    def walk(self) -> Iterator[LoopNode]:
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def is_across(self) -> bool:
        """Whether most accesses of neighbouring iterations are far from each other."""
        return self.strided - self.records > self.contiguous + self.records

    @property
    def depth(self) -> int:
        """The number of free or partitioned parallel loops on the longest path from this loop inwards."""
        below = max((child.depth for child in self.children), default=0)
        return below + (1 if self.parallel else 0)


def _conflict(node: LoopNode, outer: LoopNode, level: Level) -> Exception:
    name = LEVEL_NAMES[level]
    return error(
        node.loc,
        f"a {name} loop is inside a loop that is already partitioned at the {name} level or a"
        " narrower one",
        "order the levels gang, worker, vector from the outermost loop inwards, each at most once",
        [(outer.loc, "the outer loop is here")],
    )


def check_nesting(node: LoopNode, outer: tuple[LoopNode, ...] = ()) -> None:
    """Raises `CompileError` for explicit levels nested against OpenACC 3.4, 2.9."""
    for level in node.levels:
        for ancestor in outer:
            for taken in ancestor.levels:
                dims = level is taken is Level.GANG and (ancestor.gang_dim or 1) > (
                    node.gang_dim or 1
                )
                if taken <= level and not dims:
                    raise _conflict(node, ancestor, level)
    for child in node.children:
        check_nesting(child, (*outer, node))


def inner_need(node: LoopNode) -> Level:
    """The widest level that a loop or call inside `node` already needs."""
    need = node.routine
    for child in node.children:
        need = max(need, inner_need(child), *child.levels, Level.SEQ)
    return need


def is_free(node: LoopNode) -> bool:
    """Whether the compiler may choose its level."""
    return node.parallel and not node.levels


def chain_from(node: LoopNode) -> list[LoopNode]:
    """Free parallel loops tightly nested from `node` inwards, outermost first."""
    chain = [node]
    while chain[-1].tight and len(chain[-1].children) == 1 and is_free(chain[-1].children[0]):
        chain.append(chain[-1].children[0])
    return chain


def reducing_chain(node: LoopNode) -> list[LoopNode]:
    """Free parallel loops from `node` inwards that all reduce the same variables, outermost first."""
    chain = [node]
    while chain[-1].joint and is_free(chain[-1].children[0]):
        chain.append(chain[-1].children[0])
    return chain


def outermost_parallel(node: LoopNode) -> list[LoopNode]:
    """The outermost loops that gangs or threads may share, of `node` and those inside."""
    if node.levels or node.parallel:
        return [node]
    return [inner for child in node.children for inner in outermost_parallel(child)]
