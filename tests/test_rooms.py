"""
The rooms of the architecture (docs/design.md, "Rooms"): what is below never imports what is above, and no
module imports itself by way of others.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

ALLOWED: dict[str, tuple[str, ...]] = {
    "compiler.base": (),
    "dialects": ("compiler.base",),
    "passes.decisions": ("compiler.base",),
    "passes.ir": (),
    "passes": ("compiler.base", "dialects", "passes.decisions", "passes.ir"),
    "compiler.backend": ("compiler.base",),
    "runtime": ("compiler.base", "compiler.backend", "dialects"),
    "runtime.sim": ("compiler.base", "compiler.backend", "dialects", "runtime"),
    "compiler.c": ("compiler.base", "compiler.directives"),
    "compiler.directives": ("compiler.base", "compiler.c"),
    "compiler.llvmir": ("compiler.base", "dialects"),
    "compiler.ir": ("compiler.base", "dialects"),
    "compiler.irgen": (
        "compiler.base",
        "compiler.c",
        "compiler.directives",
        "dialects",
        "passes.decisions",
        "passes.ir.ops",
        "passes.ir.variables",
    ),
    "compiler": ("compiler", "dialects", "passes", "runtime"),
}
"""
Room → what its modules may import besides the room itself. The longest name that fits is a module's room.
"""

WITHOUT_XDSL = ("passes.decisions", "compiler.backend")

BETWEEN_PASSES = {("passes.split_kernels", "passes.infer_data_attributes")}
"""
A pass that needs another one's work: pieces of a kernels construct get data attributes as they are made.
"""

SHELF = {
    "ops": (),
    "values": ("ops",),
    "data": ("ops", "values"),
    "variables": ("ops", "values", "data"),
    "dependence": ("ops", "values", "data", "variables"),
    "kernels": ("ops", "values", "variables"),
    "loops": ("ops", "values", "data", "variables", "kernels"),
}
"""
The rooms of `passes.ir`, and what each imports of the others.
"""

ALLOWED |= {
    f"passes.ir.{room}": (
        "compiler.base",
        "dialects",
        "passes.decisions",
        *(f"passes.ir.{other}" for other in below),
    )
    for room, below in SHELF.items()
}


def modules() -> dict[str, Path]:
    """All modules of the package, by dotted name."""
    found: dict[str, Path] = {}
    for top in ("compiler", "dialects", "passes", "runtime"):
        for path in (ROOT / top).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


MODULES = modules()


def room_of(module: str) -> str:
    return max((room for room in ALLOWED if f"{module}.".startswith(f"{room}.")), key=len)


@cache
def imports(module: str) -> tuple[tuple[str, int], ...]:
    """What a module imports at run time, with the line; imports for type checkers alone do not count."""
    return tuple(_imports(module, MODULES[module]))


def _imports(module: str, path: Path) -> Iterator[tuple[str, int]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for_types = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            base = parts[: len(parts) - node.level + 1] if node.level else []
            target = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                whole = f"{target}.{alias.name}"
                yield (whole if whole in MODULES else target), node.lineno


def is_within(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def may_import(room: str, imported: str) -> bool:
    """Whether modules of a room may import a module."""
    if imported not in MODULES:
        return imported.split(".")[0] != "xdsl" or room not in WITHOUT_XDSL
    return room_of(imported) == room or any(is_within(imported, other) for other in ALLOWED[room])


def test_imports_only_what_is_below() -> None:
    wrong = [
        f"{module}:{line} imports {imported}, which '{room_of(module)}' may not"
        for module in MODULES
        for imported, line in imports(module)
        if not may_import(room_of(module), imported)
    ]
    assert len(MODULES) > 500 and wrong == []


def test_no_module_imports_itself_in_a_circle() -> None:
    """Imports in functions count, too: they are there to start quickly, not to hide a knot."""
    knot = {
        module: {other for other, _ in imports(module) if other in MODULES} for module in MODULES
    }
    size = 0
    while len(knot) != size:
        size = len(knot)
        imported = set[str]().union(*knot.values())
        knot = {m: own & knot.keys() for m, own in knot.items() if m in imported}
        knot = {m: own for m, own in knot.items() if own}
    assert knot == {}


def pass_of(module: str) -> str | None:
    """The file or folder of the pass that a module belongs to; None for modules that passes share."""
    parts = module.split(".")
    own = ".".join(parts[:2])
    shared = {"passes", "passes.decisions", "passes.ir", "passes.registry"}
    return own if parts[0] == "passes" and own not in shared else None


def test_passes_do_not_import_each_other() -> None:
    wrong = [
        f"{module}:{line} imports {imported}: put what both need into passes/ir"
        for module in MODULES
        if pass_of(module) is not None
        for imported, line in imports(module)
        if pass_of(imported) not in (None, pass_of(module))
        and (pass_of(module), pass_of(imported)) not in BETWEEN_PASSES
    ]
    assert wrong == []


def test_every_room_says_what_is_in_it() -> None:
    rooms = [path for path in MODULES.values() if path.name == "__init__.py"]
    assert len(rooms) > 20
    for path in rooms:
        assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))), path


@pytest.mark.parametrize("room", SHELF)
def test_a_room_of_the_shelf_can_be_overlooked(room: str) -> None:
    """All shared helpers are in one of its rooms, and none is a heap."""
    own = {m for m in MODULES if is_within(m, f"passes.ir.{room}")}
    assert 5 < len(own) <= 25
    assert {m.split(".")[2] for m in MODULES if m.startswith("passes.ir.")} == set(SHELF)


def test_a_class_name_means_one_thing() -> None:
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for module, path in MODULES.items():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    assert len(homes) > 500
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_a_clause_is_known_to_few_files() -> None:
    """`scan` has a syntax, a marker, a pass and code for two targets; others ask `dialects/together.py`."""
    known = re.compile(
        r"\b(ScanClause|ScanForm|Scan(Step)?Op|accx_scan|scan_form|expand.?scans)\b|Form.SCAN"
    )
    files = {
        module for module, path in MODULES.items() if known.search(path.read_text(encoding="utf-8"))
    }
    assert len(files) <= 15, sorted(files)


_NAMED = re.compile(r"`((?:\w+/)*\w+\.py)`")


def test_files_that_texts_name_are_there() -> None:
    own = ("compiler", "dialects", "passes", "runtime", "tests", "benchmarks", "package")
    known = {
        f"/{path.relative_to(ROOT).as_posix()}"
        for top in own
        for path in (ROOT / top).rglob("*.py")
    }
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]
    texts = [*MODULES.values(), *pages]
    lost = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in texts
        for name in _NAMED.findall(path.read_text(encoding="utf-8"))
        if not any(file.endswith(f"/{name}") for file in known)
    }
    assert lost == set()
