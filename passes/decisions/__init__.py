"""
Decisions of passes as functions on plain values. Modules here take no operations and do not import xDSL.

A pass reads its problem from the IR, calls a function here, and writes the result back. To try another
heuristic, replace the function.
"""
