"""Adam; a few tests are for AdamW too, which is Adam with another decay of the weights.

Mirrors: test/optim/test_optim.py
"""

import copy
import random
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.optim import Adam, AdamW
from reftorch.optim.adam import adam
from tests.optim.rules import (
    SHAPES,
    Training,
    assert_close,
    betas,
    check_capturable,
    check_differentiable,
    check_error,
    check_foreach,
    check_foreach_is_not_differentiable,
    check_fused,
    check_fused_of_16_bits,
    check_fused_with_scaler,
    check_old_state,
    check_options,
    check_rule,
    errors,
    flag,
    foreach,
    log_uniform,
    plain,
    sometimes,
)


def draw(rng: random.Random) -> dict[str, Any]:
    return {
        "lr": log_uniform(rng, 1e-3, 0.1),
        "betas": betas(rng),
        "eps": log_uniform(rng, 1e-8, 1e-2),
        "weight_decay": sometimes(rng, 0.1),
        "amsgrad": flag(rng),
        "maximize": flag(rng),
        "foreach": foreach(rng),
        "decoupled_weight_decay": flag(rng),
    }


@pytest.mark.parametrize("seed", range(20))
def test_fifty_steps_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_rule(real_torch, "Adam", draw, seed)


def test_options_are_those_of_torch(real_torch: ModuleType) -> None:
    check_options(real_torch, "Adam")


def test_an_old_state_is_completed(real_torch: ModuleType) -> None:
    newer = ("amsgrad", "maximize", "foreach", "capturable", "differentiable", "decoupled_weight_decay", "fused")
    check_old_state(real_torch, "Adam", newer)


@pytest.mark.parametrize("options", [{}, {"lr": 0.1, "weight_decay": 0.1, "amsgrad": True}])
def test_gradients_through_steps_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_differentiable(real_torch, "Adam", options)


@pytest.mark.parametrize("name", ["lr", "weight_decay", "beta1", "beta2"])
def test_gradients_of_options_are_those_of_torch(real_torch: ModuleType, name: str) -> None:
    found = []
    for lib in (reftorch, real_torch):
        option = lib.tensor(0.5, dtype=lib.float64, requires_grad=True)
        other = lib.tensor(0.75, dtype=lib.float64)
        pairs = {"beta1": {"betas": (option, other)}, "beta2": {"betas": (other, option)}}
        start = lib.tensor([1.0, -2.0], dtype=lib.float64, requires_grad=True)
        p = start.clone()
        p.grad = lib.tensor([0.5, 3.0], dtype=lib.float64)
        optimizer = lib.optim.Adam([p], **pairs.get(name, {name: option}), differentiable=True)
        optimizer.step()
        p.square().sum().backward()
        found.append([option.grad.item(), *start.grad.tolist()])
    assert_close(found[0], found[1], 1e-6)


def test_capturable_is_refused() -> None:
    check_capturable("Adam")


@pytest.mark.parametrize("option", ["lr", "betas"])
def test_tensors_with_foreach_are_refused_as_in_torch(real_torch: ModuleType, option: str) -> None:
    def make(lib: ModuleType) -> None:
        value = lib.tensor(0.5)
        options = {"lr": value} if option == "lr" else {"betas": (value, value)}
        lib.optim.Adam([lib.nn.Parameter(lib.ones(1))], foreach=True, **options)

    ours, theirs = errors(real_torch, make)
    assert ours == theirs


def parameters(lib: ModuleType) -> list[Any]:
    return [lib.nn.Parameter(lib.tensor(values)) for values in ([1.0, -2.0], [[0.5], [3.0]])]


def steps(lib: ModuleType, optimizer: Any, a: Any, b: Any, count: int = 6) -> list[float]:
    path = []
    for number in range(count):
        optimizer.zero_grad()
        ((a * a).sum() * (b * b).sum() * (0.1 if number % 2 else -0.05)).backward()
        optimizer.step()
        path += a.tolist() + b.reshape(-1).tolist()
    return path


