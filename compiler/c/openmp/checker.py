"""
Rewrites OpenMP's directives, with the statement that each applies to, while a file is checked.

A construct becomes C around that statement (`templates.py`), and is then checked like any other
statement. The regions of `parallel` and `task` stay: `TeamStmt`.
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportAttributeAccessIssue=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import CompileError, SourceLoc, error
from ..ast import Stmt, VarDecl
from ..parse import parse_expression, parse_text
from ..sema.unit import Unit
from .directives import OmpDirective, OmpItem, parse_omp
from .loops import counts, declarations, piece_text
from .regions import RegionChecker, place_text
from .rules import STAND_ALONE
from .sharing import SharingCode, first_private, listed, private, reductions
from .templates import INTERFACE, Fence, Region, coord_of, template
from .worksharing import Worksharing

_OMP = re.compile(r"omp\b[ \t]*")
_NOT_CLOSELY_INSIDE = frozenset(
    ("for", "for simd", "sections", "single", "master", "masked", "critical", "task", "taskloop")
)
"""Constructs that not all threads of a team execute: they may contain no worksharing and no barrier
(2.16)."""
_PASSED_BY_ALL = frozenset(("for", "for simd", "sections", "single", "barrier"))


class OpenMPChecker:
    """Rewrites the directives of a unit."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.regions = RegionChecker(unit)
        self.worksharing = Worksharing(self)
        self._made: dict[Any, OmpDirective] = {}
        """The pragmas made for the parts of combined constructs."""
        self._faulty: set[Any] = set()
        """Pragmas whose mistake has been reported."""
        self._rewriters: dict[str, Callable[[OmpDirective, list[Any]], Any]] = {
            "parallel": self._parallel,
            "single": self._single,
            "master": self._master,
            "masked": self._master,
            "critical": self._critical,
            "task": lambda directive, body: self._task(directive, body, body),
            "taskloop": self._taskloop,
            "taskgroup": self._taskgroup,
            "for": self.worksharing.loop,
            "simd": self.worksharing.simd,
            "sections": self.worksharing.sections,
        }

    # Finding directives -----------------------------------------------------------------------

    def parse(self, node: Any) -> OmpDirective | None:
        """The parsed directive of a pragma; None for pragmas that are not OpenMP's."""
        if node in self._made:
            return self._made[node]
        if not isinstance(node, c_ast.Pragma) or not isinstance(node.string, str):
            return None
        if node in self._faulty:
            return None
        m = _OMP.match(node.string)
        if m is None:
            return None
        loc = self.unit.loc(node)
        place = SourceLoc(loc.file, loc.line, loc.column + m.end() if loc.column else 0)
        self._begin()
        try:
            return parse_omp(node.string[m.end() :], place)
        except CompileError:
            self._faulty.add(node)
            raise

    def _begin(self) -> None:
        """Declares the functions that the templates call, before the first directive."""
        if self.unit.tree.has_openmp:
            return
        self.unit.tree.has_openmp = True
        with self.unit.nested_scope(self.unit.file_scope):
            for node in parse_text(INTERFACE, "<openmp>").ext:
                self.unit.declarations.external(node)

    def external(self, node: Any) -> bool:
        """Carries out a pragma outside functions, which can only be `threadprivate`; returns whether it is
        OpenMP's."""
        directive = self.parse(node)
        if directive is None:
            return False
        if directive.name == "declare simd":
            return True
        if directive.name != "threadprivate":
            raise error(
                directive.loc,
                f"'omp {directive.name}' outside a function",
                "move it into the function, before the statement it applies to",
            )
        self.regions.thread_private(directive, self.find)
        return True

    def require_body(self, node: Any) -> None:
        """Raise for a directive without a statement as the body of an `if`, loop or label (2.17)."""
        directive = self.parse(node)
        if directive is not None and directive.name in STAND_ALONE:
            raise error(
                directive.loc,
                f"'omp {directive.name}' cannot be the body of an 'if', loop or label",
                "put braces '{ … }' around it",
            )

    def statement(
        self, directive: OmpDirective, nodes: list[Any], index: int
    ) -> tuple[list[Stmt], int]:
        """The statements that replace `directive`, which is before nodes[index], and the index after the
        nodes that it applies to."""
        self._check_place(directive)
        if directive.name == "threadprivate":
            self.regions.thread_private(directive, self.find)
            return [], index
        if directive.name == "declare simd":
            return [], index
        if directive.name == "atomic":
            return self._atomic(directive, nodes, index)
        if directive.name in STAND_ALONE:
            call = f"__accopt_omp_{directive.name}();"
            return [self.unit.statements.statement(template(call, directive.loc))], index
        if directive.name == "section":
            raise error(
                directive.loc,
                "'omp section' is not directly in the block of 'omp sections'",
                "put it there, without anything around it",
            )
        body, index = self._body(directive, nodes, index)
        node = self._rewrite(directive, body)
        with self.regions.around(directive):
            return [self.unit.statements.statement(node)], index

    def _check_place(self, directive: OmpDirective) -> None:
        state = self.unit.function
        assert state is not None, "move it into a function"
        construct = next((d for d in reversed(state.directives) if d.is_compute), None)
        if construct is not None:
            remedy = "use #pragma acc atomic" if directive.name in ("atomic", "critical") else None
            raise error(
                directive.loc,
                f"'omp {directive.name}' inside a '{construct.kind.value}' construct: OpenMP is for"
                " host code",
                remedy or "move it out, or remove it",
                [(construct.loc, "the construct is here")],
            )
        around = self.regions.innermost
        if around in _NOT_CLOSELY_INSIDE and directive.name in _PASSED_BY_ALL:
            raise error(
                directive.loc,
                f"'omp {directive.name}' inside 'omp {around}', which not all threads of a team"
                " execute (OpenMP 4.5, 2.17)",
                "move it out, or put a parallel region between them",
            )

    def _body(self, directive: OmpDirective, nodes: list[Any], index: int) -> tuple[list[Any], int]:
        """The nodes of the one statement after a directive: pragmas before it belong to it."""
        first = index
        while index < len(nodes) and isinstance(nodes[index], c_ast.Pragma):
            inner = self.parse(nodes[index])
            stands = inner is not None and inner.name in STAND_ALONE
            index += 1
            if stands:
                return nodes[first:index], index
        if index >= len(nodes) or isinstance(nodes[index], c_ast.Decl):
            raise error(
                directive.loc,
                f"'omp {directive.name}' has no statement after it",
                "put the block '{ … }' or loop it applies to directly after it",
            )
        return nodes[first : index + 1], index + 1

    def find(self, item: OmpItem) -> VarDecl:
        """The variable that an item of a list names."""
        found = self.unit.scope.find(item.name)
        if found is None:
            raise self.unit.expressions.undeclared(item.name, item.loc)
        if not isinstance(found, VarDecl):
            raise error(item.loc, f"'{item.name}' is not a variable", "name a variable")
        return found

    # Constructs -------------------------------------------------------------------------------

    def _rewrite(self, directive: OmpDirective, body: list[Any]) -> Any:
        if directive.name.startswith("parallel "):
            return self._combined(directive, body)
        return self._rewriters[directive.name.removesuffix(" simd") or "simd"](directive, body)

    def fence(self, directive: OmpDirective, nodes: list[Any], *, loops: bool = False) -> Any:
        """The user's statements in a construct, marked so that jumps out of it are refused."""
        return Fence(f"omp {directive.name}", nodes, coord_of(directive.loc), loops=loops)

    def _combined(self, directive: OmpDirective, body: list[Any]) -> Any:
        """A combined construct such as `parallel for`: a region that contains one worksharing construct."""
        inner_name = directive.name.removeprefix("parallel ")
        last = {item.name for item in directive.all("lastprivate")}
        inner_clauses = {"lastprivate", "reduction", "schedule", "collapse"}
        outer = OmpDirective(directive.name, directive.loc)
        inner = OmpDirective(inner_name, directive.loc)
        for clause in directive.clauses:
            both = clause.name == "firstprivate" and any(i.name in last for i in clause.items)
            (inner if clause.name in inner_clauses or both else outer).clauses.append(clause)
        pragma = c_ast.Pragma("", coord_of(directive.loc))
        inner.is_combined = True
        self._made[pragma] = inner
        return self._parallel(outer, [pragma, *body], also=listed(directive))

    def _parallel(
        self, directive: OmpDirective, body: list[Any], also: set[str] | None = None
    ) -> Any:
        out = SharingCode()
        self._copy_in(directive, out)
        first_private(directive.all("firstprivate"), self.find, out, by_value=True)
        private(directive.all("private"), self.find, out)
        for item in directive.all("shared"):
            self.find(item)
        reductions(directive, self.find, out)
        threads, condition = directive.find("num_threads"), directive.find("if")
        holds = self.argument(condition, "1")
        wanted = "2" if threads is not None else "1"
        several = template(f"(HOLDS) ? {wanted} : 0;", directive.loc, HOLDS=holds).block_items[0]
        node = Region(f"omp {directive.name}", None, several, coord_of(directive.loc))
        node.threads = self.argument(threads, "0")
        return self._region(directive, node, body, out, also or listed(directive))

    def _region(
        self,
        directive: OmpDirective,
        node: Region,
        body: list[Any],
        out: SharingCode,
        names: set[str],
    ) -> Any:
        """The block of a region, with the code of its clauses before it, and in it before and after the
        statements."""
        node.copies = out.copies
        fence = self.fence(directive, body)
        text = f"{''.join(out.begin)} BODY; {''.join(out.end)}"
        node.body = template(text, directive.loc, BODY=fence)
        default = directive.find("default")
        node.listed = names if default is not None and default.word == "none" else None
        return template(f"{''.join(out.before)} REGION;", directive.loc, REGION=node)

    def _copy_in(self, directive: OmpDirective, out: SharingCode) -> None:
        items = directive.all("copyin")
        for item in items:
            if not self.find(item).is_thread_private:
                raise error(
                    item.loc, f"'{item.name}' in 'copyin' is not threadprivate", "use firstprivate"
                )
            out.before.append(f"const void *__omp_c_{item.name} = &{item.name};")
            out.begin.append(
                f"__accopt_omp_copy(&{item.name}, __omp_c_{item.name}, sizeof {item.name});"
            )
        if items:
            out.begin.append("__accopt_omp_barrier();")

    def argument(self, clause: Any, otherwise: str) -> Any:
        """The expression of a clause, or the constant `otherwise` if the clause is absent."""
        slot = None if clause is None else clause.argument
        if slot is None:
            return c_ast.Constant("int", otherwise, None)
        return parse_expression(slot.text, slot.loc, self.unit.scope.is_typedef)

    def _single(self, directive: OmpDirective, body: list[Any]) -> Any:
        out = SharingCode()
        first_private(directive.all("firstprivate"), self.find, out, by_value=False)
        private(directive.all("private"), self.find, out)
        text = f"if (__accopt_omp_single()) {{ {''.join(out.begin)} BODY; PUBLISH }}"
        items = directive.all("copyprivate")
        for item in items:
            self.find(item)
        if not items:
            end = "" if directive.find("nowait") else "__accopt_omp_barrier();"
            return template(
                f"{''.join(out.before)} {text.replace('PUBLISH', '')} {end}",
                directive.loc,
                BODY=self.fence(directive, body),
            )
        if directive.find("nowait"):
            raise error(directive.loc, "'copyprivate' needs the barrier", "remove 'nowait'")
        addresses = ", ".join(f"&{item.name}" for item in items)
        copies = "".join(
            f"__accopt_omp_copy(&{item.name}, ((void **)__accopt_omp_published())[{i}],"
            f" sizeof {item.name});"
            for i, item in enumerate(items)
        )
        return template(
            f"{''.join(out.before)} void *__omp_p[] = {{ {addresses} }};"
            f"{text.replace('PUBLISH', '__accopt_omp_publish(__omp_p);')}"
            f"__accopt_omp_barrier(); {copies} __accopt_omp_barrier();",
            directive.loc,
            BODY=self.fence(directive, body),
        )

    def _master(self, directive: OmpDirective, body: list[Any]) -> Any:
        return template(
            "if (__accopt_omp_number() == (WHO)) BODY;",
            directive.loc,
            WHO=self.argument(directive.find("filter"), "0"),
            BODY=self.fence(directive, body),
        )

    def _critical(self, directive: OmpDirective, body: list[Any]) -> Any:
        if len(directive.items) > 1:
            raise error(directive.items[1].loc, "'critical' has one name", "remove the others")
        name = directive.items[0].name if directive.items else ""
        if name in self.regions.criticals:
            named = f" ({name})" if name else ""
            raise error(
                directive.loc,
                f"'omp critical{named}' inside itself waits for ever (OpenMP 4.5, 2.17)",
                "give them different names, or leave out the inner one",
            )
        return template(
            f'static long __omp_cell; __accopt_omp_critical(&__omp_cell, "{name}",'
            f' "{place_text(directive.loc)}"); BODY; __accopt_omp_critical_end(&__omp_cell);',
            directive.loc,
            BODY=self.fence(directive, body),
        )

    def _task(
        self, directive: OmpDirective, body: list[Any], named: list[Any], taken: Sequence[str] = ()
    ) -> Any:
        """
        A task that runs `body`. `named`: the user's nodes; the task gets copies of the private variables
        they use. `taken`: further scalars that are copied into the task.
        """
        out = SharingCode(copies=list(taken))
        items = directive.all("firstprivate")
        default = directive.find("default")
        for item in directive.all("shared"):
            self.find(item)
        if default is None:
            said = listed(directive)
            found = self.regions.private_names(named, said)
            items = [*items, *(OmpItem(name, directive.loc) for name in found)]
        first_private(items, self.find, out, by_value=True, kept=True)
        private(directive.all("private"), self.find, out)
        final = self.argument(directive.find("final"), "0")
        later = self.argument(directive.find("if"), "1")
        # Dependent tasks (2.13.9) run at once, in the order of their creation.
        at_once = " && 0" if directive.find("depend") else ""
        for item in directive.all("depend"):
            self.find(item)
        text = f"(FINAL) ? 2 : (LATER) != 0{at_once};"
        several = template(text, directive.loc, FINAL=final, LATER=later)
        several = several.block_items[0]
        node = Region("omp task", None, several, coord_of(directive.loc))
        return self._region(directive, node, body, out, listed(directive) | set(taken))

    def _taskloop(self, directive: OmpDirective, body: list[Any]) -> Any:
        """Tasks that each run a piece of the iterations, in a task group of their own (2.9.2)."""
        loops = self.worksharing.loops(directive, body)
        numbers = [f"__omp_{part}{d}" for d in range(len(loops)) for part in "bsn"]
        declared, copies, own = declarations(loops)
        piece = template(
            f"{declared} {copies}"
            f"long __omp_k = __omp_from; const long __omp_end = __omp_to; {piece_text(loops)}",
            directive.loc,
            BODY=self.fence(directive, [loops[-1].node.stmt], loops=True),
            **own,
        )
        text, parts = counts(loops)
        size, parts["SIZE"] = self._task_size(directive)
        task = self._task(directive, [piece], body, ["__omp_from", "__omp_to", *numbers])
        loop = template(
            f"{declared} {text} {size}"
            "for (long __omp_from = 0; __omp_from < __omp_n; __omp_from += __omp_chunk) {"
            "const long __omp_to = __omp_n - __omp_from < __omp_chunk ? __omp_n"
            " : __omp_from + __omp_chunk; TASK; }",
            directive.loc,
            TASK=task,
            **parts,
            **copy.deepcopy(own),
        )
        return loop if directive.find("nogroup") else self._group(directive, loop)

    def _task_size(self, directive: OmpDirective) -> tuple[str, Any]:
        """C that sets `__omp_chunk` to the iterations of a task, from the expression `SIZE`."""
        grain, tasks = directive.find("grainsize"), directive.find("num_tasks")
        if grain is not None and tasks is not None:
            raise error(tasks.loc, "'num_tasks' beside 'grainsize'", "keep one of them")
        least = "if (__omp_chunk < 1) __omp_chunk = 1;"
        if grain is not None:
            return f"long __omp_chunk = SIZE; {least}", self.argument(grain, "1")
        return (
            "long __omp_t = SIZE; if (__omp_t < 1) __omp_t = 1;"
            f"long __omp_chunk = (__omp_n + __omp_t - 1) / __omp_t; {least}",
            self.argument(tasks, "64"),
        )

    def _taskgroup(self, directive: OmpDirective, body: list[Any]) -> Any:
        return self._group(directive, self.fence(directive, body))

    def _group(self, directive: OmpDirective, body: Any) -> Any:
        return template(
            "long __omp_g[2]; __accopt_omp_group(__omp_g); BODY; __accopt_omp_group_end(__omp_g);",
            directive.loc,
            BODY=body,
        )

    def _atomic(
        self, directive: OmpDirective, nodes: list[Any], index: int
    ) -> tuple[list[Stmt], int]:
        """`atomic`, checked as OpenACC's `atomic`; with a memory-order clause, it is put between two
        flushes."""
        kinds = [
            c.name for c in directive.clauses if c.name in ("read", "write", "update", "capture")
        ]
        if len(kinds) > 1:
            raise error(directive.loc, f"'omp atomic {' '.join(kinds)}'", "keep one of the words")
        pragma = c_ast.Pragma(f"acc atomic {' '.join(kinds)}", coord_of(directive.loc))
        stmts, index = self.unit.directives.statement(
            [*nodes[:index], pragma, *nodes[index:]], index
        )
        ordered = any(c.name not in (*kinds, "relaxed", "hint") for c in directive.clauses)
        if ordered:
            flush = "__accopt_omp_flush();"
            before, after = (
                self.unit.statements.statement(template(flush, directive.loc)) for _ in range(2)
            )
            stmts = [before, *stmts, after]
        return stmts, index - 1
