"""Every row of the op table answers on meta as on the CPU: shapes, strides, dtypes, and which results there are.

Mirrors: test/test_meta.py (TestMeta.test_dispatch_meta_outplace)
Leaves out: values, of which meta has none; whether a kernel takes a dtype, which only the kernel knows.
"""

from typing import Any

import pytest

import reftorch
from tests.op_db import OPS
from tests.op_db.checks import outcome
from tests.op_db.core import OpInfo

DTYPES = ("float32", "int64", "bool")

# What no shape function can answer, and the error: the result, or its shape, depends on elements.
DEPENDS_ON_ELEMENTS = {
    **dict.fromkeys(
        ["masked_select", "nonzero", "nonzero_numpy", "argwhere", "where", "_unique2", "_unique", "unique_dim",
         "unique_consecutive", "unique_dim_consecutive", "bincount", "equal", "index.Tensor"],
        NotImplementedError,
    ),
    **dict.fromkeys(
        ["_local_scalar_dense", "allclose", "is_nonzero", "one_hot", "narrow.Tensor",
         "tensor_split.tensor_indices_or_sections", "repeat_interleave.self_Tensor", "repeat_interleave.Tensor",
         "rnn_tanh.data", "rnn_relu.data", "gru.data", "lstm.data", "ctc_loss.Tensor",
         "_pack_padded_sequence", "_pack_padded_sequence_backward", "_pad_packed_sequence",
         "linspace.Tensor_Tensor",
         "linspace.Tensor_Scalar", "linspace.Scalar_Tensor", "logspace.Tensor_Tensor", "logspace.Tensor_Scalar",
         "logspace.Scalar_Tensor", "_foreach_addcmul.Tensor", "_foreach_addcdiv.Tensor"],
        RuntimeError,
    ),
}  # fmt: skip
# Rows whose calls leave meta themselves: they go to the CPU, or read the results with numpy.
LEAVE_META = {
    "to.device": NotImplementedError,
    "_linalg_svd": NotImplementedError,
    "svd": NotImplementedError,
    "linalg_eigh": NotImplementedError,
    "_linalg_eigh": NotImplementedError,
    "linalg_eig": NotImplementedError,
}
# Factories that torch's default device does not reach, because they take no device in torch or not by that name.
STAY_ON_CPU = ("range.step", "normal.float_float")
# Errors of the CPU that depend on elements, which meta cannot raise: kernels refuse dtypes, zeros and places.
OF_KERNELS = (
    "not implemented for", "ZeroDivisionError", "is out of bounds", "Class values must be smaller",
    "q values must be in the range", "is not finite", "Found an invalid max index",
    "but found idx to be", "offsets[0] has to be 0", "offsets[-1] can not be greater",
    "index out of range in self", "should be between 0 and 1", "target out of range", "'target' is out of range",
    "'is_target' is out of range",
)  # fmt: skip


def on_meta(value: Any) -> Any:
    """The same tensors on meta, geometry for geometry; also in lists and tuples."""
    if isinstance(value, reftorch.Tensor):
        elements = value.untyped_storage().nbytes() // value.itemsize
        whole = reftorch.empty(elements, dtype=value.dtype, device="meta")
        return whole.as_strided(value.shape, value.stride(), value.storage_offset())
    return type(value)(map(on_meta, value)) if isinstance(value, (list, tuple)) else value


def has_tensor(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(has_tensor, value))
    return isinstance(value, reftorch.Tensor)


def described(result: Any) -> Any:
    if isinstance(result, (list, tuple)):
        return tuple(map(described, result))
    if isinstance(result, reftorch.Tensor):
        return result.dtype, tuple(result.shape), result.stride(), result.storage_offset()
    return type(result)


def lies_on_meta(result: Any) -> bool:
    if isinstance(result, (list, tuple)):
        return all(map(lies_on_meta, result))
    return not isinstance(result, reftorch.Tensor) or result.is_meta


