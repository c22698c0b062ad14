"""
Sections that leave what is mapped: tiles read nothing there, whatever the data clause says of the array, and
where that is not known the directive is left to the hardware.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tools import commands

SOURCE = Path(__file__).parent / "extents.c"


def output(*options: str) -> tuple[str, str]:
    command = ["accrun", *options, str(SOURCE)]
    done = commands.run(command)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


@pytest.mark.parametrize("target", ["sim", pytest.param("nvptx", marks=pytest.mark.gpu)])
def test_nothing_unmapped_is_read(target: str) -> None:
    always = ("--pass-option", "promote-cache-to-shared{promote=always}")
    found, remarks = output(f"--target={target}", "--remarks", *always)
    assert found == output("--target=host")[0]
    assert remarks.count("cache(A) in shared memory") == 2
    assert "the mapped part of 'p' is not known" in remarks
