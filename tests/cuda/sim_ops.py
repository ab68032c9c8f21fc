"""Every op that has a CUDA kernel answers on a simulated device what it answers on the CPU: run by test_simulated.py.

Mirrors: test/test_ops.py (``test_non_standard_bool_values`` and kin, on CUDA)
Leaves out: gradients of each row, which are made of these ops; random ops, whose numbers differ.
"""

import math
from typing import Any

import pytest

import reftorch as torch
from tests.op_db import OPS
from tests.op_db.core import OpInfo

DTYPES = ("float32", "float64", "float16", "int64", "uint8", "bool")
MOST_SAMPLES = 6
RANDOM = {
    "normal.float_Tensor",
    "normal.Tensor_Tensor",
    "randint_like",
    "randint_like.low_dtype",
    "bernoulli",
    "bernoulli.p",
    "multinomial",
    "normal.Tensor_float",
    "poisson",
    "rand_like",
    "randn_like",
    "rrelu",
}


# Their functions mix tensors of the device with one that they make on the CPU, so that no row of theirs says so before.
MIX_DEVICES = {
    "_linalg_solve_ex", "cholesky", "cholesky_inverse", "cholesky_solve", "linalg_cholesky", "linalg_cholesky_ex",
    "linalg_lu_solve", "linalg_solve_triangular", "logdet", "lu_solve", "triangular_solve",
}  # fmt: skip
ON_THE_CPU = {"tensor_split.tensor_indices_or_sections"}  # its indices are to be a CPU tensor
LEFT_OUT = RANDOM | MIX_DEVICES | ON_THE_CPU


def each(value: Any, function: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(each(item, function) for item in value)
    return value


def move(value: Any) -> Any:
    return each(value, lambda t: t.to("cuda:1"))


def parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def close(got: Any, expected: Any) -> bool:
    if not isinstance(expected, torch.Tensor):
        return got == expected or (math.isnan(got) and math.isnan(expected))
    rtol = {torch.float64: 1e-9, torch.float16: 4e-3, torch.bfloat16: 3e-2}.get(expected.dtype, 1e-4)
    same = got.shape == expected.shape and got.dtype == expected.dtype and got.stride() == expected.stride()
    return same and torch.allclose(got.cpu().double(), expected.double(), rtol, rtol, equal_nan=True)


ran: dict[str, int] = {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [op for op in OPS if op.name not in LEFT_OUT], ids=lambda op: op.ops)
def test_op(op: OpInfo) -> None:
    for dtype in [dtype for dtype in DTYPES if dtype in op.dtypes]:
        for sample in list(op.each(dtype))[:MOST_SAMPLES]:
            args, kwargs = sample.build(torch)
            args = each(args, lambda t: t.clone())  # laid out as the copy on the device is
            if not any(isinstance(a, (torch.Tensor, list, tuple)) for a in args):
                continue  # a factory: it is asked for a device in sim_cuda.py
            try:
                expected = op.run(torch, args, kwargs)
            except (RuntimeError, TypeError, ValueError, IndexError):
                continue
            try:
                got = op.run(torch, move(sample.build(torch)[0]), {k: move(v) for k, v in kwargs.items()})
            except NotImplementedError as error:
                if "from the 'CUDA' backend" not in str(error) and "not implemented for" not in str(error):
                    raise
                continue
            ran[op.name] = ran.get(op.name, 0) + 1
            for g, e in zip(parts(got), parts(expected), strict=True):
                assert close(g, e), f"{op.name}({sample}):\n{g}\n{e}"


def test_enough_ops_have_kernels() -> None:
    assert len(ran) > 100, sorted(ran)
