"""Names of the package before its rooms were laid out: they work for one release, with a warning."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from accopt.compiler.base.moved import MOVED
from accopt.passes.decisions.polynomials import Polynomial
from accopt.passes.ir.ops.building import Cursor
from accopt.passes.ir.ops.versions import branches
from xdsl.dialects.builtin import UnknownLoc, i1
from xdsl.ir import Block


@pytest.mark.parametrize("old", MOVED)
def test_the_new_name_is_there_and_the_old_one_gone(old: str) -> None:
    import_module(f"accopt.{MOVED[old]}")


def test_an_old_name_works_and_says_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match=r"accopt\.passes\.ir\.values\.accesses now"):
        module = import_module("accopt.passes.analysis.accesses")
    assert module.root_of is import_module("accopt.passes.ir.values.accesses").root_of


def test_a_module_that_was_divided_and_a_name_that_changed() -> None:
    with pytest.warns(DeprecationWarning, match=r"decisions\.polynomials and .*value_polynomials"):
        module = import_module("accopt.passes.analysis.affine")
    assert module.Affine is Polynomial and module.from_value


def test_a_function_that_became_a_method() -> None:
    block = Block(arg_types=[i1])
    cursor = Cursor.at_end(block, UnknownLoc())
    with pytest.warns(DeprecationWarning, match=r"at\.if_else\(condition\) now"):
        then, otherwise = branches(cursor, block.args[0])
    assert then is not otherwise and len(list(block.ops)) == 1


def test_what_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module("accopt.passes.analysis.nothing")


def test_a_package_that_is_run_is_told(tmp_path: Path) -> None:
    """Python itself is silent about what libraries import."""
    (tmp_path / "outsider.py").write_text(
        "import accopt\nfrom accopt.passes.analysis import accesses"
    )
    program = [sys.executable, "-c", "import outsider"]
    said = subprocess.run(program, cwd=tmp_path, capture_output=True, text=True, check=True).stderr
    warned = (
        "outsider.py:2: MovedWarning: accopt.passes.analysis.accesses is accopt.passes.ir.values."
    )
    assert f"{warned}accesses now" in said
