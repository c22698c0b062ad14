"""
The passes: a file for each, or a folder for one of several files; `registry` lists them by name.
What they share is in `ir`, what they decide in `decisions`.
"""

from ..compiler.base.moved import follow_moves

follow_moves()
