"""What README.md shows is what happens; `python docs/refresh.py` brings it up to date."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
REFRESH = runpy.run_path(str(ROOT / "docs" / "refresh.py"))


@pytest.mark.parametrize("block", REFRESH["console_blocks"](README))
def test_console_output(block: str) -> None:
    assert REFRESH["console_block"](block) == block, "python docs/refresh.py"


def test_pass_table() -> None:
    assert REFRESH["pass_table"]() in README, "python docs/refresh.py"


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_python(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))])
def test_files_named_exist(page: Path) -> None:
    text = page.read_text()
    named = set(
        re.findall(r"`((?:docs|examples|tests|passes|compiler|runtime|dialects)/[\w./-]*)`", text)
    )
    assert not {name for name in named if not (ROOT / name).exists()}
