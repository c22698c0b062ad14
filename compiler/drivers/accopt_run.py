"""One run of `accopt`: its inputs, the stage and the passes to apply to them, and its output."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from ...passes.ir.ops.messages import take_messages
from ..added_passes import PassLoader, available_passes, no_such_pass, parse_passes
from ..base.diagnostics import UNKNOWN_LOC, CompileError, DiagnosticSink, error, render
from ..base.options import CompileOptions
from ..base.phases import LOADING, phase
from ..c.preprocess_sources import read_input
from ..emit import TEXT_STAGES, emit_text, ptx_ahead
from ..internal_error import mistakes_in_ir
from ..ir.context import make_context
from ..ir.printing import print_ir
from ..ir.reading import check_saved, decode, parse_ir, read_ir_text
from ..pipeline import ACC, run_to_stage, stage_names, stage_of
from ..remarks import adds_remarks
from ..shared_work import share_device_work
from .file_kinds import IR, refuse_machine_code, refuse_other_language
from .instrumentation import Instrumentation, PassWatch, pass_names
from .outputs import write_text
from .reporting import report, require_no_failing


def _watch(args: argparse.Namespace) -> PassWatch:
    known = available_passes() if args.print_before or args.print_after else dict[str, PassLoader]()
    before, after = pass_names(args.print_before), pass_names(args.print_after)
    for name in sorted((before | after) - known.keys()):
        raise no_such_pass(name, known)
    return PassWatch(
        before,
        after,
        args.print_before_all,
        args.print_after_all,
        args.print_changes,
        args.crash_reproducer,
    )


class AccoptRun:
    """
    One run of the driver; `run` returns the exit status. `front_end` returns the module of the C files, None
    if the inputs are IR; messages go to `sink`.
    """

    def __init__(
        self,
        args: argparse.Namespace,
        options: CompileOptions,
        sink: DiagnosticSink,
        front_end: Callable[[], ModuleOp] | None,
    ):
        self.args = args
        self.options = options
        self.sink = sink
        self.front_end = front_end
        with phase(LOADING):
            self.ctx = make_context()
        self.passes = Instrumentation(_watch(args), debug_info=args.print_debuginfo)

    def process(self, module: ModuleOp, default_stage: str) -> str:
        stop: str | None = self.args.stop_before
        stage = self.args.emit or (stage_names(self.options.target)[-1] if stop else default_stage)
        text_stage = TEXT_STAGES.get(stage)
        kernels: str | None = None
        with ptx_ahead(self.options) as make_ptx:
            try:
                if text_stage and not stop and self.only_code():
                    kernels = share_device_work(
                        self.ctx,
                        module,
                        self.options,
                        run_pass=self.passes.run,
                        use_kernels=make_ptx if stage == "ptx" else len,
                    )
                run_to_stage(
                    self.ctx,
                    module,
                    text_stage or stage,
                    self.options,
                    self.passes.run,
                    adds_remarks(self.sink, self.options.target) if self.args.remarks else None,
                    stop_before=stop,
                    every_pass=not self.only_code(),
                )
            finally:
                self.sink.diagnostics += take_messages(module, wall=self.options.wall)
        if stage == "ptx" and self.options.target == "host":
            raise error(UNKNOWN_LOC, "the target 'host' has no PTX", "leave out --target=host")
        if self.args.passes:
            self.run_passes(module)
        if text_stage is not None and not stop:
            return emit_text(module, stage, self.options, kernels)
        with phase("(printing)"):
            return print_ir(
                module, debug_info=self.args.print_debuginfo, generic=self.args.print_op_generic
            )

    def only_code(self) -> bool:
        """Whether only the final code is wanted, and no IR of stages or passes."""
        return self.passes.watch == PassWatch() and not self.args.remarks and not self.args.passes

    def run_passes(self, module: ModuleOp) -> None:
        for module_pass in parse_passes(self.args.passes):
            self.passes.run(self.ctx, module_pass, module)
            module.verify()
        self.sink.diagnostics += take_messages(module, wall=self.options.wall)

    def inputs(self) -> list[tuple[str, str | None]]:
        """(name, IR text) of every piece to process; text None means C files."""
        names: list[str] = self.args.inputs
        if self.front_end is not None:
            return [(names[0], None)]
        if len(names) > 1:
            raise error(
                UNKNOWN_LOC, "several inputs must all be C files", "give one .mlir file at a time"
            )
        named = names and names[0] != "-"
        if named and not names[0].endswith(IR):
            refuse_other_language(Path(names[0]), "a file of C or IR")
            refuse_machine_code(Path(names[0]), "a file of C or IR")
        text = read_ir_text(Path(names[0])) if named else decode(read_input(), "<stdin>")
        pieces = _split(text) if self.args.split_input_file else [text]
        return [(names[0] if names else "<stdin>", piece) for piece in pieces]

    def report(self) -> None:
        """Prints the collected diagnostics; raises a `CompileError` without diagnostics if there are errors
        among them."""
        said = list(self.sink.diagnostics)
        self.sink.diagnostics.clear()
        report(said)
        require_no_failing(said)

    def run_piece(self, name: str, text: str | None) -> str:
        if text is None:
            assert self.front_end is not None
            module = self.front_end()
            default_stage = ACC.name
        else:
            with phase("read IR"):
                check = check_saved if self.options.checks_ir else None
                module = parse_ir(self.ctx, text, name, check)
            default_stage = stage_of(module)
        return self.process(module, default_stage)

    def run(self) -> int:
        output: list[str] = []
        for i, (name, text) in enumerate(self.inputs()):
            if i > 0:
                output.append("// -----\n")
            try:
                output.append(self.run_piece(name, text))
            except (CompileError, VerifyException, DiagnosticException) as e:
                if not self.args.verify_diagnostics:
                    raise
                output.append("\n".join(map(render, mistakes_in_ir(e))) + "\n")
            finally:
                self.report()
        self.passes.report()
        write_text(Path(self.args.output) if self.args.output else None, "".join(output))
        return 0


def _split(text: str) -> list[str]:
    """The pieces between `// -----`, each with the empty lines before it that keep its line numbers."""
    pieces: list[str] = []
    line = 0
    for piece in text.split("// -----"):
        pieces.append("\n" * line + piece)
        line += piece.count("\n")
    return pieces
