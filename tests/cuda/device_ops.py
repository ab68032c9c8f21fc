"""Each row of the op table on a CUDA device: the CPU's answer, or PyTorch's refusal. Run by test_devices.py.

Mirrors: test/test_ops.py (``test_compare_cpu``)
Leaves out: gradients of all but the first sample of a row; calls that raise on the CPU.
"""

import math
import re
from collections import Counter
from contextlib import nullcontext
from typing import Any

import pytest

import reftorch as torch
from tests.op_db import OPS
from tests.op_db.checks import both_orders, outcome, with_other_bytes
from tests.op_db.core import OpInfo

DEVICE = torch.device("cuda", max(torch.cuda.device_count() - 1, 0))
DTYPES = ("float32", "float64", "float16", "int64", "uint8", "bool")
MOST_SAMPLES = 6
# Their numbers are drawn, and each device draws its own.
RANDOM = {
    "normal.float_Tensor", "normal.Tensor_Tensor", "normal.Tensor_float", "normal.float_float", "randint_like",
    "randint_like.low_dtype", "bernoulli", "bernoulli.p", "multinomial", "poisson", "rand_like", "randn_like", "rrelu",
    "rand", "randn", "randint", "randint.low", "randperm", "dropout", "alpha_dropout", "feature_dropout",
    "feature_alpha_dropout", "native_dropout", "_scaled_dot_product_attention_math",
    "binomial", "_standard_gamma", "_sample_dirichlet", "rrelu_with_noise",
}  # fmt: skip
# Each device chooses among kernels of its own.
CHOICES = ("_fused_sdp_choice",)
# The elements of an uninitialized tensor are whatever the memory held.
UNINITIALIZED = ("empty", "new_empty")
# Calls that the default device does not move: factories that take no device in torch or not by that name, and a row
# that asks for the CPU by name.
STAY_ON_CPU = ("range.step", "normal.float_float", "to.device")
# Rows whose calls ask for CPU tensors: the host reads the indices of tensor_split, the lengths of sequences and the
# factors of lists.
ON_THE_CPU = {
    "tensor_split.tensor_indices_or_sections": "to be on cpu",
    **{f"{op}.data": "batch_sizes tensor should be on CPU" for op in ("rnn_tanh", "rnn_relu", "gru", "lstm")},
    **dict.fromkeys(
        ("_pack_padded_sequence", "_pack_padded_sequence_backward", "_pad_packed_sequence"),
        "'lengths' argument should be a 1D CPU int64 tensor",
    ),
    **dict.fromkeys(("_foreach_addcmul.Tensor", "_foreach_addcdiv.Tensor"), "Expected scalars to be on CPU"),
}
# Ops without a kernel for CUDA. A name leaves the list with its kernel.
NO_KERNEL = {
    # Kernels of the CPU by name: on CUDA, attention and LSTM are composites of other ops.
    "_scaled_dot_product_flash_attention_for_cpu", "mkldnn_rnn_layer",
}  # fmt: skip
MISSING = re.compile(r"Could not run 'aten::([\w.]+)' with arguments from the 'CUDA' backend")
NO_DTYPE = re.compile(r'"\w+" not implemented for \'\w+\'')

compared: Counter[str] = Counter()
refused: Counter[str] = Counter()


def each(value: Any, function: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, (list, tuple)):
        return type(value)(each(item, function) for item in value)
    return value


def dense(value: Any) -> Any:
    """Laid out as a copy on the device is."""
    return each(value, lambda t: t.clone())


def move(value: Any) -> Any:
    return each(value, lambda t: t.to(DEVICE))


def parts(result: Any) -> list[Any]:
    return list(result) if isinstance(result, (list, tuple)) else [result]


def has_tensor(value: Any) -> bool:
    return any(map(has_tensor, value)) if isinstance(value, (list, tuple)) else isinstance(value, torch.Tensor)


def check_same(op: OpInfo, got: Any, expected: Any, what: str) -> None:
    if not isinstance(expected, torch.Tensor):
        assert op.name in CHOICES or got == expected or (math.isnan(got) and math.isnan(expected)), what
        return
    assert (got.shape, got.dtype, got.stride()) == (expected.shape, expected.dtype, expected.stride()), what
    stays = expected.is_meta or op.name in STAY_ON_CPU
    assert got.device in ((DEVICE, expected.device) if stays else (DEVICE,)), what
    if op.name in RANDOM or op.function.startswith(UNINITIALIZED):
        return
    rtol = {torch.float64: 1e-9, torch.float16: 4e-3, torch.bfloat16: 3e-2}.get(expected.dtype, 1e-4)
    same = torch.allclose(got.cpu().double(), expected.double(), rtol, rtol, equal_nan=True)
    assert same, f"{what}:\n{got}\n{expected}"


