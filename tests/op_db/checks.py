"""What is checked for every row: the same call in both libraries gives the same.

Mirrors: test/test_ops.py
Leaves out: tracing, subclasses, devices.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reftorch
from tests.answers.fingerprint import TOLERANCE
from tests.answers.watched import bare, note
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


def with_other_bytes(value: Any) -> Any:
    """Write to each true element of the bool tensors another byte than 1, in place. Lists and tuples are walked."""
    if isinstance(value, (list, tuple)):
        for item in value:
            with_other_bytes(item)
    elif isinstance(value, reftorch.Tensor) and value.dtype == reftorch.bool:
        memory = reftorch.empty(0, dtype=reftorch.uint8).set_(value.untyped_storage())
        others = reftorch.arange(memory.numel()).mul_(37).remainder_(254).add_(2).to(reftorch.uint8)
        memory.copy_(reftorch.where(memory != 0, others, memory))
    return value


def assert_same_outcome(
    ours: Callable[[], Any], theirs: Callable[[], Any], what: str, rtol: float | None = None
) -> bool:
    """The same result, or an error of the same type; whether it was a result."""
    want, their_error = outcome(theirs)
    got, our_error = outcome(ours)
    if their_error is None:
        assert our_error is None, f"{what}: {type(our_error).__name__}: {our_error}"
        assert_same(got, want, what, rtol)
    else:
        assert our_error is not None, f"{what}: no error; torch raises {type(their_error).__name__}: {their_error}"
        types = type(our_error).__name__, type(their_error).__name__  # each library has a LinAlgError of its own
        assert types[0] == types[1], f"{what}: {our_error!r}, torch raises {their_error!r}"
    return their_error is None


def check_forward(op: OpInfo, dtype: str, torch: Any) -> None:
    succeeded = 0
    for sample in op.each(dtype):

        def run(lib: Any, sample: Sample = sample) -> Any:
            args, kwargs = sample.build(lib)
            return op.run(lib, args, kwargs)

        succeeded += assert_same_outcome(lambda: run(reftorch), lambda: run(torch), f"{op.name}({sample})", op.rtol)
    assert succeeded or dtype != op.dtypes[0], f"{op.ops}: every call fails, with {dtype} too"


# --- the in-place and the out= form ----------------------------------------------------------------------------------

_FORM_DTYPES = ("float32", "int64", "bool")


def check_inplace_and_out(op: OpInfo, torch: Any) -> None:
    """Both forms, where torch has them. Where it has, calls that succeed are compared, or the row says that we have
    none; where it has not, neither have we."""
    _check_inplace(op, torch)
    _check_out(op, torch)


def _check_inplace(op: OpInfo, torch: Any) -> None:
    name = op.function + "_"
    ours, theirs = hasattr(reftorch.Tensor, name), hasattr(torch.Tensor, name)
    if not op.inplace:
        assert not (ours and theirs), f"{op.ops}: both have {name}, so it is to be compared"
        return
    assert ours == theirs, f"{name}: ours {ours}, torch's {theirs}"
    note(torch, lambda: theirs)
    samples = [
        (dtype, sample) for dtype in _FORM_DTYPES for sample in op.each(dtype) if isinstance(sample.args[0], Input)
    ]
    if not theirs or not samples:  # 2 ** x has nowhere to be written to
        return
    succeeded = 0
    for _, sample in samples:
        if sample.args[0].layout == "expanded":
            continue

        def run(lib: Any, sample: Sample = sample) -> Any:
            args, kwargs = sample.build(lib)
            result = getattr(args[0], name)(*args[1:], **kwargs)
            assert result is args[0]
            return result

        succeeded += assert_same_outcome(lambda: run(reftorch), lambda: run(torch), f"{name}({sample})", op.rtol)
    assert succeeded, f"{op.ops}: no call of {name} succeeds"


def _check_out(op: OpInfo, torch: Any) -> None:
    """`out=` of the right shape, of another shape, of another dtype."""
    watched = torch
    if not op.out:
        torch = bare(torch)  # what torch takes and we refuse is nothing to note
    if op.call is not None:
        shown = _shows_out(op, torch)
        note(torch, lambda: shown)
        if not shown:
            return
    tried = refused = succeeded = 0
    for dtype in _FORM_DTYPES:
        for sample in op.each(dtype):
            args, kwargs = sample.build(torch)
            want, error = outcome(lambda: op.run(torch, args, kwargs))  # noqa: B023
            tensors = [t for t in _as_tuple(want) if hasattr(t, "shape")]
            if error is not None or not tensors:
                continue
            tried += 1
            likes = tuple(torch.empty_like(t) for t in tensors)
            out = likes if isinstance(want, (tuple, list)) else likes[0]
            theirs = _refuses_out(lambda: op.run(torch, args, {**kwargs, "out": out}))  # noqa: B023
            ours = _refuses_out(lambda: _run_with_out(op, sample, reftorch, want))  # noqa: B023
            if not op.out:
                assert ours or theirs, f"{op.ops}: both take out= ({sample}), so it is to be compared"
                if theirs:
                    note(watched, lambda: "both refuse it")
                continue
            assert theirs or not ours, f"{op.name}({sample}): torch takes out=, ours does not"
            if theirs:
                assert op.call is None, f"{op.ops}: the row's call hides out="
                refused += 1
                continue
            for shape, out_dtype in ((None, None), ((0,), None), (None, "float64"), (None, "int64")):

                def run(lib: Any, sample: Sample = sample, want: Any = want, like: Any = (shape, out_dtype)) -> Any:
                    return _run_with_out(op, sample, lib, want, *like)

                what = f"{op.name}({sample}, out={out_dtype or dtype}{list(shape) if shape else ''})"
                rtol = max(
                    op.rtol or 0, _RTOL.get(dtype, _RTOL["float32"])
                )  # computed in the op's own dtype, then cast
                succeeded += assert_same_outcome(lambda: run(reftorch), lambda: run(torch), what, rtol)
    assert succeeded or refused == tried or not op.out, f"{op.ops}: no call with out= succeeds"


def _refuses_out(call: Callable[[], Any]) -> bool:
    """Whether there is no such keyword; any other error is one of the call's."""
    return isinstance(outcome(call)[1], TypeError)