def check_meta(op: OpInfo) -> None:
    """Each sample on the CPU, then on meta. Factories inside a row's own call go to meta by the default device."""
    compared = 0
    may_raise = DEPENDS_ON_ELEMENTS.get(op.name) or LEAVE_META.get(op.name)
    for dtype in op.dtypes if op.dtypes == ("uint8",) else DTYPES:
        for sample in op.each(dtype):
            what = f"{op.name}({sample})"
            args, kwargs = sample.build(reftorch)
            want, error = outcome(lambda: op.run(reftorch, args, kwargs))  # noqa: B023
            description = None if error is not None else described(want)
            args, kwargs = sample.build(reftorch)
            args, kwargs = on_meta(args), {name: on_meta(value) for name, value in kwargs.items()}

            def run(args: Any = args, kwargs: Any = kwargs) -> Any:
                with reftorch.device("meta"):
                    return op.run(reftorch, args, kwargs)

            got, meta_error = outcome(run)
            if error is None and meta_error is None:
                assert described(got) == description, what
                assert lies_on_meta(got) or op.name in STAY_ON_CPU, what
                compared += 1
            elif error is None:
                assert may_raise is not None and type(meta_error) is may_raise, f"{what}: {meta_error!r}"
            elif meta_error is None:
                assert any(words in str(error) for words in OF_KERNELS), f"{what}: only the CPU raises {error!r}"
    assert compared or may_raise, f"{op.ops}: no call was compared"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.ops)
def test_meta_answers_as_the_cpu(op: OpInfo) -> None:
    check_meta(op)


RANDOM_CALLS = (
    "rand(3)", "randn(3)", "randperm(4)", "randint(3, (2,))", "empty(3).uniform_()", "ones(4).multinomial(2)",
    "ones(3).bernoulli()", "empty(3).exponential_()",
)  # fmt: skip


@pytest.mark.parametrize("call", RANDOM_CALLS)
def test_random_ops_draw_nothing_for_meta(call: str) -> None:
    before = reftorch.get_rng_state()
    with reftorch.device("meta"):
        assert eval(f"torch.{call}", {"torch": reftorch}).is_meta
    assert reftorch.equal(before, reftorch.get_rng_state())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [op for op in OPS if op.inplace or op.out], ids=lambda op: op.ops)
def test_in_place_and_out_forms_answer_as_on_the_cpu(op: OpInfo) -> None:
    """Both forms return the tensor that they wrote to, with the CPU's geometry."""
    in_place = getattr(reftorch.Tensor, f"{op.function}_", None)
    may_raise = op.name in DEPENDS_ON_ELEMENTS or op.name in LEAVE_META
    for sample in list(op.each("float32"))[:12]:

        def built(sample: Any = sample) -> tuple[Any, Any, Any, Any]:
            args, kwargs = sample.build(reftorch)
            return args, kwargs, on_meta(args), {name: on_meta(value) for name, value in kwargs.items()}

        args, kwargs, meta_args, meta_kwargs = built()
        if in_place is not None and op.name != "detach" and args and isinstance(args[0], reftorch.Tensor):
            _, error = outcome(lambda: in_place(*args, **kwargs))  # noqa: B023
            got, meta_error = outcome(lambda: in_place(*meta_args, **meta_kwargs))  # noqa: B023
            if error is None:
                assert meta_error is None or may_raise, f"{op.function}_({sample}): {meta_error!r}"
                assert meta_error is not None or got is meta_args[0], f"{op.function}_({sample})"
                assert described(meta_args[0]) == described(args[0]), f"{op.function}_({sample})"
        args, kwargs, meta_args, meta_kwargs = built()
        if not has_tensor(args) or op.call is not None:
            continue
        result, error = outcome(lambda: op.run(reftorch, args, kwargs))  # noqa: B023
        if error is None and isinstance(result, reftorch.Tensor):
            out = reftorch.empty(0, dtype=result.dtype)
            meta_out = on_meta(out)
            _, error = outcome(lambda: op.run(reftorch, args, {**kwargs, "out": out}))  # noqa: B023
            _, meta_error = outcome(lambda: op.run(reftorch, meta_args, {**meta_kwargs, "out": meta_out}))  # noqa: B023
            if error is None and (meta_error is None or not may_raise):
                assert meta_error is None, f"{op.name}({sample}, out=): {meta_error!r}"
                assert described(meta_out) == described(out), f"{op.name}({sample}, out=)"
