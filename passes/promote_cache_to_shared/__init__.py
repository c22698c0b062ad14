"""
The pass `promote-cache-to-shared`: finding nests, choosing tiles, and the code of a block of
threads.

Code shared with the other passes on cache directives is in `passes/ir/data/cached_*.py`.
"""
