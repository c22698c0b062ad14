"""
accopt: a whole-program OpenACC C compiler.

From Python: `accopt.compiler.api` compiles and runs programs, `accopt.compiler.base.options` has the
options, `accopt.passes` and `accopt.dialects` are the packages for writing passes
(`docs/writing-a-pass.md`).
"""

__version__ = "0.2.0"

from .compiler.base import late_methods as _late_methods

_late_methods.install()
