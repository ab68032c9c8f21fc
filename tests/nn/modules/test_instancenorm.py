"""Normalization of each channel of each example against torch's.

Mirrors: test/test_nn.py
"""

from typing import Any

import pytest

import reftorch
from tests.nn.modules.layers import check_error, check_layer


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("tracks", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_layer(affine: bool, tracks: bool, bias: bool, real_torch: Any) -> None:
    check_layer(
        lambda t: t.nn.InstanceNorm1d(4, affine=affine, track_running_stats=tracks, bias=bias, momentum=0.3),
        real_torch,
    )


@pytest.mark.parametrize(("dims", "shape"), [(1, (2, 5)), (2, (2, 5, 3)), (3, (2, 2, 3, 4))])
def test_one_example_without_a_batch(dims: int, shape: tuple[int, ...], real_torch: Any) -> None:
    def normalized(t: Any) -> Any:
        x = (t.arange(t.Size(shape).numel(), dtype=t.float64) * 0.7).sin().reshape(shape)
        return getattr(t.nn, f"InstanceNorm{dims}d")(2)(x).flatten().tolist()

    assert normalized(reftorch) == pytest.approx(normalized(real_torch))


def test_lazy_layers(real_torch: Any, noted: Any) -> None:
    def made(t: Any) -> Any:
        layer = t.nn.LazyInstanceNorm2d()
        before = repr(layer), list(layer.state_dict())
        layer(t.ones(2, 3, 4, 4))
        return before, repr(layer), type(layer).__name__, {k: tuple(v.shape) for k, v in layer.state_dict().items()}

    assert made(reftorch) == noted(made(real_torch))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.nn.InstanceNorm2d(3)(t.ones(2, 3)),
        lambda t: t.nn.InstanceNorm2d(3, affine=True)(t.ones(2, 4, 3, 3)),
        lambda t: t.nn.InstanceNorm1d(3)(t.ones(2, 3, 1)),
    ],
)
def test_wrong_input(call: Any, real_torch: Any) -> None:
    check_error(call, real_torch)


def test_a_wrong_number_of_features_without_parameters_warns() -> None:
    with pytest.warns(UserWarning, match="does not match num_features"):
        reftorch.nn.InstanceNorm1d(3)(reftorch.ones(2, 4, 5))
