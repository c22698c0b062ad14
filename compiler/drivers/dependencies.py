"""Dependency rules for make, with the files that an object depends on, as C compilers write them for `-MD`
and the like."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ..c.preprocess import PreprocessedSource
from .outputs import print_output, write_output

_MARKER = re.compile(r'^#(?:line)? \d+ "((?:[^"\\]|\\.)*)"', re.MULTILINE)
_OWN_HEADERS = Path(__file__).parent.parent / "c" / "include"


def add_dependency_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options; they set `depend`, `depend_only`, `depend_file`, `depend_target`, `depend_phony`."""
    group = parser.add_argument_group("dependencies for make")
    group.add_argument(
        "-MD", "-MMD", dest="depend", action="store_true", help="write them beside the object"
    )
    group.add_argument("-M", "-MM", dest="depend_only", action="store_true", help="print them")
    group.add_argument("-MF", dest="depend_file", metavar="FILE", type=Path, help="file for them")
    group.add_argument("-MT", "-MQ", dest="depend_target", metavar="NAME", help="what depends")
    group.add_argument(
        "-MP", dest="depend_phony", action="store_true", help="a rule for every header too"
    )


def write_dependencies(source: PreprocessedSource, args: argparse.Namespace, output: str) -> None:
    """Writes the rule for `output`, compiled from `source`, to the file that the options name."""
    headers = headers_of(source)
    rule = f"{args.depend_target or output}: {' '.join([source.file, *headers])}\n"
    if args.depend_phony:
        rule += "".join(f"{header}:\n" for header in headers)
    if args.depend_file is None and args.depend_only:
        print_output(rule)
    else:
        write_output(args.depend_file or Path(output).with_suffix(".d"), rule.encode())


def headers_of(source: PreprocessedSource) -> list[str]:
    """The files that `source` includes, without accopt's own headers, in the order of inclusion."""
    names = dict.fromkeys([*source.read, *_MARKER.findall(source.text)])
    return [
        name
        for name in names
        if name != source.file
        and not name.startswith("<")
        and not Path(name).is_relative_to(_OWN_HEADERS)
    ]
