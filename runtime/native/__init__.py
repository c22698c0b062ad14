"""
Frequent paths of the runtime as native code, compiled once per program: data clauses, launches, CPU
threads, transfers.
"""
