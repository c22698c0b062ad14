"""
OpenMP in host code (docs/openmp.md): while a file is checked, directives are rewritten to C that calls the
runtime in `runtime.c`, and to regions that a team of threads runs (`TeamStmt`).
"""
