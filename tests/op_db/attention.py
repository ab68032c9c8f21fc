"""Rows of scaled dot-product attention.

Mirrors: torch/testing/_internal/common_methods_invocations.py (sample_inputs_scaled_dot_product_attention)
Leaves out: complex inputs.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.op_db.core import FLOATS, Apart, Input, Inputs, OpInfo, Sample
from tests.op_db.samples.factories import seeded


def attends(make: Inputs) -> Iterator[Sample]:
    few = (make(1, 1, 2, 2), make(1, 1, 3, 2), make(1, 1, 3, 2))
    yield Sample(few)
    yield Sample(few, {"is_causal": True})
    heads = (make(2, 2, 4, 3), make(2, 2, 5, 3), make(2, 2, 5, 3))
    yield Sample(heads, {"scale": -0.5})
    yield Sample(heads, {"is_causal": True, "scale": 0.5})
    for mask in (make(4, 5, dtype="bool"), make(2, 1, 1, 5, dtype="bool"), make(2, 2, 4, 5), make(3, 4, 5)):
        yield Sample((*heads, mask))
    yield Sample((make(2, 4, 3, 2, layout="transposed"), make(2, 4, 3, 2), make(2, 4, 3, 2)))
    yield Sample((make(1, 4, 2, 3), make(1, 2, 3, 3), make(1, 2, 3, 3)), {"enable_gqa": True})
    yield Sample((make(2, 4, 3), make(2, 5, 3), make(2, 5, 2)))  # in small operations, as the next ones
    yield Sample((make(2, 3), make(5, 3), make(5, 3)), {"is_causal": True})
    yield Sample((make(2, 3), make(5, 3), make(5, 3), make(2, 5, dtype="bool")))
    yield Sample((make(1, 1, 2, 2), make(1, 1, 3, 2), make(1, 1, 3, 3)))
    yield Sample((make(1, 2, 2, 2), make(1, 2, 0, 2), make(1, 2, 0, 2)))
    # without elements: zeros in the batches of query, or in small operations, which broadcast
    yield Sample((make(2, 0, 3), make(1, 4, 3), make(3, 4, 5)))
    yield Sample((make(1, 2, 3), make(2, 4, 3), make(2, 0, 1, 3)))
    yield Sample((make(1, 2, 3), make(0, 4, 3), make(1, 4, 3)))
    yield Sample((make(2, 0), make(3, 0), make(3, 5)))
    yield Sample((make(2, 3), make(0, 3), make(4, 3)))
    yield Sample((make(2, 3), make(5, 3), make(5, 3), make(2, 5), 0.0, True))
    yield Sample((make(2, 3), make(5, 2), make(5, 3)))
    yield Sample((make(3), make(3), make(3)))
    yield Sample((make(2, 3), make(5, 3), make(5, 3), make(2, 5, dtype="int32")))


def in_small_operations(make: Inputs) -> Iterator[Sample]:
    yield Sample((make(2, 3), make(2, 3), make(2, 2)))
    yield Sample((make(2, 2, 3), make(2, 4, 3), make(2, 4, 2), make(2, 4)))
    yield Sample((make(2, 2, 3), make(2, 4, 3), make(2, 4, 2)), {"is_causal": True, "scale": -2.0})
    yield Sample((make(2, 2, 3), make(2, 4, 3), make(2, 4, 2), None, 0.5))
    yield Sample((make(2, 2, 3), make(1, 4, 3), make(1, 4, 2)), {"enable_gqa": True})
    yield Sample((make(2, 3), make(2, 3), make(2, 3), make(2, 2), 0.0, True))


def by_tiles(make: Inputs) -> Iterator[Sample]:
    if make.dtype in ("float16", "bfloat16"):  # torch rounds logsumexp too, ours is computed in float32
        return
    few = (make(1, 1, 2, 2), make(1, 1, 3, 2), make(1, 1, 3, 2))
    yield Sample(few)
    yield Sample(few, {"is_causal": True, "scale": 0.3})
    yield Sample((make(2, 2, 4, 3), make(2, 2, 5, 3), make(2, 2, 5, 3)), {"attn_mask": make(4, 5)})
    yield Sample((make(1, 4, 2, 3), make(1, 2, 3, 3), make(1, 2, 3, 3)))
    yield Sample((make(1, 1, 70, 3), make(1, 1, 70, 3), make(1, 1, 70, 3)), {"is_causal": True})
    yield Sample((make(1, 1, 3, 2), make(1, 1, 600, 2), make(1, 1, 600, 2)))
    yield Sample((make(2, 3), make(2, 3), make(2, 3)))
    yield Sample((make(1, 1, 2, 2), make(1, 1, 3, 2), make(1, 1, 3, 1)))
    yield Sample((*few, 0.5))
    yield Sample(few, {"attn_mask": make(2, 3, dtype="bool")})
    yield Sample(few, {"attn_mask": make(1, 2, 3)})


def backwards(make: Inputs) -> Iterator[Sample]:
    if make.dtype in ("float64", "float32"):
        for L, S, causal in ((2, 3, False), (70, 70, True), (3, 600, False)):
            grad, query = make(1, 1, L, 2), make(1, 1, L, 2)
            yield Sample((grad, query, make(1, 1, S, 2), make(1, 1, S, 2), causal, None))
        yield Sample((make(1, 4, 2, 3), make(1, 4, 2, 3), make(1, 2, 5, 3), make(1, 2, 5, 3), False, make(2, 5)))


def backward(lib: Any, grad: Any, query: Any, key: Any, value: Any, is_causal: bool, mask: Any) -> Any:
    """The backward reads results of the forward, so the row calls both."""
    output, logsumexp = lib._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, is_causal=is_causal, attn_mask=mask
    )
    op = lib.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward
    return op(grad, query, key, value, output.detach(), logsumexp.detach(), 0.0, is_causal, attn_mask=mask)


def safe(make: Inputs) -> Iterator[Sample]:
    for dim in (0, -1):
        yield Sample((make(2, 3), dim))
        yield Sample((make(3, 2, 2, layout="transposed"), dim))
    yield Sample((make.of([-float("inf"), -float("inf")], [0, -float("inf")]), -1))
    yield Sample((make(), 0))
    yield Sample((make(2, 3), 2))


def turns_the_end_around(sample: Sample) -> bool:
    scale = sample.kwargs.get("scale")
    return bool(sample.kwargs.get("is_causal")) and scale is not None and scale <= 0


def reads_beyond(sample: Sample) -> bool:
    """Whether keys and values have four dimensions and other sizes than the batch of queries asks for."""
    shapes = [arg.values.shape for arg in sample.args[:3] if isinstance(arg, Input)]
    return (
        len(shapes) == 3
        and all(len(s) == 4 for s in shapes)
        and not (
            shapes[1] == shapes[2] and shapes[0][0] == shapes[1][0] and shapes[1][1] and not shapes[0][1] % shapes[1][1]
        )
    )


def is_not_finite(sample: Sample) -> bool:
    return any(
        isinstance(arg, Input) and not np.isfinite(arg.values).all() for arg in (*sample.args, *sample.kwargs.values())
    )


def backward_reads_beyond(sample: Sample) -> bool:
    """Whether the gradient or the mask has other sizes than the queries and keys ask for."""
    grad, query, key, _, _, mask = (arg.values.shape if isinstance(arg, Input) else () for arg in sample.args)
    return grad != query or reads_beyond(Sample(sample.args[1:4])) or (len(mask) > 0 and mask != (query[-2], key[-2]))


def has_no_steps(sample: Sample) -> bool:
    """Whether there are no queries, keys or values."""
    return any(isinstance(arg, Input) and arg.values.shape[-2:-1] == (0,) for arg in sample.args[:3])


def has_no_features(sample: Sample) -> bool:
    return isinstance(sample.args[0], Input) and sample.args[0].values.shape[-1:] == (0,)


def has_no_heads(sample: Sample) -> bool:
    """Whether keys or values without heads are to be repeated for all heads of the queries."""
    repeats = sample.kwargs.get("enable_gqa", False)
    return repeats and any(isinstance(arg, Input) and arg.values.shape[-3:-2] == (0,) for arg in sample.args[1:3])


def has_strides(sample: Sample) -> bool:
    return any(isinstance(arg, Input) and arg.layout != "contiguous" for arg in sample.args[:4])


APART = (
    Apart("torch's kernel takes the last stride for 1, without a check", says="Mismatched elements", when=has_strides),
    Apart("torch's kernel writes with the strides of queries", says="strides", when=has_strides),
    Apart("torch divides the number of heads by zero", when=has_no_heads, crashes=True),
    Apart("torch reads beyond keys or values of other lengths", when=reads_beyond, crashes=True),
    Apart("torch's order of sums and products decides which infinities become NaN", when=is_not_finite),
    Apart("torch multiplies the -inf of later keys by the scale: NaN", when=turns_the_end_around),
)
KERNEL_APART = (
    Apart("torch divides by the number of queries or keys", when=has_no_steps, crashes=True),
    Apart("torch multiplies sums of no products by an infinite scale", says="nan location", when=has_no_features),
    *APART,
)
BACKWARD_APART = (
    Apart("torch reads beyond gradients or masks of other sizes", when=backward_reads_beyond, crashes=True),
    *KERNEL_APART,
)
# torch has no second gradient of its kernel, and ours is held by gradcheck.
ATTENTION: dict[str, Any] = {
    "dtypes": FLOATS[:2],
    "out": False,
    "low": -2,
    "high": 2,
    "rtol": 1e-4,
    "torch_gradient": False,
    "apart": APART,
}
ROWS = [
    OpInfo("scaled_dot_product_attention", attends, **ATTENTION),
    OpInfo(
        "_scaled_dot_product_attention_math",
        in_small_operations,
        call=seeded("_scaled_dot_product_attention_math"),
        **{**ATTENTION, "torch_gradient": True},
    ),
    OpInfo("_scaled_dot_product_flash_attention_for_cpu", by_tiles, **{**ATTENTION, "apart": KERNEL_APART}),
    OpInfo("_safe_softmax", safe, out=False),
]
VALUES = [
    OpInfo(
        "_scaled_dot_product_flash_attention_for_cpu_backward",
        backwards,
        call=backward,
        gradient=False,
        **{**ATTENTION, "apart": BACKWARD_APART},
    ),
    OpInfo("_fused_sdp_choice", attends, **{**ATTENTION, "gradient": False}),
]
