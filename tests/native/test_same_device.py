"""Ops refuse tensors on several devices: Note [Device check] in cpp/ATen/core/op_registration/adaption.h.

The meta device is the second device here; tests/cuda/device_cuda.py has the same for CUDA devices. PyTorch's own check
is in its CUDA kernels alone. What PyTorch answers for a CPU tensor beside a meta tensor depends on how the op happens
to be written (`mm` of a meta tensor and a CPU tensor has an answer, `dot` has none, `bmm` reads memory that is not
there), so these calls are not compared with torch. The words are those of PyTorch's CUDA kernels.

Mirrors: test/test_torch.py (test_gather_scatter_cuda_errors and others for CUDA)
"""

from collections.abc import Callable
from typing import Any

import pytest

import reftorch as torch

# An op, given two places: each line must raise for (cpu, meta) and for (meta, cpu).
F = torch.nn.functional


def ones(place: str, *sizes: int) -> Any:
    return torch.ones(*sizes, device=place)


def index(place: str, *sizes: int) -> Any:
    return torch.zeros(*sizes, dtype=torch.int64, device=place)


CALLS: dict[str, Callable[[str, str], Any]] = {
    "mm": lambda a, b: torch.mm(ones(a, 2, 2), ones(b, 2, 2)),
    "mm.out": lambda a, b: torch.mm(ones(a, 2, 2), ones(a, 2, 2), out=ones(b, 2, 2)),
    "addmm": lambda a, b: torch.addmm(ones(a, 2, 2), ones(b, 2, 2), ones(b, 2, 2)),
    "addmm_": lambda a, b: ones(a, 2, 2).addmm_(ones(a, 2, 2), ones(b, 2, 2)),
    "bmm": lambda a, b: torch.bmm(ones(a, 1, 2, 2), ones(b, 1, 2, 2)),
    "baddbmm": lambda a, b: torch.baddbmm(ones(a, 1, 2, 2), ones(a, 1, 2, 2), ones(b, 1, 2, 2)),
    "addbmm": lambda a, b: torch.addbmm(ones(a, 2, 2), ones(a, 1, 2, 2), ones(b, 1, 2, 2)),
    "mv": lambda a, b: torch.mv(ones(a, 2, 2), ones(b, 2)),
    "addmv": lambda a, b: torch.addmv(ones(a, 2), ones(b, 2, 2), ones(a, 2)),
    "dot": lambda a, b: torch.dot(ones(a, 2), ones(b, 2)),
    "matmul": lambda a, b: ones(a, 2, 2) @ ones(b, 2, 2),
    "linear": lambda a, b: F.linear(ones(a, 2, 2), ones(a, 2, 2), ones(b, 2)),
    "einsum": lambda a, b: torch.einsum("ij,jk->ik", ones(a, 2, 2), ones(b, 2, 2)),
    "cat": lambda a, b: torch.cat([ones(a, 2), ones(b, 2)]),
    "cat.out": lambda a, b: torch.cat([ones(a, 2), ones(a, 2)], out=ones(b, 4)),
    "stack": lambda a, b: torch.stack([ones(a, 2), ones(b, 2)]),
    "scatter_": lambda a, b: ones(a, 3).scatter_(0, index(a, 1), ones(b, 1)),
    "index_add": lambda a, b: ones(a, 3).index_add(0, index(a, 1), ones(b, 1)),
    "index_copy": lambda a, b: ones(a, 3).index_copy(0, index(a, 1), ones(b, 1)),
    "index_fill": lambda a, b: ones(a, 3).index_fill(0, index(b, 1), 1.0),
    "masked_scatter": lambda a, b: ones(a, 3).masked_scatter(ones(a, 3).bool(), ones(b, 3)),
    "where": lambda a, b: torch.where(ones(a, 2).bool(), ones(a, 2), ones(b, 2)),
    "where, condition": lambda a, b: torch.where(ones(a, 2).bool(), ones(b, 2), ones(b, 2)),
    "masked_fill": lambda a, b: ones(a, 2).masked_fill(ones(b, 2).bool(), 1.0),
    "add": lambda a, b: ones(a, 2) + ones(b, 2),
    "add_": lambda a, b: ones(a, 2).add_(ones(b, 2)),
    "lerp": lambda a, b: torch.lerp(ones(a, 2), ones(b, 2), 0.5),
    "layer_norm": lambda a, b: F.layer_norm(ones(a, 2, 3), (3,), ones(b, 3), ones(b, 3)),
    "nll_loss": lambda a, b: F.nll_loss(ones(a, 2, 3), index(b, 2)),
    "cross_entropy": lambda a, b: F.cross_entropy(ones(a, 2, 3), index(b, 2)),
    "mse_loss": lambda a, b: F.mse_loss(ones(a, 2), ones(b, 2)),
    "searchsorted": lambda a, b: torch.searchsorted(ones(a, 3), ones(b, 3)),
    "bucketize": lambda a, b: torch.bucketize(ones(a, 3), ones(b, 3)),
    "cumsum.out": lambda a, b: torch.cumsum(ones(a, 3), 0, out=ones(b, 3)),
    "cdist": lambda a, b: torch.cdist(ones(a, 2, 2), ones(b, 2, 2)),
    "linalg.solve": lambda a, b: torch.linalg.solve(ones(a, 2, 2), ones(b, 2, 2)),
    "linalg.solve_triangular": lambda a, b: torch.linalg.solve_triangular(ones(a, 2, 2), ones(b, 2, 2), upper=True),
    "linalg.lstsq": lambda a, b: torch.linalg.lstsq(ones(a, 2, 2), ones(b, 2, 2)),
    "linalg.multi_dot": lambda a, b: torch.linalg.multi_dot([ones(a, 2, 2), ones(b, 2, 2)]),
    "linalg.householder_product": lambda a, b: torch.linalg.householder_product(ones(a, 2, 2), ones(b, 2)),
    "cholesky_solve": lambda a, b: torch.cholesky_solve(ones(a, 2, 2), ones(b, 2, 2)),
    "ormqr": lambda a, b: torch.ormqr(ones(a, 2, 2), ones(a, 2), ones(b, 2, 2)),
    "_scaled_dot_product_attention_math": lambda a, b: torch._scaled_dot_product_attention_math(
        ones(a, 1, 2, 2), ones(b, 1, 2, 2), ones(b, 1, 2, 2)
    ),
    "bilinear": lambda a, b: F.bilinear(ones(a, 2, 2), ones(b, 2, 2), ones(b, 2, 2, 2)),
    "index_put_": lambda a, b: ones(a, 3).index_put_((index(a, 1),), ones(b, 1)),
}

