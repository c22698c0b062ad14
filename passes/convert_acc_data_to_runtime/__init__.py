"""
The pass `convert-acc-data-to-runtime`: records of data clauses, calls of the runtime, and their
sites.
"""
