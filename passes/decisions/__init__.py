"""
What passes decide, on plain values: no operation and no xDSL import is allowed here.

A pass reads a problem off the IR, asks a function here, and writes the answer back. Researchers
replace these.
"""
