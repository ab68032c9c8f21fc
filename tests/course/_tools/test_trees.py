"""Questions to a call tree, answered on trees made by hand.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

import reftorch as torch
from course._tools.layout import ROOT
from course._tools.trees import (
    KERNELS,
    bare,
    called,
    callers,
    is_first_kernel,
    kernels,
    leads_to_first_kernel,
)
from reftorch.debug import call_tree
from reftorch.debug.core.op_sources import registered


@dataclass
class Node:
    """As much of a node of `reftorch.debug.call_tree` as is asked."""

    name: str
    file: str = ""
    children: list = field(default_factory=list)


@dataclass
class Tree:
    threads: list


KERNEL = Node("at::native::(anonymous namespace)::add_kernel", f"{ROOT}/cpp/ATen/native/cpu/BinaryOpsKernel.cpp")
STUB = Node(
    "at::native::DispatchStub<void (*)(int)>::operator()<int>", f"{ROOT}/cpp/ATen/native/DispatchStub.h", [KERNEL]
)
REPEATED = Node("", children=[Node("at::numel")])
TREE = Tree(
    [[Node("at::native::add_out(Tensor&)", f"{ROOT}/cpp/ATen/native/BinaryOps.cpp", [REPEATED, STUB])], [Node("f")]]
)


def test_functions_come_in_the_order_they_were_entered():
    assert called(TREE) == ["add_out", "numel", "operator()", "add_kernel", "f"]


def test_callers_lead_from_the_outermost_to_the_function():
    assert callers(TREE, "add_kernel") == [
        ("add_out", "cpp/ATen/native/BinaryOps.cpp"),
        ("operator()", "cpp/ATen/native/DispatchStub.h"),
    ]
    assert callers(TREE, "numel") == [("add_out", "cpp/ATen/native/BinaryOps.cpp")]
    assert callers(TREE, "add_out") == callers(TREE, "absent") == []


def test_a_bare_name_has_no_namespace_arguments_or_template_arguments():
    assert bare("void at::native::mul_kernel(at::TensorIterator&)") == "mul_kernel"
    assert bare("at::native::binary_op_out<at::native::mul_stub>") == "binary_op_out"
    assert bare("at::native::mul_kernel::{lambda#1}") == "{lambda#1}"


def test_a_kernel_is_what_is_registered_for_a_stub():
    assert kernels(TREE) == ["add_kernel"]
    inner = Node("at::native::comparison_kernel", KERNEL.file)
    elsewhere = Node("at::native::mul_kernel", f"{ROOT}/cpp/ATen/native/BinaryOps.cpp")
    assert kernels(Tree([[Node("at::native::ne_kernel", KERNEL.file, [inner]), elsewhere]])) == ["ne_kernel"]


def test_a_check_asks_for_the_kernel_and_its_caller_without_saying_them():
    assert is_first_kernel(TREE, "add_kernel")
    assert not is_first_kernel(TREE, "numel")
    assert leads_to_first_kernel(TREE, "add_out", "cpp/ATen/native/BinaryOps.cpp")
    assert not leads_to_first_kernel(TREE, "operator()", "cpp/ATen/native/DispatchStub.h")
    assert not leads_to_first_kernel(TREE, "add_out", "cpp/ATen/native/cpu/BinaryOpsKernel.cpp")


# The lesson on debugging keeps what stands in native/cpu, and says that where nothing does there is no kernel.
RUNS = {
    "clamp": lambda x: x.clamp(0, 1),
    "sub": lambda x: x - x,
    "softmax": lambda x: x.softmax(1),
    "log_softmax": lambda x: x.log_softmax(1),
    "layer_norm": lambda x: torch.nn.functional.layer_norm(x, [2]),
    "cat": lambda x: torch.cat([x, x]),
    "matmul": lambda x: x @ x,
    "where": lambda x: torch.where(x > x.t(), x, x),
    "mse_loss": lambda x: torch.nn.functional.mse_loss(x, x),
    "sort": lambda x: x.sort(),
    "transposed copy": lambda x: x.t().contiguous(),
    "flatten": lambda x: x.flatten(),
    "t": lambda x: x.t(),
    "expand": lambda x: x.unsqueeze(0).expand(3, 2, 2),
}


@contextmanager
def stub_calls() -> Iterator[set[str]]:
    """The names of the stubs that are called in the block, once it has ended."""
    if not torch._C._debug.record_stub_calls(True):
        pytest.skip("only the Debug build records the calls of stubs")
    torch._C._debug.take_stub_calls()
    found: set[str] = set()
    try:
        yield found
    finally:
        found |= torch._C._debug.take_stub_calls()
        torch._C._debug.record_stub_calls(False)


@pytest.mark.parametrize("what", RUNS)
def test_the_kernels_in_a_tree_are_those_of_the_stubs_that_were_called(what):
    x = torch.tensor([[-1.0, 0.5], [2.0, 3.0]])
    with stub_calls() as stubs:
        RUNS[what](x)
    with call_tree() as tree, torch.no_grad():
        RUNS[what](x)
    assert set(kernels(tree)) == {registered()[stub]["CPU"]["function"] for stub in stubs}


@pytest.mark.parametrize("what", RUNS)
def test_where_no_function_of_native_cpu_runs_there_is_no_kernel(what):
    x = torch.tensor([[-1.0, 0.5], [2.0, 3.0]])
    with call_tree(hide=r"^(?!\S*/native/cpu/)") as tree:
        RUNS[what](x)
    assert bool(called(tree)) == bool(kernels(tree)) == (what not in ("flatten", "t", "expand"))


@pytest.mark.parametrize("what", ["clamp", "sub", "softmax"])  # those of the lesson
def test_the_first_line_of_a_tree_of_native_cpu_is_the_kernel(what):
    with call_tree(hide=r"^(?!\S*/native/cpu/)") as tree:
        RUNS[what](torch.tensor([[-1.0, 0.5], [2.0, 3.0]]))
    assert called(tree)[:1] == kernels(tree)


def test_every_kernel_stands_in_native_cpu():
    files = {devices["CPU"]["file"] for devices in registered().values() if "CPU" in devices}
    assert files
    assert {file for file in files if KERNELS not in file} == set()
