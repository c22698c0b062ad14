"""
OpenMP in host code (docs/openmp.md): directives rewritten, while a file is checked, to C that calls the
runtime in `runtime.c`, and to regions that a team of threads runs (`TeamStmt`).
"""
