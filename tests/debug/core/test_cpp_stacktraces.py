"""``TORCH_SHOW_CPP_STACKTRACES=1`` adds the C++ frames to an error.

Mirrors: nothing in PyTorch: its tests do not look at these lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import reftorch
from reftorch.debug.core import cpp_stacktraces

PROGRAM = """
import reftorch as torch
for call in (lambda: torch.ones(2, 3) @ torch.ones(2, 3), lambda: torch.ones(2)[5], lambda: torch.ones(1).int() << "a"):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error, sep=": ", end="\\0")
"""


def said(value: str) -> list[str]:
    env = {**os.environ, "TORCH_SHOW_CPP_STACKTRACES": value}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=env, check=True)
    return done.stdout.split("\0")


@pytest.mark.skipif(reftorch._C._build_type != "Debug", reason="the Release build has names, and no lines")
def test_the_frames_of_an_error() -> None:
    product, index, _, _ = said("1")
    lines = product.splitlines()
    assert lines[0] == "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"
    where = r"at::native::check_shapes_multiply (at|from) .*cpp/ATen/native/LinearAlgebra\.cpp:\d+"
    assert re.fullmatch(f"Exception raised from {where} \\(most recent call first\\):", lines[1])
    assert re.fullmatch(f"#0 {where}", lines[3]) and "#1 at::native::mm_out from " in product
    assert index.startswith("IndexError: ") and "Exception raised from " in index


def test_without_the_variable_the_message_is_alone() -> None:
    assert said("0")[0] == "RuntimeError: mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"


def test_frames_of_other_libraries_are_left_out() -> None:
    assert cpp_stacktraces.text([("/usr/lib/libc.so.6", 5)]) == ""
