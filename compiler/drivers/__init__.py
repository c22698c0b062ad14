"""
The commands `accopt`, `accrun` and `accc`: their options, object files and executables, and the code that
runs a program.

Nothing else of accopt imports this.
"""
