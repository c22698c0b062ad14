"""What README.md and docs show is what happens; `python docs/refresh.py` brings it up to date."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
REFRESH = runpy.run_path(str(ROOT / "docs" / "refresh.py"))
PAGES: dict[str, str] = {page.name: page.read_text() for page in REFRESH["PAGES"]}


@pytest.mark.parametrize(
    "block", [block for text in PAGES.values() for block in REFRESH["console_blocks"](text)]
)
def test_console_output(block: str) -> None:
    assert REFRESH["console_block"](block) == block, "python docs/refresh.py"


def test_pass_table() -> None:
    assert REFRESH["pass_table"]() in PAGES["passes.md"], "python docs/refresh.py"


@pytest.mark.parametrize("page", ["python.md", "analyses.md"])
def test_python(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The blocks of a page are one program."""
    monkeypatch.chdir(ROOT)
    code = "\n".join(re.findall(r"```python\n(.*?)```", PAGES[page], re.DOTALL))
    exec(compile(code, page, "exec"), {})


@pytest.mark.parametrize("page", PAGES)
def test_files_named_exist(page: str) -> None:
    text = PAGES[page]
    named = set(
        re.findall(r"`((?:docs|examples|tests|passes|compiler|runtime|dialects)/[\w./-]*)`", text)
    )
    assert not {name for name in named if not (ROOT / name).exists()}


@pytest.mark.parametrize("page", REFRESH["PAGES"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    assert not {target for target in targets if not (page.parent / target).exists()}


def test_every_page_is_in_the_index() -> None:
    pages = {path.name for path in REFRESH["PAGES"] if path.parent.name == "docs"} - {"README.md"}
    assert pages <= set(re.findall(r"\]\(([\w-]+\.md)\)", (ROOT / "docs/README.md").read_text()))
