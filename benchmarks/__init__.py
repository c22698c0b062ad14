"""Benchmarks: each kernel as OpenACC C and as hand-written CUDA C++, side by side in one run."""

from __future__ import annotations

import sys

ACCRUN = (sys.executable, "-m", "accopt.compiler.drivers.accrun_main")
"""The command that compiles and runs a program."""
