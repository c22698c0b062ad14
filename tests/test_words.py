"""
Docstrings, comments, messages and documents keep to plain English: each module has a docstring, the first
paragraph of each docstring ends like a sentence, and phrases that readers had to read twice do not return.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("compiler", "dialects", "passes", "runtime", "package", "benchmarks")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]

HABITS = {
    r"\b(?:stands?|stood) (?:in|on|at|before|behind|after|inside|around|between|there)\b": "is, comes",
    r"\b(?:nobody|somebody|whoever)\b": "name the one meant: a thread, the caller, the host",
    r"\bbehind (?:it|them|that|this)\b": "after",
    r"\b(?:runs?|loops?) in order\b": "sequentially, sequential",
    r"\b(?:it|that|this|which|one) is no (?!longer)": "is not a",
    r"\bsurely\b": "certainly",
    r"\bbut for\b": "except for",
    r"\bsees? to it\b": "checks, ensures",
    r"\bleft alone\b": "is not changed",
}
"""Regular expressions of phrases → words to use."""

_HABIT = re.compile("|".join(HABITS))
_TRIPLE = re.compile(r'(^[ \t]*(?=r?"))?r?f?"""(.*?)"""', re.DOTALL | re.MULTILINE)
_SHORT = re.compile(r'"[^"\n]*"|#.*')
"""Strings of one line, and comments."""
_DOCUMENTED = re.compile(r'\A(?:#.*\n|\s)*r?"""')
_ENDS = re.compile(r"""[.:?!…`)}|\]"']\Z""")


def _files(package: str) -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / package).rglob("*.py")):
        yield str(path.relative_to(ROOT)), path.read_text()


def _docstrings(source: str) -> Iterator[str]:
    """The texts in triple quotes that are statements; the others are code for LLVM and the like."""
    for found in _TRIPLE.finditer(source):
        before = source[max(0, found.start() - 200) : found.start()].rstrip()
        if found.group(1) is not None and before[-1:] not in tuple("(,[{=+"):
            yield "\n".join(" ".join(line.split()) for line in found.group(2).strip().splitlines())


def _habits(place: str, text: str) -> Iterator[str]:
    for hit in _HABIT.finditer(text):
        better = next(
            words for habit, words in HABITS.items() if re.search(habit, hit.group() + " ")
        )
        yield f"{place}: {text[max(0, hit.start() - 30) : hit.end() + 10]!r}: write {better!r}"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_has_a_docstring(package: str):
    assert [name for name, source in _files(package) if not _DOCUMENTED.match(source)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_first_paragraphs_end_like_sentences(package: str):
    bad = [
        f"{name}: {text}"
        for name, source in _files(package)
        for text in (text.split("\n\n")[0] for text in _docstrings(source))
        if not _ENDS.search(text) and " | " not in text
    ]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_and_messages_are_plain(package: str):
    found: list[str] = []
    for name, source in _files(package):
        short = _SHORT.findall(_TRIPLE.sub("", source))
        for text in [*(" ".join(text.split()) for text in _docstrings(source)), *short]:
            found += _habits(name, text)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_documents_are_plain(page: Path):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    found = list(_habits(page.name, " ".join(text.split())))
    assert not found, "\n".join(found)
