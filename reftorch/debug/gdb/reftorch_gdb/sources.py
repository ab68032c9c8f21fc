"""Finds the C++ sources by reftorch/_source_paths.py, which gdb's Python cannot import.

Mirrors: nothing in PyTorch, whose wheel has no sources.
Left out: everything else that the file says; see there.
"""

import importlib.util
import os
import sys

NAME = "_reftorch__source_paths"
if NAME not in sys.modules:  # op_sources.py loads the file, too
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), *3 * [os.pardir], "_source_paths.py")
    spec = importlib.util.spec_from_file_location(NAME, os.path.abspath(path))
    assert spec is not None and spec.loader is not None
    sys.modules[NAME] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[NAME])
paths = sys.modules[NAME]
root = str(paths.source_root())  # it contains cpp, and in build what the build wrote


def is_source(path):
    """Return whether a file is a source, or a file such as ATen/Functions.cpp that the build wrote."""
    return path.startswith(root + "/cpp/") or (path.startswith(root + "/build/") and "/generated/" in path)