# These ops take an index on the CPU beside meta tensors, as in PyTorch, and refuse an index on the meta device.
INDEXED: dict[str, Callable[[str, str], Any]] = {
    "gather": lambda a, b: ones(a, 3).gather(0, index(b, 1)),
    "scatter.src": lambda a, b: ones(a, 3).scatter(0, index(b, 1), ones(a, 1)),
    "scatter.value": lambda a, b: ones(a, 3).scatter(0, index(b, 1), 1.0),
    "scatter_add": lambda a, b: ones(a, 3).scatter_add(0, index(b, 1), ones(a, 1)),
    "index_reduce": lambda a, b: ones(a, 3).index_reduce(0, index(b, 1), ones(a, 1), "amax"),
    "index_select": lambda a, b: ones(a, 3).index_select(0, index(b, 1)),
    "take": lambda a, b: ones(a, 3).take(index(b, 1)),
    "put_": lambda a, b: ones(a, 3).put_(index(b, 1), ones(a, 1)),
    "embedding": lambda a, b: F.embedding(index(b, 2), ones(a, 3, 2).requires_grad_(), padding_idx=0),
    "repeat_interleave": lambda a, b: ones(a, 3).repeat_interleave(index(b, 3), output_size=0),
}


@pytest.mark.parametrize("op", INDEXED)
def test_an_index_may_be_on_the_cpu(op: str) -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but got index is on meta"):
        INDEXED[op]("cpu", "meta")
    assert INDEXED[op]("meta", "cpu").device.type == "meta"


