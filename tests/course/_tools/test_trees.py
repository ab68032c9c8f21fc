"""Questions to a call tree, answered on trees made by hand.

Mirrors: nothing in PyTorch: PyTorch ships no course.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from course._tools.layout import ROOT
from course._tools.trees import bare, called, callers


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
