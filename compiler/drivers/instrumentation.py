"""
Instrumentation of passes for their developers: prints the IR before and after a pass and the changes that
it made, and saves the IR on which a pass failed.

`Instrumentation.run` applies a pass with the actions that `PassWatch` selects; without any, it adds no
cost.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..base.diagnostics import UNKNOWN_LOC, error
from ..internal_error import pass_note
from ..ir.printing import print_ir

_CONTEXT_LINES = 3
"""Lines of IR around each change."""
_NUMBER = re.compile(r"(?<=%)\d+\b|(?<=\w)_\d+\b")
"""The suffixes that the printer adds to names of values to make them unique."""


@dataclass(frozen=True)
class PassWatch:
    """
    The selected actions: `before` and `after` are names of passes around which the IR is printed,
    `before_all` and `after_all` mean every pass; `changes` prints what each pass changed; `reproducer` is a
    file for the IR that a failing pass began with.
    """

    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    before_all: bool = False
    after_all: bool = False
    changes: bool = False
    reproducer: Path | None = None


class Instrumentation:
    """One run of the driver. Everything but the reproducer goes to stderr."""

    def __init__(self, watch: PassWatch, *, debug_info: bool = False):
        self.watch = watch
        self._debug_info = debug_info
        self._ran: set[str] = set()

    def run(self, ctx: Context, module_pass: ModulePass, module: ModuleOp) -> None:
        """Applies the pass. Passes on its exceptions, with the pass's name as a note."""
        watch, name = self.watch, module_pass.name
        if watch.before_all or name in watch.before:
            self._print(f"IR before {name}", module)
        original = module.clone() if watch.changes or watch.reproducer else None
        try:
            module_pass.apply(ctx, module)
            self._ran.add(name)
        except Exception as failure:
            failure.add_note(pass_note(name, type(module_pass).__module__))
            if watch.reproducer is not None and original is not None:
                self._save(watch.reproducer, module_pass, original, failure)
            raise
        if watch.after_all or name in watch.after:
            self._print(f"IR after {name}", module)
        if watch.changes and original is not None:
            self._print_changes(name, original, module)

    def report(self) -> None:
        """Prints the names of selected passes that never ran."""
        for name in sorted((self.watch.before | self.watch.after) - self._ran):
            print(f"// {name} did not run: --emit=STAGE selects the last stage", file=sys.stderr)

    def _text(self, module: ModuleOp) -> str:
        return print_ir(module, debug_info=self._debug_info)

    def _print(self, title: str, module: ModuleOp) -> None:
        print(f"// {title}:\n{self._text(module)}", file=sys.stderr)

    def _print_changes(self, name: str, original: ModuleOp, module: ModuleOp) -> None:
        lines = changed_lines(self._text(original).splitlines(), self._text(module).splitlines())
        print(f"// {name} " + ("changes:" if lines else "changes nothing"), file=sys.stderr)
        for line in lines:
            print(line, file=sys.stderr)

    def _save(
        self, path: Path, module_pass: ModulePass, original: ModuleOp, failure: Exception
    ) -> None:
        command = f"accopt {path} -p '{spec_of(module_pass)}'"
        reason = str(failure).partition("\n")[0]
        text = f"// {command}\n// {type(failure).__name__}: {reason}\n{print_ir(original, debug_info=True)}"
        try:
            path.write_text(text)
        except OSError as e:
            raise error(
                UNKNOWN_LOC,
                f"cannot write '{path}': {e.strerror}",
                "give --crash-reproducer another path",
            ) from failure
        print(
            f"the IR that '{module_pass.name}' began with is in {path}: {command}", file=sys.stderr
        )


def changed_lines(before: list[str], after: list[str]) -> list[str]:
    """
    The changes as a unified diff. A new value renumbers the ones after it, so lines that differ only in
    such numbers count as equal, unless there are no other changes.
    """
    if before == after:
        return []
    unnumbered = [[_NUMBER.sub("", line) for line in text] for text in (before, after)]
    same_but_numbers = unnumbered[0] == unnumbered[1]
    compared = (before, after) if same_but_numbers else unnumbered
    lines: list[str] = []
    for group in SequenceMatcher(None, *compared, autojunk=False).get_grouped_opcodes(
        _CONTEXT_LINES
    ):
        lines.append(f"@@ line {group[0][3] + 1}")
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [f" {line}" for line in after[j1:j2]]
                continue
            lines += [f"-{line}" for line in before[i1:i2]]
            lines += [f"+{line}" for line in after[j1:j2]]
    return lines


def spec_of(module_pass: ModulePass) -> str:
    """The pass as `-p` takes it: its name, and the options that are not at their defaults."""
    return str(module_pass.pipeline_pass_spec())


def pass_names(texts: Sequence[str]) -> frozenset[str]:
    """The names in `--print-after A,B --print-after C`."""
    return frozenset(name.strip() for text in texts for name in text.split(",") if name.strip())