@pytest.mark.parametrize("op", ["index_add", "index_copy"])
def test_an_index_for_writing_along_a_dimension_may_not(op: str, real_torch: Any) -> None:
    messages = []
    for lib in (torch, real_torch):
        x, where = lib.ones(3, device="meta"), lib.tensor([0])
        with pytest.raises(RuntimeError) as error:
            getattr(x, op)(0, where, x[:1])
        messages.append(str(error.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("places", [("cpu", "meta"), ("meta", "cpu")], ids="-".join)
@pytest.mark.parametrize("op", CALLS)
def test_two_devices_are_refused(op: str, places: tuple[str, str]) -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device, but "):
        CALLS[op](*places)


@pytest.mark.parametrize("places", [("cpu", "meta"), ("meta", "cpu")], ids="-".join)
def test_attention_names_all_three_devices(places: tuple[str, str], real_torch: Any) -> None:
    messages = []
    for lib in (torch, real_torch):
        a, b = (lib.ones(1, 2, 2, device=place) for place in places)
        with pytest.raises(RuntimeError) as error:
            lib.nn.functional.scaled_dot_product_attention(a, b, b)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


@pytest.mark.parametrize("op", CALLS)
@pytest.mark.parametrize("place", ["cpu", "meta"])
def test_one_device_is_not_refused(op: str, place: str) -> None:
    message = ""
    try:
        CALLS[op](place, place)
    except RuntimeError as error:  # a matrix of ones is singular
        message = str(error)
    assert "same device" not in message


MESSAGES = {
    "mm": "got mat2 is on meta, different from other tensors on cpu (when checking argument in method wrapper_Meta_mm)",
    "mm.out": "got self is on cpu, different from other tensors on meta (when checking argument in method "
    "wrapper_Meta_mm_out_out)",
    "addmm": "got mat1 is on meta, different from other tensors on cpu (when checking argument in method "
    "wrapper_Meta_addmm)",
    "cat": "got tensors is on meta, different from other tensors on cpu (when checking argument in method "
    "wrapper_Meta_cat)",
    "scatter_": "got src is on meta, different from other tensors on cpu (when checking argument in method "
    "wrapper_Meta_scatter__src)",
    "add": "found at least two devices, meta and cpu!",
    "where": "found at least two devices, meta and cpu!",
}


@pytest.mark.parametrize("op", MESSAGES)
def test_the_words(op: str) -> None:
    with pytest.raises(RuntimeError) as error:
        CALLS[op]("cpu", "meta")
    assert str(error.value) == f"Expected all tensors to be on the same device, but {MESSAGES[op]}"


def test_indices_may_be_on_the_cpu(real_torch: Any) -> None:
    for lib in (torch, real_torch):
        x, where = lib.ones(3, 2, device="meta"), lib.tensor([0, 1])
        assert x[where].shape == (2, 2) and x[where].device.type == "meta"
        assert x[where, where].shape == (2,) and x[:, where].shape == (3, 2)
        assert x[lib.tensor([True, False, True])].shape == (2, 2)
        x[where] = 1.0
        x[lib.tensor([True, False, True])] = 1.0
        x.index_put_((where,), lib.ones(2, 2, device="meta"))
    message = r"indices should be either on cpu or on the same device as the indexed tensor \(cpu\)"
    with pytest.raises(RuntimeError, match=message):
        torch.ones(3)[index("meta", 1)]
    with pytest.raises(RuntimeError, match=message):
        torch.ones(3, 2)[index("meta", 1), index("meta", 1)] = 1.0


def test_a_number_may_be_on_the_cpu(real_torch: Any) -> None:
    for lib in (torch, real_torch):
        x, number = lib.ones(2, device="meta"), lib.tensor(2.0)
        for result in (x + number, number * x, lib.where(x > 0, x, number), lib.lerp(x, x, number)):
            assert result.device.type == "meta"


def test_a_number_fills_by_indices() -> None:
    x = torch.ones(2, device="meta")
    assert x.index_fill_(0, index("meta", 1), torch.tensor(2.0)) is x


def test_copies_go_from_one_device_to_another() -> None:
    x = torch.ones(2, device="meta")
    assert x.copy_(torch.ones(2)).device.type == "meta"
    x[0] = torch.ones(())
