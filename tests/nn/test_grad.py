"""The gradients of convolutions as functions: those of autograd, and torch's.

Mirrors: test/nn/test_convolution.py (test_grad_conv1d_input and so on)
"""

import importlib
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.nn import grad

F = reftorch.nn.functional


def inputs(t: Any, d: int) -> tuple[Any, Any]:
    x = t.arange(2.0 * 4 * 5**d).reshape(2, 4, *[5] * d).sin()
    return x, t.arange(6.0 * 2 * 2**d).reshape(6, 2, *[2] * d).cos()


@pytest.mark.parametrize("options", [{}, {"stride": 2, "padding": 1, "dilation": 2}, {"padding": 1, "stride": None}])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_gradients_are_those_of_autograd_and_torchs(
    real_torch: ModuleType, d: int, options: dict[str, Any], noted: Any
) -> None:
    options = {"groups": 2, **options, **({"stride": (2,) * d} if options.get("stride", 1) is None else {})}
    found = []
    for t in (reftorch, real_torch):
        x, w = inputs(t, d)
        out = getattr(t.nn.functional, f"conv{d}d")(x, w, **options)
        functions = importlib.import_module(f"{t.__name__}.nn.grad")
        found.append(
            [
                getattr(functions, f"conv{d}d_input")(x.shape, w, out, **options),
                getattr(functions, f"conv{d}d_weight")(x, w.shape, out, **options),
            ]
        )
    noted([x.tolist() for x in found[1]])
    x, w = inputs(reftorch, d)
    out = getattr(F, f"conv{d}d")(x.requires_grad_(), w.requires_grad_(), **options)
    for ours, theirs, expected in zip(*found, reftorch.autograd.grad(out, (x, w), out.detach()), strict=True):
        reftorch.testing.assert_close(ours, expected)
        reftorch.testing.assert_close(ours, reftorch.tensor(theirs.tolist()), atol=1e-4, rtol=1e-4)


def test_a_gradient_of_another_shape_is_refused() -> None:
    x, w = inputs(reftorch, 1)
    with pytest.raises(RuntimeError, match=r"convolution_backward: expected grad_output of shape \[2, 6, 4\].*got"):
        grad.conv1d_input(x.shape, w, reftorch.ones(2, 6, 3), groups=2)
