"""
C: preprocessing, parsing (pycparser), types, and the checked, typed tree of `ast.py` that irgen
reads.
"""
