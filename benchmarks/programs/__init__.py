"""
Programs that other people wrote: what of a collection compiles, links, runs and verifies, and how fast.

`python -m benchmarks.programs --collection FILE --checkout FOLDER` takes a checkout that is not part of
this repository, and a description of it (`collection.py`) that is not either; see `docs/programs.md`.
"""
