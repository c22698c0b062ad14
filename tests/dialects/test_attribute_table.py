"""The tables of `accx.*` attributes (`dialects/accx.py`, `dialects/accx_compress.py`) say all there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import front_end
from accopt.compiler.ir.context import make_context
from accopt.compiler.pipeline import run_to_stage
from accopt.dialects import accx, accx_compress
from accopt.dialects.facts import FACTS

ROOT = Path(__file__).parents[2]
MODULES = {"accx": accx, "accx_compress": accx_compress}
SOURCES = [
    path
    for room in ("compiler", "passes", "runtime")
    for path in (ROOT / room).rglob("*.py")
    if "tests" not in path.parts
]


def _table(module) -> list[str]:
    return re.findall(r"^\| `(accx\.\w+)` \|", module.__doc__ or "", re.MULTILINE)


def _constants(module) -> dict[str, str]:
    """Constant → name of the attribute, for those that the module's source defines."""
    text = Path(module.__file__).read_text()
    return dict(re.findall(r'^([A-Z_]+) = "(accx\.\w+)"$', text, re.MULTILINE))


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_table_and_constants_agree(module):
    assert sorted(_table(module)) == sorted(_constants(module).values())


def test_what_the_checker_knows():
    assert sorted(FACTS) == sorted(name for module in MODULES.values() for name in _table(module))


@pytest.mark.parametrize("module", MODULES.values(), ids=MODULES)
def test_every_attribute_is_used(module):
    code = "\n".join(path.read_text() for path in SOURCES)
    unused = [name for name in _constants(module) if not re.search(rf"\b{name}\b", code)]
    assert not unused


def test_names_are_written_in_the_dialect_only():
    """Elsewhere the constants are used: a string of its own would escape the table."""
    names = {name for module in MODULES.values() for name in _table(module)}
    found = [
        (str(path.relative_to(ROOT)), name)
        for path in SOURCES
        for name in re.findall(r'"(accx\.\w+)"', path.read_text())
        if name in names
    ]
    assert not found


@pytest.mark.parametrize("target", ["nvptx", "host"])
@pytest.mark.parametrize("name", ["jacobi", "histogram"])
def test_attributes_of_programs_are_in_the_table(name: str, target):
    options = CompileOptions(target=target)
    known = {name for module in MODULES.values() for name in _table(module)}
    found: set[str] = set()

    def collect(ctx, module_pass, module) -> None:
        module_pass.apply(ctx, module)
        for op in module.walk():
            found.update(key for key in op.attributes if key.startswith("accx."))

    module = front_end([ROOT / "examples" / f"{name}.c"], options, DiagnosticSink())
    run_to_stage(make_context(), module, "nvvm", options, collect)
    assert accx.WHY in found and found <= known
