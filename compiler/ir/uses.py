"""
Rules of values and symbols that xDSL's verifier does not check, as MLIR's does: a definition dominates its
uses (LangRef, "SSA"), isolated operations use nothing from outside, and names in a symbol table differ.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface, SymbolTable

from ..base.diagnostics import SourceLoc, error


def check_uses(module: ModuleOp) -> None:
    """Raises `CompileError` at the first operation with an operand that is not defined there."""
    order = {op: i for i, op in enumerate(module.walk())}
    dominators: dict[Region, dict[Block, Block]] = {}
    for op in order:
        for operand in op.operands:
            if not _is_defined(operand, op, order, dominators):
                name = f"%{operand.name_hint}" if operand.name_hint else "an operand"
                raise error(
                    SourceLoc.from_attr(op.location),
                    f"invalid IR: '{op.name}' uses {name} where it is not defined",
                    "define it before, in the same block or in one around it or before it on every path",
                )


def _is_defined(
    value: SSAValue,
    user: Operation,
    order: dict[Operation, int],
    dominators: dict[Region, dict[Block, Block]],
) -> bool:
    owner = value.owner
    home = owner if isinstance(owner, Block) else owner.parent
    place: Operation | None = user
    while place is not None and place.parent is not home:
        region = None if place.parent is None else place.parent.parent
        if home is not None and region is home.parent and region is not None:
            return _dominates(home, place.parent, region, dominators)
        place = place.parent_op()
        if place is not None and place.has_trait(IsolatedFromAbove):
            return False
    if place is None:
        return False
    return isinstance(owner, Block) or order[owner] < order[place]


def _dominates(
    first: Block, second: Block | None, region: Region, known: dict[Region, dict[Block, Block]]
) -> bool:
    """Whether every path to `second` goes through `first`; also if there is none, as in MLIR."""
    if region not in known:
        known[region] = _immediate_dominators(region)
    tree = known[region]
    if second is None or second not in tree:
        return True
    while second is not first:
        above = tree[second]
        if above is second:
            return False
        second = above
    return True


def _immediate_dominators(region: Region) -> dict[Block, Block]:
    """
    The immediate dominator of each block that can be reached; the entry's is itself (Cooper, Harvey and
    Kennedy, "A Simple, Fast Dominance Algorithm").
    """
    entry = region.blocks[0]
    reverse = list(_postorder(entry))[::-1]
    number = {block: i for i, block in enumerate(reverse)}
    before: dict[Block, list[Block]] = {block: [] for block in reverse}
    for block in reverse:
        for following in _successors(block):
            before[following].append(block)
    found = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in reverse[1:]:
            known = [p for p in before[block] if p in found]
            best = known[0]
            for other in known[1:]:
                while best is not other:
                    if number[best] > number[other]:
                        best = found[best]
                    else:
                        other = found[other]
            if found.get(block) is not best:
                found[block] = best
                changed = True
    return found


def _postorder(entry: Block) -> Iterator[Block]:
    seen = {entry}
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, rest = stack[-1]
        following = next((b for b in rest if b not in seen), None)
        if following is None:
            yield block
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(_successors(following))))


def _successors(block: Block) -> tuple[Block, ...]:
    last = block.last_op
    return () if last is None else tuple(last.successors)


def check_symbols(module: ModuleOp) -> None:
    """Raises `CompileError` at an operation whose symbol another one of its table has."""
    for table in module.walk():
        if not table.has_trait(SymbolTable):
            continue
        names: set[str] = set()
        for op in (op for block in table.regions[0].blocks for op in block.ops):
            trait = op.get_trait(SymbolOpInterface)
            symbol = None if trait is None else trait.get_sym_attr_name(op)
            if symbol is None:
                continue
            if symbol.data in names:
                raise error(
                    SourceLoc.from_attr(op.location),
                    f"invalid IR: the symbol '@{symbol.data}' is defined twice",
                    "rename or remove one of them",
                )
            names.add(symbol.data)
