"""Help on passes and stages: the output of `--list-passes`, `--help-pass` and `--list-stages`."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from xdsl.passes import get_pass_option_infos

from ...passes.ir.ops.machine import machine_attr
from ...passes.registry import PASS_CLASSES, pass_file
from ..added_passes import available_passes, load_pass
from ..base.options import CompileOptions
from ..pipeline import machine_for, pipeline_passes, stages

_REFERENCE = re.compile(r" \((?:OpenACC 3\.4|our reference|docs/|PTX ISA)[^)]*\)")


_TO_THE_MODULE = re.compile(r"^\s*See the module's \w+\.\s*")


def job_of(path: Path) -> str:
    """The first paragraph of a pass's docstring, without its references, as one line."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    text = " ".join(docstring.partition("\n\n")[0].split())
    return _REFERENCE.sub("", text).rstrip(".")


def list_passes() -> str:
    """All passes in this environment: ours with their summaries in the order of the pipeline, then those of
    others."""
    width = max(map(len, PASS_CLASSES))
    lines = [f"{name:{width}}  {job_of(pass_file(name))}" for name in PASS_CLASSES]
    others = sorted(available_passes().keys() - PASS_CLASSES.keys())
    lines += ["", "Of xDSL and installed plugins, for -p and --after too:"]
    lines.append(
        textwrap.fill(" ".join(others), 98, break_on_hyphens=False, break_long_words=False)
    )
    return "\n".join(lines) + "\n"


def _values(type: Any) -> str:
    """The possible values of an option of this type, as text."""
    if isinstance(type, UnionType) or get_origin(type) is Union:
        return " | ".join(_values(part) for part in get_args(type) if part is not NoneType)
    if get_origin(type) is Literal:
        return " | ".join(str(value) for value in get_args(type))
    if get_origin(type) is tuple:
        part = _values(get_args(type)[0])
        return f"{part},{part},…"
    names = {bool: "true | false", int: "INTEGER", float: "NUMBER", str: "STRING"}
    return names.get(type, str(type))


def describe_pass(name: str) -> str:
    """The contract of a pass and its options. Raises `CompileError` if there is none of that name."""
    cls = load_pass(name, available_passes())
    module = sys.modules[cls.__module__]
    described = [module.__doc__ or ""]
    own = _TO_THE_MODULE.sub("", cls.__doc__ or "")
    if not own.startswith(f"{cls.__name__}("):  # the docstring that dataclasses generate
        described.append(own)
    lines = [name, ""]
    for text in described:
        if text.strip():
            lines += [textwrap.dedent(text).strip(), ""]
    options = get_pass_option_infos(cls)
    types = get_type_hints(cls)
    lines.append("Options:" if options else "No options.")
    for option in options:
        default = ""
        if option.default_value == "none":
            default = " (default: from the module's machine attribute)"
        elif option.default_value not in (None, "", "()"):
            default = f" (default {option.default_value})"
        lines.append(f"  {option.name}={_values(types[option.name])}{default}")
    return "\n".join(lines) + "\n"


def list_stages(options: CompileOptions) -> str:
    """The stages of a target, with the passes that lead to each, their options, and the reasons for the
    order."""
    lines = [f"The module says: {machine_attr(machine_for(options))}", ""]
    passes = pipeline_passes(options)
    for stage in stages(options.target):
        lines.append(stage.name)
        lines += textwrap.wrap(stage.why, 96, initial_indent="  ", subsequent_indent="  ")
        lines += [f"    {made.pipeline_pass_spec()}" for made in passes[stage.name]]
        lines.append("")
    return "\n".join(lines)