def check_refusal(error: Exception, what: str) -> None:
    """The error says that one of the ops of NO_KERNEL has no kernel for CUDA, or that a kernel has not the dtype."""
    missing = MISSING.match(str(error))
    known = missing[1] in NO_KERNEL if missing else NO_DTYPE.search(str(error))
    assert isinstance(error, NotImplementedError) and known, f"{what}: {error!r}"
    refused.update([missing[1]] if missing else [])


def check_call(op: OpInfo, on_cpu: Any, on_device: Any, what: str) -> None:
    """The call on the device answers as on the CPU, or says that an op has no kernel for CUDA, or not for the dtype."""
    expected, error = outcome(on_cpu)
    if error is not None:
        return

    def run() -> Any:
        with DEVICE:  # factories inside a row's own call are to make their tensors on the device, too
            return on_device()

    got, error = outcome(run)
    if error is not None:
        if op.name in ON_THE_CPU:
            assert ON_THE_CPU[op.name] in str(error), f"{what}: {error!r}"
            return
        check_refusal(error, what)
        return
    for g, e in zip(parts(got), parts(expected), strict=True):
        check_same(op, g, e, what)
    compared[op.name] += 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.ops)
def test_op(op: OpInfo) -> None:
    for dtype in [dtype for dtype in DTYPES if dtype in op.dtypes]:
        for sample in list(op.each(dtype))[:MOST_SAMPLES]:
            args, kwargs = sample.build(torch)
            if op.name != "view.dtype":  # shows the bytes, which a copy between devices may normalize
                with_other_bytes([args, list(kwargs.values())])
            there, there_kwargs = move(args), {name: move(value) for name, value in kwargs.items()}
            check_call(
                op,
                lambda: op.run(torch, dense(args), kwargs),  # noqa: B023
                lambda: op.run(torch, there, there_kwargs),  # noqa: B023
                f"{op.name}({sample})",
            )


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [op for op in OPS if "float32" in op.dtypes], ids=lambda op: op.ops)
def test_formula(op: OpInfo) -> None:
    """Gradients of two orders are on the device of the inputs, not on the current one, and equal those of the CPU."""
    sample = next(op.each("float32"))

    def grads(move: Any, where: Any) -> list[Any]:
        return both_orders(op, sample, move, where, nullcontext)

    want, error = outcome(lambda: grads(torch.Tensor.clone, nullcontext))
    if error is not None or not want or op.name in (*ON_THE_CPU, *RANDOM, *STAY_ON_CPU):
        return
    got, error = outcome(lambda: grads(lambda t: t.to(DEVICE), lambda: DEVICE))
    if error is not None:
        check_refusal(error, f"{op.name}({sample})")
        return
    for g, w in zip(got, want, strict=True):
        assert (g is None) == (w is None)
        if g is not None:
            assert g.device == DEVICE, f"{op.name}({sample})"
            assert torch.allclose(g.cpu(), w, 1e-3, 1e-4, equal_nan=True), f"{op.name}({sample}):\n{g}\n{w}"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [op for op in OPS if op.inplace or op.out], ids=lambda op: op.ops)
def test_in_place_and_out(op: OpInfo) -> None:
    in_place = getattr(torch.Tensor, f"{op.function}_", None)
    for sample in list(op.each("float32"))[:MOST_SAMPLES]:
        args, kwargs = sample.build(torch)
        args = dense(args)
        there, there_kwargs = move(args), {name: move(value) for name, value in kwargs.items()}
        result, error = outcome(lambda: op.run(torch, args, kwargs))  # noqa: B023
        if error is None and isinstance(result, torch.Tensor) and has_tensor(args) and op.call is None:
            out = torch.empty(0, dtype=result.dtype)
            there_out = out.to(DEVICE)
            check_call(
                op,
                lambda: op.run(torch, args, {**kwargs, "out": out}),  # noqa: B023
                lambda: op.run(torch, there, {**there_kwargs, "out": there_out}),  # noqa: B023
                f"{op.name}({sample}, out=)",
            )
        if in_place is not None and args and isinstance(args[0], torch.Tensor):
            check_call(
                op,
                lambda: in_place(*args, **kwargs),  # noqa: B023
                lambda: in_place(*there, **there_kwargs),  # noqa: B023
                f"{op.function}_({sample})",
            )


def test_enough_ops_have_kernels() -> None:
    assert len(compared) > 200, sorted(compared)
    assert set(refused) == NO_KERNEL, f"these have kernels now: {NO_KERNEL - set(refused)}"