def test_a_step_by_hand() -> None:
    p = reftorch.nn.Parameter(reftorch.tensor([2.0]))
    p.grad = reftorch.tensor([-5.0])
    optimizer = Adam([p], lr=0.25)
    optimizer.step()  # the first step is the sign of the gradient
    assert p.item() == pytest.approx(2.25)
    assert p.is_leaf and p.requires_grad and optimizer.state[p]["step"].item() == 1.0


def test_the_decay_of_adamw_does_not_depend_on_the_gradient() -> None:
    p = reftorch.nn.Parameter(reftorch.tensor([2.0]))
    p.grad = reftorch.zeros(1)
    AdamW([p], lr=0.1, weight_decay=0.5).step()
    assert p.item() == pytest.approx(2.0 * (1 - 0.1 * 0.5))


@pytest.mark.parametrize("cls", [Adam, AdamW])
@pytest.mark.parametrize("way", ["load", "copy"])
def test_going_on_from_a_state(cls: type, way: str) -> None:
    a, b = parameters(reftorch)
    optimizer = cls([a, b], lr=0.1, amsgrad=True)
    steps(reftorch, optimizer, a, b, 3)
    if way == "load":
        c, d = (reftorch.nn.Parameter(p.detach().clone()) for p in (a, b))
        other = cls([c, d])
        other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    else:
        other = copy.deepcopy(optimizer)
        c, d = other.param_groups[0]["params"]
    assert steps(reftorch, other, c, d, 3) == steps(reftorch, optimizer, a, b, 3)


def test_the_closure_records_and_its_loss_comes_back() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(1))
    optimizer = Adam([p], lr=0.25)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (p * p).sum()
        loss.backward()
        return loss

    with reftorch.no_grad():
        assert optimizer.step(closure).item() == 1.0
    assert p.item() == pytest.approx(0.75)


ERRORS: list[dict[str, Any]] = [
    {"lr": -1.0},
    {"eps": -1.0},
    {"betas": (1.0, 0.9)},
    {"betas": (0.9, -0.1)},
    {"weight_decay": -0.5},
    {"betas": (0, 0.9)},
    {"fused": True, "foreach": True},
    {"fused": True, "differentiable": True},
]


@pytest.mark.parametrize("options", ERRORS, ids=str)
def test_errors_are_those_of_torch(real_torch: ModuleType, options: dict[str, Any]) -> None:
    check_error(real_torch, "Adam", options)


def test_options_may_be_tensors(real_torch: ModuleType) -> None:
    paths = []
    for lib in (reftorch, real_torch):
        a, b = parameters(lib)
        optimizer = lib.optim.Adam([a, b], lr=lib.tensor(0.1), betas=(lib.tensor(0.5), lib.tensor(0.75)))
        paths.append(steps(lib, optimizer, a, b))
    assert paths[0] == pytest.approx(paths[1], rel=1e-5, abs=1e-6)
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        Adam(parameters(reftorch), lr=reftorch.ones(2))


def test_training_brings_the_loss_down() -> None:
    reftorch.manual_seed(0)
    nn = reftorch.nn
    net = nn.Sequential(nn.Linear(2, 16), nn.LayerNorm(16), nn.GELU(), nn.Dropout(0.1), nn.Linear(16, 1))
    x = reftorch.randn(64, 2)
    target = (x[:, :1] * x[:, 1:] > 0).float()
    loss_fn, optimizer = nn.BCEWithLogitsLoss(), AdamW(net.parameters(), lr=0.03)
    losses = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = loss_fn(net(x), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]


@pytest.mark.parametrize("seed", range(10))
def test_functions_of_lists_do_what_the_loop_does(seed: int) -> None:
    check_foreach(draw, "Adam", seed)


def test_functions_of_lists_are_not_differentiable(real_torch: ModuleType) -> None:
    check_foreach_is_not_differentiable(real_torch, "Adam")


@pytest.mark.parametrize("seed", range(4))
def test_the_fused_kernel_gives_the_numbers_of_the_loop_and_of_torch(real_torch: ModuleType, seed: int) -> None:
    check_fused(real_torch, draw, "Adam", seed)