def _shows_out(op: OpInfo, torch: Any) -> bool:
    """Whether torch has a public function of the op's name with out=."""
    lib = bare(torch)
    public = hasattr(lib, op.function) or hasattr(lib._C._nn, op.function)
    public = public and not op.function.startswith("special_")  # torch has them in torch.special, under other names
    overloads = getattr(lib.ops.aten, op.function, None)
    if overloads is None or not public:
        return False
    forms = [getattr(overloads, name)._schema for name in overloads.overloads()]
    if lib is reftorch:  # which stands in for torch where the answers are stored, and says which forms are not public
        forms = [form for form in forms if f"{form.name}.{form.overload_name}" not in _only_in_torch_ops()]
    return any(a.is_out for form in forms for a in form.arguments)


@functools.cache
def _only_in_torch_ops() -> set[str]:
    """The out forms of reftorch that torch.ops shows, and no public function."""
    schemas = reftorch._C._get_all_op_schemas()
    return {op["name"] for op in schemas if op["functional"] and not (op["function"] or op["method"] or op["nn"])}


def _run_with_out(
    op: OpInfo, sample: Sample, lib: Any, want: Any, shape: tuple[int, ...] | None = None, dtype: str | None = None
) -> Any:
    args, kwargs = sample.build(lib)

    def like(t: Any) -> Any:
        dtype_name = dtype or str(t.dtype).removeprefix("torch.")
        return lib.zeros(tuple(t.shape) if shape is None else shape, dtype=getattr(lib, dtype_name))

    out = tuple(like(t) for t in want) if isinstance(want, (tuple, list)) else like(want)
    result = op.run(lib, args, {**kwargs, "out": out})
    assert all(r is o for r, o in zip(_as_tuple(result), _as_tuple(out), strict=True))
    return out


# --- gradients -------------------------------------------------------------------------------------------------------


