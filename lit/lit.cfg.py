"""lit configuration: `lit lit/` runs every FileCheck test of the tree."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "tools"))
from forked_lit import ForkedFormat

config.name = "accopt"
config.test_format = ForkedFormat()
config.suffixes = [".mlir", ".c"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(os.path.dirname(__file__), "Output")
bin_dir = os.path.dirname(sys.executable)
config.environment["PATH"] = os.pathsep.join((bin_dir, "/usr/bin", os.environ["PATH"]))
for tool in ("mlir-opt-22", "mlir-opt"):
    if any(os.access(os.path.join(d, tool), os.X_OK) for d in os.environ["PATH"].split(os.pathsep)):
        config.available_features.add("mlir-opt")
        config.substitutions.append(("mlir-opt", tool))
        break