def test_the_fused_kernel_and_16_bits(real_torch: ModuleType) -> None:
    check_fused_of_16_bits(real_torch, "Adam", {"lr": 0.1, "amsgrad": True})


def test_the_fused_kernel_and_a_scaler(real_torch: ModuleType) -> None:
    check_fused_with_scaler(real_torch, "Adam")


def ops_of_a_step(*dtypes: reftorch.dtype, **options: object) -> set[str]:
    """Return the names of the ops that show which form of the rule made a step."""
    params = [reftorch.nn.Parameter(reftorch.ones(3, dtype=dtype)) for dtype in dtypes]
    for p in params:
        p.grad = reftorch.ones_like(p)
    optimizer = reftorch.optim.Adam(params, **options)
    with reftorch.profiler.profile() as profile:
        optimizer.step()
    return {"aten::_fused_adam_", "aten::addcdiv_", "aten::_foreach_addcdiv_"} & {e.name for e in profile.events()}


def test_the_fused_kernel_is_the_default_where_its_numbers_are_those_of_the_loop() -> None:
    f32, f64, bf16 = reftorch.float32, reftorch.float64, reftorch.bfloat16
    kernel = {"aten::_fused_adam_"}
    assert ops_of_a_step(f32) == ops_of_a_step(f32, f64) == ops_of_a_step(bf16, fused=True) == kernel
    others = [ops_of_a_step(bf16), ops_of_a_step(f32, bf16), ops_of_a_step(f32, foreach=True)]
    others += [ops_of_a_step(f32, foreach=False), ops_of_a_step(f32, fused=False)]
    others += [ops_of_a_step(f32, lr=reftorch.tensor(0.1))]
    assert all(names and names.isdisjoint(kernel) for names in others)


def test_a_count_of_steps_in_float64_keeps_the_fused_kernel_from_being_the_default() -> None:
    reftorch.set_default_dtype(reftorch.float64)
    try:
        assert "aten::_fused_adam_" not in ops_of_a_step(reftorch.float64)
    finally:
        reftorch.set_default_dtype(reftorch.float32)


def test_the_rule_under_vmap_has_no_fused_kernel() -> None:
    """The kernel has no batching rule, so the default must be another form."""

    def step(p: reftorch.Tensor, grad: reftorch.Tensor) -> reftorch.Tensor:
        p, mean, square = p.clone(), reftorch.zeros_like(p), reftorch.zeros_like(p)
        options = {"beta1": 0.9, "beta2": 0.99, "lr": 0.5, "weight_decay": 0.0, "eps": 0.0}
        with reftorch.no_grad():
            count = reftorch.zeros(())
            adam([p], [grad], [mean], [square], [], [count], amsgrad=False, maximize=False, **options)
        return p

    grads = reftorch.tensor([[1.0, -2.0], [3.0, 4.0]])
    stepped = reftorch.vmap(step)(reftorch.ones(2, 2), grads)
    assert reftorch.allclose(stepped, reftorch.tensor([[0.5, 1.5], [0.5, 0.5]]))


@pytest.mark.parametrize("seed", range(10))
def test_the_default_gives_the_numbers_of_the_loop(seed: int) -> None:
    name = f"Adam default {seed}"
    options = {**draw(random.Random(name)), "foreach": None}
    found: list[Any] = []
    forms: list[dict[str, Any]] = [{}, {"foreach": False, "fused": False}]
    for form in forms:
        training = Training(reftorch, "Adam", {**options, **form}, name, SHAPES, "float32")
        found.append((training.steps(10), plain(training.optimizer.state_dict()["state"])))
    assert found[0] == found[1], options


def test_integers_have_no_fused_kernel() -> None:
    p = reftorch.nn.Parameter(reftorch.ones(2, dtype=reftorch.int64), requires_grad=False)
    p.grad = reftorch.ones(2, dtype=reftorch.int64)
    with pytest.raises(RuntimeError, match="`fused=True` requires all the params to be floating point Tensors of"):
        reftorch.optim.Adam([p], fused=True).step()
