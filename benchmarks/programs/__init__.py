"""
Measures collections of programs that other people wrote: which programs compile, link, run and verify, and
how fast they are.

`python -m benchmarks.programs --collection FILE --checkout FOLDER` takes a checkout and its description
(`collection.py`), which are both not part of this repository; see `docs/programs.md`.
"""
