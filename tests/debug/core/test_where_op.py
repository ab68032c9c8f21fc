"""The places of an op, for every op that there is.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: whether PyTorch's files are where they are said to be.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reftorch.debug import where_op
from reftorch.debug.core import op_sources
from reftorch.debug.core.where_op import schemas

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
