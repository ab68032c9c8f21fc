"""What is checked for every row: the same call in both libraries gives the same.

Mirrors: test/test_ops.py
Leaves out: tracing, subclasses, devices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.op_db.core import FLOATS, DType, Input, OpInfo, Sample

_RTOL = {"float64": 1e-9, "float32": 2e-5, "float16": 4e-3, "bfloat16": 3e-2}
_ATOL = {"float64": 1e-10, "float32": 2e-6, "float16": 4e-3, "bfloat16": 3e-2}


def to_numpy(t: Any) -> np.ndarray:
    t = t.detach()
    if getattr(t, "_is_zerotensor", bool)():  # torch's zeros without memory
        return np.zeros(tuple(t.shape))
    return (t.float() if str(t.dtype) == "torch.bfloat16" else t).contiguous().numpy()


def assert_same(got: Any, want: Any, what: str, rtol: float | None = None, strides: bool = True) -> None:
    """Values, dtype, shape and strides of tensors, in tuples too; anything else is equal."""
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want), what
        for g, w in zip(got, want, strict=True):
            assert_same(g, w, what, rtol, strides)
        return
    if not hasattr(want, "shape"):
        assert type(got) is type(want) and (got == want or got == pytest.approx(want, nan_ok=True)), (
            f"{what}: {got} is not {want}"
        )
        return
    dtype = str(want.dtype).removeprefix("torch.")
    assert str(got.dtype) == str(want.dtype), f"{what}: dtype {got.dtype}, torch has {want.dtype}"
    assert tuple(got.shape) == tuple(want.shape), f"{what}: shape {tuple(got.shape)}, torch has {tuple(want.shape)}"
    if strides and want.numel() > 0:
        assert got.stride() == want.stride(), f"{what}: strides {got.stride()}, torch has {want.stride()}"
    if dtype in FLOATS:
        rtol = max(rtol or 0, _RTOL[dtype])
        np.testing.assert_allclose(
            to_numpy(got), to_numpy(want), rtol=rtol, atol=max(_ATOL[dtype], rtol / 10), err_msg=what
        )
    else:
        np.testing.assert_array_equal(to_numpy(got), to_numpy(want), err_msg=what)


def outcome(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    try:
        return call(), None
    except (RuntimeError, TypeError, ValueError, IndexError) as error:  # NotImplementedError is a RuntimeError
        return None, error


def assert_same_outcome(
    ours: Callable[[], Any], theirs: Callable[[], Any], what: str, rtol: float | None = None
) -> None:
    """The same result, or an error of the same type."""
    want, their_error = outcome(theirs)
    got, our_error = outcome(ours)
    if their_error is None:
        assert our_error is None, f"{what}: {type(our_error).__name__}: {our_error}"
        assert_same(got, want, what, rtol)
    else:
        assert our_error is not None, f"{what}: no error; torch raises {type(their_error).__name__}: {their_error}"
        assert type(our_error) is type(their_error), f"{what}: {our_error!r}, torch raises {their_error!r}"


def check_forward(op: OpInfo, dtype: str, torch: Any) -> None:
    for sample in op.each(dtype):

        def run(lib: Any, sample: Sample = sample) -> Any:
            args, kwargs = sample.build(lib)
            return op.run(lib, args, kwargs)

        assert_same_outcome(lambda: run(reftorch), lambda: run(torch), f"{op.name}({sample})", op.rtol)


def check_inplace(op: OpInfo, dtype: str, torch: Any) -> int:
    """`foo_` where torch has one; returns how many calls were compared."""
    name = op.function + "_"
    compared = 0
    for sample in op.each(dtype):

        def run(lib: Any, sample: Sample = sample) -> Any:
            args, kwargs = sample.build(lib)
            result = getattr(args[0], name)(*args[1:], **kwargs)
            assert result is args[0]
            return result

        if hasattr(torch.Tensor, name) and hasattr(sample.args[0], "values") and sample.args[0].layout != "expanded":
            assert hasattr(reftorch.Tensor, name), f"torch has {name}"
            assert_same_outcome(lambda: run(reftorch), lambda: run(torch), f"{name}({sample})", op.rtol)
            compared += 1
    return compared


def check_out(op: OpInfo, dtype: str, torch: Any) -> int:
    """`out=` of the right shape, of another shape, of another dtype; returns how many calls were compared."""
    compared = 0
    for sample in op.each(dtype):
        args, kwargs = sample.build(torch)
        want, error = outcome(lambda: op.run(torch, args, kwargs))  # noqa: B023
        if error is not None or not hasattr(want, "shape") or op.call is not None:
            continue
        _, error = outcome(lambda: op.run(torch, args, {**kwargs, "out": torch.empty_like(want)}))  # noqa: B023
        if isinstance(error, TypeError):
            return 0
        dtype_name = str(want.dtype).removeprefix("torch.")
        for shape, out_dtype in (
            (want.shape, dtype_name),
            ((0,), dtype_name),
            (want.shape, "float64"),
            (want.shape, "int64"),
        ):

            def run(lib: Any, sample: Sample = sample, shape: Any = shape, out_dtype: str = out_dtype) -> Any:
                args, kwargs = sample.build(lib)
                out = lib.zeros(tuple(shape), dtype=getattr(lib, out_dtype))
                result = op.run(lib, args, {**kwargs, "out": out})
                assert result is out
                return out

            rtol = max(op.rtol or 0, _RTOL.get(dtype, _RTOL["float32"]))  # computed in the op's own dtype, then cast
            assert_same_outcome(
                lambda: run(reftorch), lambda: run(torch), f"{op.name}({sample}, out={out_dtype}{list(shape)})", rtol
            )
            compared += 1
    return compared


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, (list, tuple)) else (result,)


def _gradients(op: OpInfo, sample: Sample, lib: Any) -> list[Any]:
    """Gradients of a weighted sum of the results with respect to the inputs; then those of the gradients' sum."""
    args, kwargs = sample.requiring_grad().build(lib)
    inputs = [a for arg in args for a in _as_tuple(arg) if getattr(a, "requires_grad", False)]
    result = op.run(lib, args, kwargs)
    results = [r for r in _as_tuple(result) if getattr(r, "requires_grad", False)]
    if not results or not inputs:
        return []
    random = np.random.default_rng(7)
    weights = [
        lib.from_numpy(np.asarray(random.standard_normal(tuple(r.shape)))).to(r.dtype).requires_grad_() for r in results
    ]
    grads = list(lib.autograd.grad(results, inputs, weights, create_graph=True, allow_unused=True))
    twice = [g for g in grads if g is not None and g.requires_grad]
    second: Any = [None] * (len(inputs) + len(weights))
    if twice and op.gradcheck:
        second = lib.autograd.grad(twice, [*inputs, *weights], [lib.ones_like(g) for g in twice], allow_unused=True)
    return [*grads, *second]


