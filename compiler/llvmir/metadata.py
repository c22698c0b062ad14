"""Metadata of a module: loop properties and line tables."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, IntegerAttr
from xdsl.dialects.llvm import FuncOp
from xdsl.ir import Attribute, Operation

from ...dialects.accx import ACCESS_GROUPS, INTERLEAVE, SIMD, UNROLL, VECTOR_WIDTH
from .types import escape


class Metadata:
    """The numbered metadata nodes of a module; equal nodes are shared."""

    def __init__(self) -> None:
        self.named: dict[str, list[str]] = {}
        self._nodes: list[str] = []
        self._numbers: dict[str, str] = {}
        self._scopes: dict[tuple[str, int, int], list[str]] = {}
        self._groups: dict[int, str] = {}

    def node(self, body: str) -> str:
        """The reference (`!7`) of the node with this body, which is made on first use."""
        found = self._numbers.get(body)
        if found is None:
            found = self._numbers[body] = self._append(body)
        return found

    def distinct(self, body: str) -> str:
        """A new node that is equal to no other."""
        return self._append(f"distinct {body}")

    def next(self) -> str:
        """The reference that the next new node will have."""
        return f"!{len(self._nodes)}"

    def nodes(self) -> tuple[str, ...]:
        """The bodies of all nodes, by number."""
        return tuple(self._nodes)

    def _append(self, body: str) -> str:
        reference = self.next()
        self._nodes.append(body)
        return reference

    def text(self) -> str:
        """All nodes as text, for the end of a module."""
        lines = [f"!{name} = !{{{', '.join(refs)}}}" for name, refs in self.named.items()]
        lines += [f"!{number} = {body}" for number, body in enumerate(self._nodes)]
        return "\n".join(lines)

    def loop(self, branch: Operation) -> str | None:
        """
        The `!llvm.loop` node of a back edge with `accx.simd` or `accx.unroll` (LangRef,
        'llvm.loop'), or `None`.
        """
        attributes = branch.attributes
        properties: list[str] = []
        if (groups := attributes.get(ACCESS_GROUPS)) is not None:
            properties += [
                self.node(f'!{{!"llvm.loop.parallel_accesses", {group}}}')
                for group in self.access_groups(groups)
            ]
        if SIMD in attributes:
            properties.append(self.node('!{!"llvm.loop.vectorize.enable", i1 true}'))
        for name, text in ((VECTOR_WIDTH, "vectorize.width"), (INTERLEAVE, "interleave.count")):
            if isinstance(number := attributes.get(name), IntegerAttr):
                properties.append(self.node(f'!{{!"llvm.loop.{text}", i32 {number.value.data}}}'))
        unroll = attributes.get(UNROLL)
        if isinstance(unroll, IntegerAttr):
            count = unroll.value.data
            name = {0: '"llvm.loop.unroll.full"', 1: '"llvm.loop.unroll.disable"'}.get(
                count, f'"llvm.loop.unroll.count", i32 {count}'
            )
            properties.append(self.node(f"!{{!{name}}}"))
        if not properties:
            return None
        return self.distinct(f"!{{{', '.join([self.next(), *properties])}}}")

    def scalar_type(self, name: str) -> str:
        """
        The `!tbaa` node of a scalar type of C: accesses of two different types do not alias, except that
        bytes alias all."""
        root = self.node('!{!"accopt"}')
        byte = self.node(f'!{{!"bytes", {root}, i64 0}}')
        scalar = self.node(f'!{{!"{name}", {byte}, i64 0}}')
        return self.node(f"!{{{scalar}, {scalar}, i64 0}}")

    def access_groups(self, groups: Attribute) -> list[str]:
        """The nodes of the loops whose parallel accesses an operation belongs to."""
        out: list[str] = []
        for group in cast("ArrayAttr[IntegerAttr]", groups):
            number = group.value.data
            if number not in self._groups:
                self._groups[number] = self.distinct("!{}")
            out.append(self._groups[number])
        return out

    def scopes(self, iteration: Attribute | None, array: Attribute | None) -> str:
        """
        The suffix of a memory access of an iteration (`accx.iteration`), which touches nothing that the
        other iterations beside it do, nor what all of them share, and to an array (`accx.array`) that no
        other pointer leads to. Each iteration, and their common reads, and each array have a scope.
        """
        own: list[str] = []
        others: list[str] = []
        for kind, fact in (("iteration", iteration), ("array", array)):
            if fact is not None:
                place, count, owner = (e.value.data for e in cast("ArrayAttr[IntegerAttr]", fact))
                # Loops of different kernels have the same numbers, and may have other counts.
                found = self._scopes_of((kind, owner, count))
                own.append(found[place])
                others += (scope for scope in found if scope != found[place])
        if not own:
            return ""
        out = f", !alias.scope {self._list(own)}"
        return f"{out}, !noalias {self._list(others)}" if others else out

    def _list(self, nodes: Sequence[str]) -> str:
        return self.node(f"!{{{', '.join(nodes)}}}")

    def _scopes_of(self, key: tuple[str, int, int]) -> list[str]:
        kind, _, count = key
        if key not in self._scopes:
            domain = self.distinct(f"!{{{self.next()}}}")
            number = count + 1 if kind == "iteration" else count
            self._scopes[key] = [
                self.distinct(f"!{{{self.next()}, {domain}}}") for _ in range(number)
            ]
        return self._scopes[key]

    def access_group(self, groups: Attribute) -> str:
        """The operand of `!llvm.access.group` on a memory operation."""
        nodes = self.access_groups(groups)
        return nodes[0] if len(nodes) == 1 else self.node(f"!{{{', '.join(nodes)}}}")


class LineTables:
    """
    Debug information that maps machine code to lines of C, nothing else: a compile unit, a
    subprogram for each function and a location for each operation.
    """

    def __init__(self, metadata: Metadata, *, directives_only: bool):
        """`directives_only`: only `.loc` lines, for PTX; otherwise line tables."""
        self._metadata = metadata
        self._kind = "DebugDirectivesOnly" if directives_only else "LineTablesOnly"
        self._unit: str | None = None
        self._locations: dict[tuple[str, int, int, str], str] = {}

    def _file(self, name: str) -> str:
        path = Path(name)
        file, folder = escape(path.name.encode()), escape(str(path.parent).encode())
        return self._metadata.node(f'!DIFile(filename: "{file}", directory: "{folder}")')

    def _compile_unit(self, file: str) -> str:
        if self._unit is None:
            self._unit = self._metadata.distinct(
                f'!DICompileUnit(language: DW_LANG_C11, file: {file}, producer: "accopt", '
                f"isOptimized: true, runtimeVersion: 0, emissionKind: {self._kind})"
            )
            self._metadata.named["llvm.dbg.cu"] = [self._unit]
            flag = self._metadata.node('!{i32 2, !"Debug Info Version", i32 3}')
            self._metadata.named.setdefault("llvm.module.flags", []).append(flag)
        return self._unit

    def subprogram(self, func: FuncOp) -> tuple[str, str] | None:
        """The scope and the file name of a function, or `None` where it has no location."""
        location = func.location
        if not isinstance(location, FileLineColLoc):
            return None
        name, line = location.filename.data, location.line.data
        file = self._file(name)
        kind = self._metadata.node("!DISubroutineType(types: !{})")
        scope = self._metadata.distinct(
            f'!DISubprogram(name: "{escape(func.sym_name.data.encode())}", scope: {file}, '
            f"file: {file}, line: {line}, type: {kind}, scopeLine: {line}, "
            f"spFlags: DISPFlagDefinition, unit: {self._compile_unit(file)})"
        )
        return scope, name

    def location(self, op: Operation, scope: str, scope_file: str) -> str:
        """The `!DILocation` of `op` in the function of `scope`; line 0 where it has none."""
        location = op.location
        if not isinstance(location, FileLineColLoc):
            key = (scope_file, 0, 0, scope)
        else:
            key = (location.filename.data, location.line.data, location.column.data, scope)
        found = self._locations.get(key)
        if found is None:
            file, line, column, _ = key
            if file != scope_file:
                scope = self._metadata.node(
                    f"!DILexicalBlockFile(scope: {scope}, file: {self._file(file)}, discriminator: 0)"
                )
            found = self._metadata.node(
                f"!DILocation(line: {line}, column: {min(column, 65535)}, scope: {scope})"
            )
            self._locations[key] = found
        return found