def _as_tuple(result: Any) -> tuple[Any, ...]:
    # Up to Python 3.13, `tuple(result)` asks for the length, too, which would be one more answer of torch.
    return (*result,) if isinstance(result, (list, tuple)) else (result,)


def _differentiable_inputs(args: tuple[Any, ...]) -> list[Any]:
    return [a for arg in args for a in _as_tuple(arg) if getattr(a, "requires_grad", False)]


def both_orders(
    op: OpInfo,
    sample: Sample,
    move: Callable[[Any], Any],
    where: Callable[[], Any],
    defaults: Callable[[], Any],
) -> list[Any]:
    """Our gradients of two orders for the sample's tensors, each moved by ``move``; none if nothing requires one.

    The op runs in the context ``where()``, the formulas in the context ``defaults()``.
    """

    def moved(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(map(moved, value))
        if not isinstance(value, reftorch.Tensor):
            return value
        return move(value.detach()).requires_grad_(value.requires_grad)

    def next_order(results: list[Any], inputs: list[Any], create_graph: bool) -> list[Any]:
        weights = [move((reftorch.arange(r.numel()) + 1.0).sin().reshape(r.shape).to(r.dtype)) for r in results]
        with defaults():
            return list(reftorch.autograd.grad(results, inputs, weights, create_graph=create_graph, allow_unused=True))

    args, kwargs = sample.requiring_grad().build(reftorch)
    args, kwargs = moved(args), {name: moved(value) for name, value in kwargs.items()}
    inputs = _differentiable_inputs(args)
    reftorch.manual_seed(0)
    with where():
        result = op.run(reftorch, args, kwargs)
    results = [r for r in _as_tuple(result) if getattr(r, "requires_grad", False)]
    if not results or not inputs:
        return []
    grads = next_order(results, inputs, create_graph=True)
    twice = [g for g in grads if g is not None and g.requires_grad]
    return [*grads, *next_order(twice, inputs, create_graph=False)] if twice and op.gradcheck else grads


def gradients(op: OpInfo, sample: Sample, lib: Any) -> list[Any]:
    """Gradients of a weighted sum of the results with respect to the inputs; then those of the gradients' sum."""
    args, kwargs = sample.requiring_grad().build(lib)
    inputs = _differentiable_inputs(args)
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


def compare_gradients(op: OpInfo, sample: Sample, torch: Any) -> tuple[int, bool]:
    """First and second derivatives with respect to every floating input: how many were compared, and whether both
    libraries agree that there is none."""
    want, their_error = outcome(lambda: gradients(op, sample, bare(torch)))
    if op.torch_gradient:
        note(torch, lambda: _plain(want), max(op.rtol or 0, TOLERANCE["float32" if _is_single(sample) else "float64"]))
    got, our_error = outcome(lambda: gradients(op, sample, reftorch))
    what = f"gradient of {op.name}({sample})"
    if their_error is not None:
        # torch refuses to differentiate through an integer result; ours does not require a gradient to begin with
        assert our_error is not None or not got or not op.torch_gradient, (
            f"{what}: no error; torch raises {their_error!r}"
        )
        return 0, our_error is None or "derivative" in str(their_error)
    assert our_error is None, f"{what}: {our_error!r}"
    return _compare_gradients(op, sample, got, want, what), not want


def _plain(gradients: list[Any] | None) -> Any:
    """What both libraries have to agree on: zeros are as good as no gradient, and none at all as good as an error."""
    if not gradients:
        return None
    arrays = [None if g is None else (str(g.dtype), to_numpy(g)) for g in gradients]
    return [None if a is None or np.allclose(a[1], 0, atol=1e-6) else a for a in arrays]


def _is_single(sample: Sample) -> bool:
    return DType("float32") in sample.kwargs.values() or any(
        isinstance(a, Input) and a.dtype in FLOATS[1:] for a in sample.args
    )


def check_gradients(op: OpInfo, torch: Any) -> None:
    """In float64, or in another float if the op takes no float64. That there is nothing to compare is right only where
    no result has a gradient."""
    dtype = op.dtypes[0] if op.dtypes[0] in FLOATS and "float64" not in op.dtypes else "float64"
    something = differs = False
    for sample in op.each(dtype):
        try:
            compared, without = compare_gradients(op, sample, torch)
            something = something or compared > 0 or without
        except AssertionError:
            differs = True
            if op.gradient:
                raise
    assert op.gradient or differs, f"{op.ops}: the gradients are the same, so the row is not to leave them out"
    assert something or not op.gradient or dtype not in op.dtypes, f"{op.ops}: no gradient was compared"


def _compare_gradients(op: OpInfo, sample: Sample, got: list[Any], want: list[Any], what: str) -> int:
    rtol = max(op.rtol or 0, _RTOL["float32"] if _is_single(sample) else 0)
    assert len(got) == len(want), what
    compared = 0
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
    compared = 0
    for sample in op.each(dtype):
        condition_first = len(sample.args) == 3 and getattr(sample.args[0], "dtype", None) == "bool"
        if sample.kwargs or any(
            isinstance(a, bool) or (isinstance(a, Input) and a.dtype != dtype) for a in sample.args[condition_first:]
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
            compared += 1
    assert compared, f"{op.ops}: nothing was compared with the reference"


def _small_enough(sample: Sample) -> bool:
    """Whether differences can be taken: each is one call for every element."""
    inputs = [a for arg in sample.args for a in _as_tuple(arg) if isinstance(a, Input)]
    return DType("float32") not in sample.kwargs.values() and not any(
        a.is_float and (a.values.size not in range(1, 13) or a.layout == "expanded" or a.dtype in FLOATS[1:])
        for a in inputs
    )


def check_gradcheck(op: OpInfo) -> None:
    """The formulas against differences of the function itself; needs no torch."""
    checked = without = failed = 0
    for sample in op.each("float64"):
        args, kwargs = sample.requiring_grad().build(reftorch)
        inputs = _differentiable_inputs(args)
        result, error = outcome(lambda: op.run(reftorch, args, kwargs))  # noqa: B023
        if error is not None or not inputs:
            continue
        if not any(getattr(r, "requires_grad", False) for r in _as_tuple(result)):
            without += 1
            continue
        finite = all(np.isfinite(to_numpy(r)).all() for r in _as_tuple(result) if hasattr(r, "numpy"))
        if not finite or not _small_enough(sample):
            continue

        def function(*values: Any, args: Any = args, kwargs: Any = kwargs) -> Any:
            remaining = iter(values)

            def fill(a: Any) -> Any:
                if isinstance(a, (list, tuple)):
                    return type(a)(fill(item) for item in a)
                return next(remaining) if getattr(a, "requires_grad", False) else a

            return tuple(r for r in _as_tuple(op.run(reftorch, fill(args), kwargs)) if r.requires_grad)

        checked += 1
        if not op.gradcheck:
            passed, _ = outcome(lambda: reftorch.autograd.gradcheck(function, inputs))  # noqa: B023
            failed += not passed
            continue
        assert reftorch.autograd.gradcheck(function, inputs), f"{op.name}({sample})"
        if op.gradgradcheck:
            assert reftorch.autograd.gradgradcheck(function, inputs), f"{op.name}({sample})"
        else:
            _, error = outcome(lambda: reftorch.autograd.gradgradcheck(function, inputs))  # noqa: B023
            assert "is not implemented" in str(error), f"{op.name}({sample}): there is a second derivative"
    assert op.gradcheck or failed, f"{op.ops}: gradcheck passes, so the row is not to leave it out"
    assert checked or without or "float64" not in op.dtypes, f"{op.ops}: no sample is fit for gradcheck"


def check_error(call: Callable[[Any], Any], error: type[Exception], message: str, torch: Any) -> None:
    """Our error, and, where it is there, that torch's is of the same type and starts with the same words."""
    for lib in (reftorch, *((torch,) if torch is not None else ())):
        with pytest.raises(error) as raised:
            call(lib)
        assert type(raised.value) is error, f"{lib.__name__} raises {raised.value!r}"
        assert str(raised.value).startswith(message), f"{lib.__name__} says: {raised.value}"
