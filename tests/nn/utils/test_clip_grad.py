"""Clipping gradients.

Mirrors: test/test_nn.py, its tests of ``clip_grad_norm_`` and ``clip_grad_value_``
"""

import math
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.nn.utils import clip_grad_norm_, clip_grad_value_


def with_grads(lib: ModuleType, *grads: list[float]) -> list[Any]:
    params = []
    for grad in grads:
        param = lib.nn.Parameter(lib.zeros(len(grad)))
        param.grad = lib.tensor(grad)
        params.append(param)
    return params


@pytest.mark.parametrize("norm_type", [0.5, 1.0, 1.5, 2.0, 4.0, math.inf])
@pytest.mark.parametrize("max_norm", [0.5, 100.0])
@pytest.mark.parametrize("foreach", [None, True, False])
def test_norm_is_that_of_torch(real_torch: ModuleType, norm_type: float, max_norm: float, foreach: bool | None) -> None:
    results = []
    for lib in (reftorch, real_torch):
        params = with_grads(lib, [1.0, -2.0, 3.0], [0.5, -4.0])
        norm = lib.nn.utils.clip_grad_norm_(params, max_norm, norm_type, foreach=foreach)
        results.append([norm.item(), *(value for p in params for value in p.grad.tolist())])
    assert results[0] == pytest.approx(results[1], rel=1e-6)


def test_gradients_are_scaled_together() -> None:
    params = with_grads(reftorch, [3.0, 0.0], [4.0])
    params.append(reftorch.nn.Parameter(reftorch.zeros(2)))
    assert clip_grad_norm_(params, 1.0).item() == pytest.approx(5.0)
    assert params[0].grad.tolist() == pytest.approx([0.6, 0.0])
    assert params[1].grad.tolist() == pytest.approx([0.8])
    assert params[2].grad is None


def test_no_gradients_have_norm_zero() -> None:
    assert clip_grad_norm_(reftorch.nn.Parameter(reftorch.zeros(2)), 1.0).item() == 0.0


def test_an_empty_generator_is_warned_about() -> None:
    with pytest.warns(UserWarning, match="empty generator"):
        clip_grad_norm_((p for p in []), 1.0)


def test_a_norm_that_is_not_finite_raises_on_request() -> None:
    params = with_grads(reftorch, [math.inf])
    with pytest.raises(RuntimeError, match=r"total norm of order 2\.0 .* is non-finite"):
        clip_grad_norm_(params, 1.0, error_if_nonfinite=True)
    assert params[0].grad.tolist() == [math.inf]


def test_gradients_of_several_dtypes_are_clipped_together(real_torch: ModuleType) -> None:
    results = []
    for lib in (reftorch, real_torch):
        params = with_grads(lib, [1.0, -2.0, 3.0], [0.5, -4.0])
        params.append(lib.nn.Parameter(lib.zeros(2, dtype=lib.float64)))
        params[-1].grad = lib.tensor([2.0, 7.0], dtype=lib.float64)
        norm = lib.nn.utils.clip_grad_norm_((p for p in params), 1.0)
        results.append([norm.item(), *(value for p in params for value in p.grad.tolist())])
        assert [str(p.grad.dtype)[-2:] for p in params] == ["32", "32", "64"]
    assert results[0] == pytest.approx(results[1], rel=1e-6)


def test_a_norm_may_come_from_elsewhere(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        params = with_grads(lib, [3.0], [4.0])
        norm = lib.nn.utils.get_total_norm([p.grad for p in params])
        assert norm.item() == pytest.approx(5.0)
        assert lib.nn.utils.get_total_norm([]).item() == 0.0
        lib.nn.utils.clip_grads_with_norm_(params, 1.0, norm * 2)
        assert params[0].grad.item() == pytest.approx(0.3)
        with pytest.warns(FutureWarning, match="`torch.nn.utils.clip_grad_norm` is now deprecated"):
            lib.nn.utils.clip_grad_norm(params, 1.0)


@pytest.mark.parametrize("foreach", [None, True, False])
def test_values_are_clamped(foreach: bool | None) -> None:
    params = with_grads(reftorch, [-3.0, 0.5], [9.0])
    clip_grad_value_(params, 2, foreach)
    assert [p.grad.tolist() for p in params] == [[-2.0, 0.5], [2.0]]
