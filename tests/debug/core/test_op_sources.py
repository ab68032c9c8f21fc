"""Where an op starts in C++, for every op that there is: held to the library that was built.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: stops there; see test_printers.py and test_magics.py.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import reftorch as torch
from reftorch.debug.core import op_sources
from reftorch.debug.core.where_op import schemas

OPS = sorted({schema.split(".")[0] for schema in schemas()})


def starts(name: str) -> list[str]:
    """The functions where `rt-op` would stop."""
    found = (op_sources.starts(op) for op in op_sources.names_of(name))
    return [function.name for function in next((each for each in found if each), [])]


@pytest.fixture(scope="module")
def functions() -> set[str]:
    """The names of the functions of at::native (and of autograd, for detach) in the library."""
    table = subprocess.run(
        ["nm", "-C", "--defined-only", torch._C.__file__], capture_output=True, text=True, check=True
    ).stdout
    table = table.replace("(anonymous namespace)::", "")
    return set(re.findall(r"reftorch::(?:at::native|torch::autograd)::(?:\w+::)*(\w+)[<(]", table))


def test_every_op_starts_at_functions_of_the_library(functions: set[str]) -> None:
    lost = {op: starts(op) for op in OPS if not starts(op) or not functions.issuperset(starts(op))}
    assert not lost


def test_every_kernel_that_is_registered_is_found_where_it_is_defined() -> None:
    stubs = op_sources.registered()
    assert len(stubs) > 150
    for stub in stubs:
        (kernel,) = op_sources.kernels([stub])
        assert kernel.path.parent.name == "cpu"
        assert kernel.name in "".join(kernel.path.read_text().split("\n")[kernel.line - 4 : kernel.line])


def test_gdb_asks_another_python_once_for_each_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "reftorch" / "lib" / "Debug" / "_C.some.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"one build")
    files = [SimpleNamespace(filename=name) for name in (None, "/lib/libc.so.6", str(library))]
    monkeypatch.setitem(sys.modules, "gdb", SimpleNamespace(objfiles=lambda: files))
    answers: list[dict[str, Any]] = []

    def ask(python: str) -> dict[str, Any]:
        answers.append({"library": answered, "ops": {"aten::mul": {"line": len(answers)}}})
        return answers[-1]

    monkeypatch.setattr(op_sources, "ask", ask)
    answered = str(library)
    assert op_sources.ask_in_gdb() == op_sources.ask_in_gdb() == answers[0]
    library.write_bytes(b"another build")
    assert op_sources.ask_in_gdb() == op_sources.ask_in_gdb() == answers[1]
    assert len(answers) == 2
    library.write_bytes(b"a build that the other Python does not load")
    answered = "/usr/lib/_C.so"
    assert op_sources.ask_in_gdb() != op_sources.ask_in_gdb()
    library.unlink()  # while gdb holds the program
    assert op_sources.ask_in_gdb() == answers[-1]


def test_another_python_is_told_the_same() -> None:
    answer = op_sources.ask(sys.executable)
    own = op_sources.registry()
    assert answer["library"] == own["library"]
    assert answer["ops"]["aten::mul.Tensor"]["kernels"] == json.loads(
        json.dumps(own["ops"]["aten::mul.Tensor"]["kernels"])
    )
    assert set(answer["ops"]) == set(own["ops"])


@pytest.mark.parametrize(
    ("op", "kernels"),
    [
        ("mul", ["mul_kernel"]),
        ("sub", ["add_kernel"]),
        ("lerp", ["lerp_scalar_kernel", "lerp_tensor_kernel"]),
        ("div", ["div_true_kernel", "div_trunc_kernel", "div_floor_kernel"]),
        ("pow", ["pow_tensor_tensor_kernel", "pow_tensor_scalar_kernel"]),
        ("std", ["std_var_kernel"]),
        ("_softmax", ["softmax_kernel_impl"]),
        ("not_equal", ["ne_kernel"]),
        ("special_hermite_polynomial_h", ["hermite_polynomial_h_kernel"]),
        ("ceil", ["ceil_kernel"]),  # and not copy_kernel, which it calls for integers
        ("copy_", ["copy_kernel"]),
        ("fill_", ["fill_kernel"]),
    ],
)
def test_kernels_go_by_what_is_registered_and_not_by_their_names(op: str, kernels: list[str]) -> None:
    assert starts(op) == kernels


@pytest.mark.parametrize(
    ("op", "function"), [("softmax", "softmax"), ("view", "view"), ("hstack", "joined"), ("ger", "outer")]
)
def test_what_has_no_kernel_of_its_own_starts_at_its_function(op: str, function: str) -> None:
    assert starts(op)[0] == function


@pytest.mark.parametrize("name", ["torch.mul", "Tensor.mul", "mul_", "mul.Tensor", "aten::mul", "multiply", " mul "])
def test_every_name_of_an_op_will_do(name: str) -> None:
    assert starts(name) == ["mul_kernel"]


def test_packages_of_functions_are_part_of_the_name() -> None:
    assert starts("torch.linalg.qr") == starts("linalg_qr")
    assert {"geqrf_kernel", "orgqr_kernel"} <= set(starts("linalg_qr"))
    assert starts("torch.special.i1") == ["special_i1_kernel"]


@pytest.mark.parametrize("name", ["", "mull", "mul_kernel", "weight", "operator()", "at::mul", "BinaryOpsKernel.cpp"])
def test_what_is_no_op_starts_nowhere(name: str) -> None:
    assert starts(name) == []


def test_all_names_are_those_of_the_ops() -> None:
    assert op_sources.all_names() == set(OPS)


def test_the_python_that_is_asked_has_a_home_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A gdb from PyPI sets variables for the Python inside gdb, and a program may run in another Python."""
    (tmp_path / "typing.py").write_text("raise ImportError('the module of another Python')")
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "aten::mul.Tensor" in op_sources.ask(sys.executable)["ops"]
