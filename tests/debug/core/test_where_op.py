"""The places of an op, for every op that there is.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: whether PyTorch's files are where they are said to be.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reftorch as torch
from reftorch.debug import where_op
from reftorch.debug.core import op_sources
from reftorch.debug.core import where_op as where_op_module
from reftorch.debug.core.where_op import schemas
from tests.op_db import FAMILIES

ROOT = Path(__file__).resolve().parents[3]
OPS = sorted({schema.split(".")[0] for schema in schemas()})


def parts(name: str) -> dict[str, str]:
    """The first place of each part, as PATH  LINE'S TEXT."""
    found: dict[str, str] = {}
    for place in where_op(name).found:
        found.setdefault(place.part, f"{place.path.removeprefix(f'{ROOT}/')}  {place.text}".strip())
    return found


def test_an_op_from_schema_to_test() -> None:
    found = parts("mul")
    assert found["schema"].startswith('cpp/ATen/native/BinaryOps.cpp  m.def_structured("mul.Tensor(Tensor self')
    assert found["function"].startswith("cpp/ATen/native/BinaryOps.cpp  static void mul_out(")
    assert found["kernel"] == "cpp/ATen/native/cpu/BinaryOpsKernel.cpp  void mul_kernel(TensorIterator& iter) {"
    assert found["formula"] == "reftorch/autograd/derivatives/binary_ops.py  self=lambda grad, other: grad * other,"
    assert found["words"].startswith("reftorch/_torch_docs/binary_ops.py")
    assert found["test"].startswith('tests/op_db/binary_ops.py  OpInfo("mul.Tensor"')
    assert ("aten/src/ATen/native/cpu/BinaryOpsKernel.cpp", "") in where_op("mul").pytorch


def test_an_op_that_is_one_element_function() -> None:
    """The kernels of both devices are rows that name the element function."""
    found = parts("tanh")
    kernel, twin = "cpu/UnaryOpsFloatKernel.cpp  REGISTER_CPU", "cuda/UnaryOpsFloatKernel.cu  REGISTER_CUDA"
    assert found["kernel"] == f'cpp/ATen/native/{kernel}_ELEMENTWISE(tanh_stub, tanh_kernel, TanhFunctor, "tanh_cpu")'
    assert found["twin"] == f'cpp/ATen/native/{twin}_ELEMENTWISE(tanh_stub, tanh_kernel_cuda, TanhFunctor, "tanh_cuda")'
    assert found["element"] == "cpp/ATen/native/UnaryOpsFunctors.h  struct TanhFunctor {"
    assert parts("special_bessel_j0")["element"].endswith("calc_bessel_j0>;")
    assert "element" not in parts("mm") and "element" not in parts("view")


def test_the_test_of_an_op_is_the_module_that_has_its_row() -> None:
    """`"tanh"` is also an argument of `gelu`, and is written in that row; the names of some rows are put together."""
    lists = ("ROWS", "VALUES", "IN_PLACE", "SPECIAL")
    tested: dict[str, set[str]] = {}
    for family, module in FAMILIES.items():
        for row in (row for name in lists for row in getattr(module, name, [])):
            for op in row.ops.split():
                tested.setdefault(op.split(".")[0], set()).add(f"tests/op_db/{family}.py")
    assert [place.text for place in where_op_module.tests("tanh")] == ['smooth("tanh", ref=np.tanh),']
    shown = {op: {str(Path(place.path).relative_to(ROOT)) for place in where_op_module.tests(op)} for op in tested}
    assert {op: files for op, files in shown.items() if files != tested[op]} == {}


@pytest.mark.parametrize("name", ["torch.mul", "Tensor.mul", "mul_", "mul.Tensor", "aten::mul", "multiply"])
def test_every_name_of_an_op_will_do(name: str) -> None:
    assert parts(name) == parts("mul")


def test_what_an_op_does_without_is_said() -> None:
    assert parts("view")["kernel"].startswith("none of its own")
    assert "made of" in parts("matmul")["formula"]
    assert "nothing to differentiate" in parts("argmax")["formula"]


def test_names_that_are_not_there() -> None:
    with pytest.raises(ValueError, match=r"No op is called `mull`\. The nearest: mul,"):
        where_op("mull")
    with pytest.raises(ValueError, match=r"No op is called `qqqqqqq`\.$"):
        where_op("qqqqqqq")


def test_a_source_that_was_renamed_after_the_build(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"gone\.cpp is not there: .* Build again: make debug"):
        op_sources.lines_of(tmp_path / "gone.cpp")


@pytest.mark.parametrize("name", OPS[::25])
def test_each_place_is_the_line_that_it_says(name: str) -> None:
    report = where_op(name)
    assert {place.part for place in report.found} >= {"schema", "kernel", "formula"}
    for place in report.found:
        if place.path:
            line = Path(place.path).read_text().split("\n")[place.line - 1]
            assert place.text.split("(")[0] in line or "TORCH_LIBRARY" in line
    assert str(report).splitlines()[0] == report.op
    assert all(re.search(r'href="[^"]+#line=\d+"', report._repr_html_()) for place in report.found if place.path)


@pytest.mark.parametrize(
    "function",
    [torch.add, torch.Tensor.add, torch.Tensor.add_, torch.ops.aten.add, torch.ops.aten.add.Tensor, torch.ones(1).add],
    ids=str,
)
def test_a_function_is_as_good_as_its_name(function: object) -> None:
    assert str(where_op(function)) == str(where_op("add"))  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [3, None, torch, torch.nn.ReLU, torch.nn.ReLU(), ["add"]], ids=repr)
def test_what_is_neither_a_name_nor_a_function(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"^where_op: expected the name of an op or its function, got an? \w+\. Hint: "):
        where_op(wrong)  # type: ignore[arg-type]
