"""Tensors on the meta device: a shape, a dtype and no data.

Mirrors: test/test_meta.py
"""

from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.op_db.checks import check_error

DEVICE_PROGRAMS = [
    "torch.device('meta')",
    "str(torch.device('meta:0'))",
    "torch.empty(2, device='meta:1').device",
    "torch.device('meta') == torch.empty(2, device='meta').device",
]
FACTORIES = [
    "torch.empty(2, 3, device='meta')",
    "torch.empty((), device='meta')",
    "torch.empty(0, device='meta')",
    "torch.zeros(2, dtype=torch.int64, device='meta')",
    "torch.ones(2, 3, device='meta', requires_grad=True)",
    "torch.full((2,), 7, device='meta')",
    "torch.rand(2, 3, device='meta')",
    "torch.randn(2, device='meta', dtype=torch.float64)",
    "torch.randint(0, 10, (4,), device='meta')",
    "torch.randperm(5, device='meta')",
    "torch.arange(10, device='meta')",
    "torch.arange(0, 1, 0.25, device='meta')",
    "torch.linspace(0, 1, 5, device='meta')",
    "torch.eye(3, 4, device='meta')",
    "torch.tensor([[1, 2], [3, 4]], device='meta')",
    "torch.tensor(1.5, device='meta')",
    "torch.empty_strided((2, 3), (1, 2), device='meta').stride()",
    "torch.empty_like(torch.ones(2, 3).t(), device='meta').stride()",
    "torch.zeros_like(torch.empty(2, device='meta'))",
    "torch.ones(3).new_empty(2, device='meta')",
    "torch.empty(3, device='meta').new_zeros(2)",
    "torch.ones(2, 3).to('meta')",
    "torch.ones(2, 3, dtype=torch.float16).to(device='meta', dtype=torch.int32)",
]
QUERIES = [
    "torch.empty(4, device='meta').is_meta, torch.empty(4).is_meta",
    "torch.empty(4, device='meta').is_cpu, torch.empty(4, device='meta').is_cuda",
    "torch.empty(4, device='meta').data_ptr()",
    "torch.empty(4, device='meta').untyped_storage().nbytes()",
    "torch.empty(4, device='meta').untyped_storage().data_ptr()",
    "torch.empty(2, 3, device='meta').nbytes",
    "torch.empty(2, 3, device='meta')[1:].storage_offset()",
    "torch.empty(2, 3, device='meta').t().is_contiguous()",
    "torch.zeros(2, 3, device='meta').copy_(torch.ones(3))",
    "torch.zeros(2, device='meta').resize_(100).untyped_storage().nbytes()",
]


@pytest.mark.parametrize("program", DEVICE_PROGRAMS + FACTORIES + QUERIES)
def test_a_program_prints_what_torch_prints(program: str, real_torch: Any) -> None:
    assert repr(eval(program, {"torch": reftorch})) == asked(
        real_torch, lambda lib: repr(eval(program, {"torch": lib}))
    )


ERRORS = [
    ("torch.empty((), device='meta').item()", RuntimeError, "Tensor.item() cannot be called on meta tensors"),
    ("bool(torch.empty((), device='meta'))", RuntimeError, "Tensor.item() cannot be called on meta tensors"),
    ("float(torch.empty((), device='meta'))", RuntimeError, "Tensor.item() cannot be called on meta tensors"),
    ("torch.empty(2, device='meta').tolist()", NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    ("torch.empty(2, device='meta').cpu()", NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    ("torch.empty(2, device='meta').to('cpu')", NotImplementedError, "Cannot copy out of meta tensor; no data!"),
    (
        "torch.empty(2).copy_(torch.empty(2, device='meta'))",
        NotImplementedError,
        "Cannot copy out of meta tensor; no data!",
    ),
    ("torch.empty(2, device='meta').numpy()", TypeError, "can't convert meta device type tensor to numpy"),
]


@pytest.mark.parametrize(("program", "error", "message"), ERRORS, ids=[program for program, _, _ in ERRORS])
def test_an_error_is_torchs(program: str, error: type[Exception], message: str, real_torch: Any) -> None:
    check_error(lambda lib: eval(program, {"torch": lib}), error, message, real_torch)
