"""
Warnings about C that is valid and probably not what was meant: most are those of `-Wall`, each with the
name that `-Wno-NAME` and `-Werror=NAME` take. They read the typed tree,
change nothing, and leave headers alone.
"""

from .unit import check_unit

__all__ = ["check_unit"]
