"""
The paths that repeat, as native code compiled once per program: data clauses, launches, CPU
threads, transfers.
"""