def check_gradients(op: OpInfo, torch: Any) -> int:
    """First and second derivatives with respect to every floating input; returns how many gradients were compared."""
    compared = 0
    for sample in op.each("float64"):
        want, their_error = outcome(lambda: _gradients(op, sample, torch))  # noqa: B023
        got, our_error = outcome(lambda: _gradients(op, sample, reftorch))  # noqa: B023
        what = f"gradient of {op.name}({sample})"
        single = DType("float32") in sample.kwargs.values() or any(
            isinstance(a, Input) and a.dtype in FLOATS[1:] for a in sample.args
        )
        rtol = max(op.rtol or 0, _RTOL["float32"] if single else 0)
        if their_error is not None:
            # torch refuses to differentiate through an integer result; ours does not require a gradient to begin with
            assert our_error is not None or not got or not op.torch_gradient, (
                f"{what}: no error; torch raises {their_error!r}"
            )
            continue
        assert our_error is None, f"{what}: {our_error!r}"
        assert len(got) == len(want), what
        for g, w in zip(got, want, strict=True):
            if g is None or w is None:  # one library says "unused" where the other says "zero"
                assert all(t is None or np.allclose(to_numpy(t), 0, atol=1e-6) for t in (g, w)), what
            else:
                assert_same(g, w, what, rtol, strides=False)
            compared += 1
    return compared


def check_reference(op: OpInfo) -> None:
    """The same as numpy's function of the same arguments, in the widest dtype that the op takes; needs no torch."""
    dtype = op.dtypes[0]
    for sample in op.each(dtype):
        if sample.kwargs or any(
            isinstance(a, bool) or (isinstance(a, Input) and a.dtype != dtype) for a in sample.args
        ):
            continue
        args, kwargs = sample.build(reftorch)
        got, error = outcome(lambda: op.run(reftorch, args, kwargs))  # noqa: B023
        arrays = [a.values if isinstance(a, Input) else a for a in sample.args]
        want, their_error = outcome(lambda: op.ref(*arrays))  # noqa: B023
        what = f"{op.name}({sample})"
        assert (error is None) == (their_error is None), f"{what}: {error!r}, numpy has {their_error!r}"
        if error is None:
            np.testing.assert_allclose(to_numpy(got), want, rtol=1e-9, atol=1e-10, err_msg=what)


def check_gradcheck(op: OpInfo) -> None:
    """The formulas against differences of the function itself; needs no torch."""
    for sample in op.each("float64"):
        if any(
            isinstance(a, Input)
            and (a.values.size not in range(1, 13) or a.layout == "expanded" or a.dtype in FLOATS[1:])
            for a in sample.args
        ):
            continue
        args, kwargs = sample.requiring_grad().build(reftorch)
        inputs = [a for a in args if getattr(a, "requires_grad", False)]
        result, error = outcome(lambda: op.run(reftorch, args, kwargs))  # noqa: B023
        finite = error is None and all(np.isfinite(to_numpy(r)).all() for r in _as_tuple(result) if hasattr(r, "numpy"))
        if (
            not finite
            or DType("float32") in sample.kwargs.values()
            or not inputs
            or not any(getattr(r, "requires_grad", False) for r in _as_tuple(result))
        ):
            continue

        def function(*values: Any, args: Any = args, kwargs: Any = kwargs) -> Any:
            remaining = iter(values)
            call = tuple(next(remaining) if getattr(a, "requires_grad", False) else a for a in args)
            return tuple(r for r in _as_tuple(op.run(reftorch, call, kwargs)) if r.requires_grad)

        assert reftorch.autograd.gradcheck(function, inputs), f"{op.name}({sample})"
        assert reftorch.autograd.gradgradcheck(function, inputs), f"{op.name}({sample})"


def check_error(call: Callable[[Any], Any], error: type[Exception], message: str, torch: Any) -> None:
    """Our error, and, where it is there, that torch's is of the same type and starts with the same words."""
    for lib in (reftorch, *((torch,) if torch is not None else ())):
        with pytest.raises(error) as raised:
            call(lib)
        assert type(raised.value) is error, f"{lib.__name__} raises {raised.value!r}"
        assert str(raised.value).startswith(message), f"{lib.__name__} says: {raised.value}"
