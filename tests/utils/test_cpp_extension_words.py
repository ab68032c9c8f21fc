"""An extension that was written for PyTorch compiles here, and computes what Python computes.

Mirrors: test/test_cpp_extensions_jit.py
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
import reftorch.nn.functional as F
from reftorch.testing import assert_close
from reftorch.utils import cpp_extension

SOURCE = Path(__file__).with_name("lltm.cpp")


@pytest.fixture(scope="module")
def lltm(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("lltm")
    return cpp_extension.load("lltm", str(SOURCE), build_directory=str(folder))


@pytest.fixture
def x() -> Any:
    torch.manual_seed(0)
    return torch.randn(2, 3)


def test_a_cell_and_its_gradient(lltm: Any) -> None:
    torch.manual_seed(0)
    weights, bias = torch.randn(12, 7, requires_grad=True), torch.randn(1, 12, requires_grad=True)
    inputs = [torch.randn(2, 3, requires_grad=True), torch.randn(2, 4, requires_grad=True), torch.randn(2, 4)]
    new_h, new_cell, *saved = lltm.forward(inputs[0], weights, bias, *inputs[1:])
    scores = torch.addmm(bias, torch.cat([inputs[1], inputs[0]], 1), weights.t())
    gate, out, candidate = scores.chunk(3, 1)
    assert_close(new_cell, inputs[2] + F.elu(candidate) * gate.sigmoid())
    assert_close(new_h, new_cell.tanh() * out.sigmoid())
    recorded = torch.autograd.grad(new_h.sum() + new_cell.sum(), [inputs[1], inputs[0], weights, bias])
    ones = torch.ones(2, 4)
    by_hand = lltm.backward(ones, ones, *(t.detach() for t in [new_cell, *saved]), weights.detach())
    for ours, wanted in zip(by_hand, recorded, strict=False):
        assert_close(ours, wanted)


def test_memory_by_pointers_and_accessors(lltm: Any, x: Any) -> None:
    assert_close(lltm.muladd(x, x, 2.0), x * x + 2)
    assert_close(lltm.muladd(x, c=1.0, b=x), x * x + 1)
    assert_close(lltm.sum_rows(x.double().t()), x.double().t().sum(1))
    with pytest.raises(RuntimeError, match="a must be contiguous"):
        lltm.muladd(x.t(), x.t())
    with pytest.raises(RuntimeError, match="TensorAccessor expected 2 dims but tensor has 1"):
        lltm.sum_rows(x[0])


def test_memory_of_the_extension_is_freed_with_the_last_tensor(lltm: Any) -> None:
    before = lltm.number_of_freed_blobs()
    whole = lltm.blob(6)
    row = whole[1]
    del whole
    assert row.tolist() == [3.0, 4.0, 5.0] and lltm.number_of_freed_blobs() == before
    del row
    assert lltm.number_of_freed_blobs() == before + 1


def test_factories_take_options(lltm: Any, x: Any) -> None:
    long, double = torch.int64, torch.float64
    wanted = [
        torch.zeros(2, 3, dtype=double, requires_grad=True),
        torch.ones(2, dtype=torch.int32),
        torch.full((2,), 3.5),
        torch.arange(5, dtype=torch.float32),
        torch.eye(2),
        torch.ones(2, 3),
        torch.linspace(0, 1, 3),
        torch.tensor([1, 2, 3]),
        torch.tensor(2.5),
        torch.tensor([True, False]),
        torch.tensor([1.5, 2.5], dtype=double),
        torch.zeros(2),
        torch.ones(2, dtype=long),
        torch.zeros(2, 3, dtype=double),
        torch.zeros(2, dtype=long),
        torch.zeros(2),
        torch.ones(1, dtype=torch.float16),
    ]
    for ours, theirs in zip(lltm.factories(x), wanted, strict=True):
        assert_close(ours, theirs)
        assert ours.requires_grad == theirs.requires_grad


def test_calls_of_functions_methods_and_operators(lltm: Any, x: Any) -> None:
    y = ((2 * x + 0.5 + x - 1) / 2) ** 2
    largest = x.topk(1)
    wanted = [
        *(x.sum(), x.sum(-1), x.sum((0, 1)), x.mean(0, True), x.view(-1), x.reshape(3, 2).t(), x.permute(1, 0), y),
        *(
            *y.max(1),
            *largest,
            x[0],
            x[0, 1],
            x.double(),
            x.long(),
            x,
            x > 0,
            x == x,
            ~(x > 0),
            -x,
            x % 2,
            2 / (x + 10),
        ),
        *(1 - x, x, x[1:], x[[1, 0]], x.abs(), x.relu(), x.softmax(-1), x @ x.t(), x.relu(), x.clamp(0), x.clamp(0, 1)),
        # x.std(0) is std(bool unbiased) in C++, as in PyTorch
        *(x.norm(), x.std(unbiased=False), x.any(), x.any(1), x.argmax(1), x.masked_fill(x > 0, 1.0), x.flatten()),
        *(x.repeat(1, 2), x.expand(2, 2, 3), x.narrow(1, 0, 2), x, F.conv1d(x.unsqueeze(0), torch.ones(4, 2, 1))),
    ]
    for number, (ours, theirs) in enumerate(zip(lltm.calls(x), wanted, strict=True)):
        assert_close(ours, theirs, msg=lambda text, number=number: f"call {number}: {text}")


def test_numbers(lltm: Any, x: Any) -> None:
    assert lltm.numbers(x) == pytest.approx([float(x[0, 0]), float(x.sum()), 2, 2, 4, 24, 0, -1])


def test_backward_and_no_grad(lltm: Any, x: Any) -> None:
    leaf = lltm.gradient_step(x)
    assert_close(leaf.grad, 2 * x)
    assert_close(leaf.detach(), 0.8 * x)
    assert torch.is_grad_enabled()


def test_the_headers_of_ops_are_written_once(lltm: Any) -> None:
    folder = cpp_extension._headers_of_ops()
    assert str(folder) in cpp_extension.include_paths()
    methods = (folder / "ATen" / "core" / "TensorMethods.inc").read_text()
    assert methods.count(" const;") > 600 and "Tensor sigmoid() const;" in methods
    functions = (folder / "ATen" / "ExtensionFunctions.h").read_text()
    assert "Tensor lgamma(const Tensor& self) {" in functions


def without_defaults(parameters: str) -> str:
    """Return a list of parameters without their defaults, which may contain commas in brackets."""
    bare, depth, skips = "", 0, False
    for position, letter in enumerate(parameters):
        depth += (letter in "(<{[") - (letter in ")>}]")
        skips = (skips or parameters.startswith(" = ", position)) and not (letter == "," and depth == 0)
        bare += "" if skips else letter
    return bare


def test_every_function_and_method_compiles(tmp_path: Path) -> None:
    text = (cpp_extension._headers_of_ops() / "ATen" / "ExtensionFunctions.h").read_text()
    lines = []
    for head in re.findall(r"template <int(?: = 0)?>\n(.*?) \{\n", text, re.S):
        returned, name, parameters, const = re.fullmatch(
            r"(.*?) ([\w:]+)\((.*)\)( const)?", " ".join(head.split())
        ).groups()
        lines.append(f"template {returned} {name}<0>({without_defaults(parameters)}){const or ''};")
    assert len(lines) > 2000
    source = tmp_path / "all.cpp"
    source.write_text("\n".join(["#include <torch/all.h>", "namespace reftorch::at {", *lines, "}"]))
    folders = [word for path in cpp_extension.include_paths() for word in ("-I", path)]
    command = ["c++", "-std=c++17", "-O0", "-DTORCH_EXTENSION_NAME=all", *folders, "-c", str(source), "-o", "/dev/null"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
