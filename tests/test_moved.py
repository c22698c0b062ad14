"""Names of the package before its rooms were laid out: they work for one release, with a warning."""

from __future__ import annotations

from importlib import import_module

import pytest
from accopt.compiler.base.moved import MOVED
from accopt.passes.decisions.polynomials import Polynomial


@pytest.mark.parametrize("old", MOVED)
def test_the_new_name_is_there_and_the_old_one_gone(old: str) -> None:
    import_module(f"accopt.{MOVED[old]}")


def test_an_old_name_works_and_says_the_new_one() -> None:
    with pytest.warns(DeprecationWarning, match=r"accopt\.passes\.ir\.accesses now"):
        module = import_module("accopt.passes.analysis.accesses")
    assert module.root_of is import_module("accopt.passes.ir.accesses").root_of


def test_a_module_that_was_divided_and_a_name_that_changed() -> None:
    with pytest.warns(DeprecationWarning, match=r"decisions\.polynomials and .*value_polynomials"):
        module = import_module("accopt.passes.analysis.affine")
    assert module.Affine is Polynomial and module.from_value


def test_what_never_was_is_not_found() -> None:
    with pytest.raises(ModuleNotFoundError):
        import_module("accopt.passes.analysis.nothing")
