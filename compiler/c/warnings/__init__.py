"""
Warnings about C that is valid but probably a mistake. Most are those of `-Wall`, each with the name that
`-Wno-NAME` and `-Werror=NAME` take. The modules read the typed tree and do not change it; headers are not
checked.
"""

from .unit import check_unit

__all__ = ["check_unit"]
