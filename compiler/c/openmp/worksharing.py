"""`for`, `simd` and `sections`: statements whose parts the threads of a team share."""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportAttributeAccessIssue=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ..types import CType, IntType
from .directives import OmpDirective, OmpItem
from .loops import (
    SharedLoop,
    counts,
    declarations,
    final_text,
    names_in,
    nested_loop,
    only_statement,
    piece_text,
    shared_loop,
)
from .regions import place_text
from .sharing import SharingCode, first_private, last_private, private, reductions
from .templates import template

if TYPE_CHECKING:
    from .checker import OpenMPChecker

_KINDS = {"static": 1, "dynamic": 2, "guided": 3, "auto": 4, "runtime": 5}
"""The numbers of schedule kinds, as in `runtime.c`."""


class Worksharing:
    """Rewrites the worksharing constructs of one translation unit."""

    def __init__(self, checker: OpenMPChecker) -> None:
        self.checker = checker
        self.unit = checker.unit

    def loop(self, directive: OmpDirective, body: list[Any]) -> Any:
        """`for`: each thread runs the pieces of the iterations that the schedule gives it."""
        loops = self.loops(directive, body)
        out = self._sharing(directive, loops)
        text, parts = counts(loops)
        kind, parts["CHUNK"], checked = self._schedule(directive)
        declared, copies, own = declarations(loops)
        parts["BODY"] = self.checker.fence(directive, [loops[-1].node.stmt], loops=True)
        place = place_text(directive.loc)
        return template(
            f"{declared}{text} long __omp_chunk = CHUNK; {checked} {''.join(out.before)}"
            f"{{ {copies}{''.join(out.begin)}"
            f'long __omp_w[8]; __accopt_omp_loop(__omp_w, {kind}, __omp_chunk, __omp_n, "{place}");'
            "int __omp_last = 0;"
            "while (__accopt_omp_piece(__omp_w)) {"
            "long __omp_k = __omp_w[0]; const long __omp_end = __omp_w[1];"
            f"__omp_last |= __omp_end == __omp_n; {piece_text(loops)} }}"
            f"(void)__omp_last; {''.join(out.end)} }} {self._end(directive)}",
            directive.loc,
            **parts,
            **own,
        )

    def simd(self, directive: OmpDirective, body: list[Any]) -> Any:
        """`simd`: the loop as it is; its copies matter only if they are private."""
        loops = self.loops(directive, body)
        out = SharingCode()
        private(directive.all("private"), self.checker.find, out)
        for item in directive.all("lastprivate", "reduction", "aligned"):
            self.checker.find(item)
        inner = loops[-1].node
        inner.stmt = self.checker.fence(directive, [inner.stmt], loops=True)
        return template(f"{''.join(out.begin)} BODY;", directive.loc, BODY=body[-1])

    def sections(self, directive: OmpDirective, body: list[Any]) -> Any:
        """`sections`: each section is run by the next thread that asks for one."""
        found = self._sections(directive, body)
        out = self._sharing(directive, [])
        chain = ""
        parts: dict[str, Any] = {}
        for number, nodes in enumerate(found):
            parts[f"S{number}"] = self.checker.fence(directive, nodes)
            chain += f"{'else ' if number else ''}if (__omp_w[0] == {number}) {{ S{number}; }}"
        return template(
            f"{''.join(out.before)} {{ {''.join(out.begin)}"
            f'long __omp_w[8]; __accopt_omp_loop(__omp_w, 2, 1, {len(found)}, "");'
            "int __omp_last = 0; while (__accopt_omp_piece(__omp_w)) {"
            f"__omp_last |= __omp_w[1] == {len(found)}; {chain} }}"
            f"(void)__omp_last; {''.join(out.end)} }} {self._end(directive)}",
            directive.loc,
            **parts,
        )

    def _sections(self, directive: OmpDirective, body: list[Any]) -> list[list[Any]]:
        block = body[-1]
        if len(body) != 1 or not isinstance(block, c_ast.Compound):
            raise error(
                directive.loc,
                f"'omp {directive.name}' is not followed by a block",
                "write { #pragma omp section … }",
            )
        found: list[list[Any]] = []
        for node in block.block_items or []:
            inner = self.checker.parse(node)
            if inner is not None and inner.name == "section":
                found.append([])
                continue
            if not found:
                found.append([])
            found[-1].append(node)
        return [nodes for nodes in found if nodes]

    # Parts ------------------------------------------------------------------------------------

    def _end(self, directive: OmpDirective) -> str:
        return (
            "" if directive.find("nowait") or directive.is_combined else "__accopt_omp_barrier();"
        )

    def _sharing(self, directive: OmpDirective, loops: list[SharedLoop]) -> SharingCode:
        find, out = self.checker.find, SharingCode()
        own = {loop.variable for loop in loops if loop.declared is not None}
        first, last = directive.all("firstprivate"), directive.all("lastprivate")
        variables = {loop.variable for loop in loops}
        for item in (*first, *directive.all("reduction")):
            if item.name in variables:
                raise error(
                    item.loc,
                    f"'{item.name}' is the variable of the loop",
                    "it is private: remove it",
                )
        self._must_be_shared(directive, [*last, *directive.all("reduction")])
        first_private(first, find, out, by_value=False)
        private([i for i in directive.all("private") if i.name not in variables], find, out)
        last = [item for item in last if item.name not in own]
        last_private(last, first, find, out, lambda name: final_text(loops, name))
        reductions(directive, find, out)
        return out

    def _must_be_shared(self, directive: OmpDirective, items: list[OmpItem]) -> None:
        for item in items:
            if self.checker.regions.is_private(item.name):
                raise error(
                    item.loc,
                    f"'{item.name}' is private in the parallel region around 'omp {directive.name}':"
                    " there is no shared variable to combine it in",
                    "declare it outside of the region, or share it",
                )

    def loops(self, directive: OmpDirective, body: list[Any]) -> list[SharedLoop]:
        """The loops that a directive applies to, after checking them."""
        place = self.unit.loc
        node = only_statement(body[-1])
        if len(body) > 1 and any(self.checker.parse(n) is not None for n in body[:-1]):
            raise error(
                directive.loc,
                f"'omp {directive.name}' is followed by another directive",
                "write the 'for' loop directly after it",
            )
        if len(body) > 1:
            raise error(
                place(body[0]),
                f"a directive between 'omp {directive.name}' and its loop",
                "threads share the iterations: put the directive into the loop, or remove one of the two",
            )
        depth = self._depth(directive)
        loops = [shared_loop(node, directive.name, place)]
        while len(loops) < depth:
            node = nested_loop(loops[-1].node.stmt, directive.name, place)
            loops.append(shared_loop(node, directive.name, place))
        seen: set[str] = set()
        for loop in loops:
            names = names_in(loop.first) | names_in(loop.bound) | names_in(loop.step)
            if seen & names:
                name = min(seen & names)
                raise error(
                    loop.loc,
                    f"'collapse': the bounds of this loop change with '{name}'",
                    "collapse fewer loops",
                )
            seen.add(loop.variable)
        self._check_types(loops)
        return loops

    def _depth(self, directive: OmpDirective) -> int:
        clause = directive.find("collapse")
        if clause is None:
            return 1
        value = self.unit.expressions.integer(self.checker.argument(clause, "1"))
        if value is None or value < 1:
            raise error(clause.loc, "'collapse' needs a positive constant", "write collapse(2)")
        return value

    def _check_types(self, loops: list[SharedLoop]) -> None:
        """Raise for loops over values that are not integers."""
        for loop in loops:
            if loop.declared is not None:
                kind = self.unit.types.build(loop.declared.type).type
            else:
                kind = self.checker.find(OmpItem(loop.variable, loop.loc)).type
            _check_counts(kind, loop.loc)
            for node in (loop.first, loop.bound, loop.step):
                if node is not None:
                    value = self.unit.expressions.value(node)
                    _check_counts(value.type, value.loc)

    def _schedule(self, directive: OmpDirective) -> tuple[int, Any, str]:
        """The kind, the chunk size (0 for none), and C that replaces a size that is not positive by -1."""
        clause = directive.find("schedule")
        none = c_ast.Constant("int", "0", None)
        if clause is None:
            return _KINDS["static"], none, ""
        if clause.argument is None:
            return _KINDS[clause.word], none, ""
        chunk = self.checker.argument(clause, "0")
        value = self.unit.expressions.integer(chunk)
        if value is not None and value < 1:
            raise error(
                clause.argument.loc, "the chunk size is not positive", "write a number from 1 on"
            )
        return _KINDS[clause.word], chunk, "if (__omp_chunk < 1) __omp_chunk = -1;"


def _check_counts(t: CType, loc: SourceLoc) -> None:
    if not isinstance(t, IntType):
        raise error(
            loc,
            f"the threads cannot share a loop over '{t}'",
            "count with an integer, and compute the rest from it",
        )
