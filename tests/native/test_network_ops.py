"""Borders, channels and pixels, and ops that have weights of their own, against torch's.

Mirrors: test/test_nn.py
"""

from collections.abc import Callable
from typing import Any

import pytest

import reftorch
from tests.op_db.checks import check_error
from tests.op_db.suite import OpTests


class TestRows(OpTests):
    FAMILIES = "dropout pad_nd padding pixel_shuffle bilinear"


ERRORS: list[tuple[Callable[[Any], Any], type[Exception], str]] = [
    (
        lambda t: t.constant_pad_nd(t.ones(2), (1, 1, 1)),
        RuntimeError,
        "Length of pad must be even but instead it equals 3",
    ),
    (lambda t: t.constant_pad_nd(t.ones(4), (-3, -2)), RuntimeError, "narrow(): length must be non-negative."),
    (
        lambda t: t.pixel_shuffle(t.ones(2, 2), 2),
        RuntimeError,
        "pixel_shuffle expects input to have at least 3 dimensions, but got input with 2 dimension(s)",
    ),
    (
        lambda t: t.pixel_shuffle(t.ones(1, 3, 2, 2), 2),
        RuntimeError,
        "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
        "input.size(-3)=3 is not divisible by 4",
    ),
    (
        lambda t: t.pixel_shuffle(t.ones(1, 4, 2, 2), 0),
        RuntimeError,
        "pixel_shuffle expects a positive upscale_factor, but got 0",
    ),
    (
        lambda t: t.pixel_unshuffle(t.ones(1, 3, 2), 2),
        RuntimeError,
        "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=3 is not divisible by "
        "2",
    ),
    (
        lambda t: t.pixel_unshuffle(t.ones(1, 2, 3), 2),
        RuntimeError,
        "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=3 is not divisible by 2",
    ),
    (
        lambda t: t.channel_shuffle(t.ones(1, 4), 2),
        RuntimeError,
        "channel_shuffle expects input with > 2 dims, but got input with sizes [1, 4]",
    ),
    (
        lambda t: t.channel_shuffle(t.ones(1, 4, 2), 3),
        RuntimeError,
        "Number of channels must be divisible by groups. Got 4 channels and 3 groups.",
    ),
    (
        lambda t: t.channel_shuffle(t.ones(1, 4, 2), 0),
        RuntimeError,
        "Number of groups to divide channels in must be positive. Value of groups:0",
    ),
    (
        lambda t: t.prelu(t.ones(2, 3), t.ones(2)),
        RuntimeError,
        "Mismatch of parameter numbers and input channel size. Found parameter numbers = 2 and channel size = 3.",
    ),
    (lambda t: t.prelu(t.ones(()), t.ones(3)), RuntimeError, "Not allow zero-dim input tensor."),
    (
        lambda t: t.prelu(t.ones(2, 3), t.ones(3, dtype=t.double)),
        RuntimeError,
        "prelu: Type promoting not supported. Got Float and Double",
    ),
    (
        lambda t: t.prelu(t.ones(3, dtype=t.long), t.ones(1, dtype=t.long)),
        NotImplementedError,
        "\"prelu_cpu\" not implemented for 'Long'",
    ),
    (
        lambda t: t.bilinear(t.ones(2, 4), t.ones(3), t.ones(5, 4, 3)),
        RuntimeError,
        "bilinear(): input dimensions do not match: got 2 and 1",
    ),
    (
        lambda t: t.bilinear(t.ones(3, 4), t.ones(2, 3), t.ones(5, 4, 3)),
        RuntimeError,
        "bilinear(): input batch dimensions do not match at dim 0: got 3 and 2",
    ),
    (
        lambda t: t.bilinear(t.ones(2, 4), t.ones(2, 3), t.ones(5, 3, 3)),
        RuntimeError,
        "bilinear(): input1 size does not match weight size: got 4 but expected 3",
    ),
    (
        lambda t: t.bilinear(t.ones(2, 4), t.ones(2, 3), t.ones(5, 4, 2)),
        RuntimeError,
        "bilinear(): input2 size does not match weight size: got 3 but expected 2",
    ),
    (
        lambda t: t.bilinear(t.ones(2, 4), t.ones(2, 3), t.ones(5, 4, 3), t.ones(4)),
        RuntimeError,
        "bilinear(): bias size does not match weight size: got 4 but expected 5",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), ERRORS)
def test_error(call: Any, error: type[Exception], message: str, real_torch_or_none: Any) -> None:
    check_error(call, error, message, real_torch_or_none)


def test_more_numbers_than_a_tensor_has_sides() -> None:
    with pytest.raises(
        RuntimeError, match=r"no more than twice the number of dimensions of the input\. Pad length is 4"
    ):
        reftorch.constant_pad_nd(reftorch.ones(2), (1, 1, 1, 1))


def test_what_is_channels_last_stays_so(real_torch: Any) -> None:
    for call in (
        lambda t, x: t.constant_pad_nd(x, (1, 1)),
        lambda t, x: t.constant_pad_nd(x, (-1, 0)),
        lambda t, x: t.pixel_shuffle(x, 2),
        lambda t, x: t.pixel_unshuffle(x, 2),
        lambda t, x: t.channel_shuffle(x, 2),
    ):
        strides = [
            tuple(call(t, t.ones(2, 8, 4, 4).to(memory_format=t.channels_last)).stride())
            for t in (reftorch, real_torch)
        ]
        assert strides[0] == strides[1]


@pytest.mark.parametrize("pad", [(-3, 4), (4, -3), (-5, 1)])
def test_a_circular_border_needs_what_the_crop_leaves(pad: tuple[int, int]) -> None:
    """torch compares the border with the size before the crop, and may copy memory that nothing has written."""
    x = reftorch.arange(20.0).reshape(2, 2, 5)
    with pytest.raises(RuntimeError, match="Padding value causes wrapping around more than once"):
        reftorch.nn.functional.pad(x, pad, mode="circular")


def test_a_weight_has_a_gradient_beside_infinities(real_torch: Any) -> None:
    grads = []
    for t in (reftorch, real_torch):
        x, w = t.tensor([float("inf"), -1.0, 0.0], requires_grad=True), t.tensor([0.0], requires_grad=True)
        t.prelu(x, w).sum().backward()
        grads.append((x.grad.tolist(), w.grad.tolist()))
    assert grads[0] == grads[1]


def test_a_border_under_vmap() -> None:
    x = reftorch.arange(12.0).reshape(2, 3, 2)
    padded = reftorch.func.vmap(lambda one: reftorch.constant_pad_nd(one, (1, 0, 0, 1), 7), in_dims=2, out_dims=2)(x)
    for i in range(2):
        assert padded[..., i].equal(reftorch.constant_pad_nd(x[..., i], (1, 0, 0, 1), 7))
