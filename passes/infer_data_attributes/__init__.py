"""
The pass `infer-data-attributes`: implicit data clauses, their sections, and visible clauses.
"""
