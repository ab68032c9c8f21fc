"""Schedules of the learning rate.

Mirrors: test/optim/test_lrscheduler.py
"""

import copy
import gc
import pickle
import random
import types
import warnings
import weakref
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.optim.rules import assert_close, errors, flag, log_uniform, plain


class Halving:
    """A function with attributes, as a schedule can save them."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, epoch: float) -> float:
        return self.factor**epoch


def draw_lambda(rng: random.Random) -> Callable[[int], float]:
    factor = rng.uniform(0.5, 1.0)
    return Halving(factor) if flag(rng) else lambda epoch: 1.0 / (1.0 + factor * epoch)


def lambdas(rng: random.Random) -> Any:
    return [draw_lambda(rng), draw_lambda(rng)] if flag(rng) else draw_lambda(rng)


def pair(rng: random.Random, low: float, high: float) -> Any:
    return [rng.uniform(low, high), rng.uniform(low, high)] if flag(rng) else rng.uniform(low, high)


# How options of each schedule are drawn.
DRAWS: dict[str, Callable[[random.Random], dict[str, Any]]] = {
    "LambdaLR": lambda rng: {"lr_lambda": lambdas(rng)},
    "MultiplicativeLR": lambda rng: {"lr_lambda": lambdas(rng)},
    "StepLR": lambda rng: {"step_size": rng.randint(1, 7), "gamma": rng.uniform(0.1, 1.0)},
    "MultiStepLR": lambda rng: {
        "milestones": [rng.randint(0, 20) for _ in range(rng.randint(0, 5))],
        "gamma": rng.uniform(0.1, 1.0),
    },
    "ConstantLR": lambda rng: {"factor": rng.uniform(0.1, 1.0), "total_iters": rng.randint(1, 20)},
    "LinearLR": lambda rng: {
        "start_factor": rng.uniform(0.1, 1.0),
        "end_factor": rng.uniform(0.0, 1.0),
        "total_iters": rng.randint(1, 20),
    },
    "ExponentialLR": lambda rng: {"gamma": rng.uniform(0.5, 1.1)},
    "PolynomialLR": lambda rng: {"total_iters": rng.randint(1, 20), "power": rng.uniform(0.5, 3.0)},
    "CosineAnnealingLR": lambda rng: {"T_max": rng.randint(1, 20), "eta_min": rng.choice([0.0, 0.001])},
    "CosineAnnealingWarmRestarts": lambda rng: {
        "T_0": rng.randint(1, 6),
        "T_mult": rng.randint(1, 3),
        "eta_min": rng.choice([0.0, 0.001]),
    },
    "CyclicLR": lambda rng: {
        "base_lr": pair(rng, 0.001, 0.01),
        "max_lr": pair(rng, 0.1, 1.0),
        "step_size_up": rng.randint(1, 8),
        "step_size_down": rng.choice([None, 1, 5]),
        "mode": rng.choice(["triangular", "triangular2", "exp_range"]),
        "gamma": rng.uniform(0.9, 1.0),
        "scale_fn": rng.choice([None, Halving(0.9), lambda x: 0.5]),
        "scale_mode": rng.choice(["cycle", "iterations"]),
        "cycle_momentum": flag(rng),
        "base_momentum": rng.uniform(0.5, 0.8),
        "max_momentum": rng.uniform(0.8, 0.99),
    },
    "OneCycleLR": lambda rng: {
        "max_lr": pair(rng, 0.1, 1.0),
        **rng.choice([{"total_steps": 30}, {"epochs": 5, "steps_per_epoch": 6}]),
        "pct_start": rng.uniform(0.1, 0.5),
        "anneal_strategy": rng.choice(["cos", "linear"]),
        "cycle_momentum": flag(rng),
        "base_momentum": pair(rng, 0.5, 0.8),
        "max_momentum": pair(rng, 0.8, 0.99),
        "div_factor": rng.uniform(2.0, 30.0),
        "final_div_factor": log_uniform(rng, 10.0, 1e4),
        "three_phase": flag(rng),
    },
    "ReduceLROnPlateau": lambda rng: {
        "mode": rng.choice(["min", "max"]),
        "factor": rng.uniform(0.1, 0.9),
        "patience": rng.randint(0, 3),
        "threshold": rng.uniform(0.0, 0.2),
        "threshold_mode": rng.choice(["rel", "abs"]),
        "cooldown": rng.randint(0, 3),
        "min_lr": pair(rng, 0.0, 0.05),
        "eps": log_uniform(rng, 1e-8, 1e-2),
    },
}
CHAINABLE = ("LambdaLR", "StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR",
             "CosineAnnealingLR")  # fmt: skip


def optimizer_of(lib: ModuleType, seed: str) -> Any:
    rng = random.Random(seed)
    rule = rng.choice(["SGD", "Adam"])
    options = {"momentum": 0.9} if rule == "SGD" else {}
    lrs = [log_uniform(rng, 0.01, 1.0) for _ in range(2)]
    params = [lib.nn.Parameter(lib.ones(1)) for _ in range(2)]
    return getattr(lib.optim, rule)([{"params": params[0]}, {"params": params[1], "lr": lrs[1]}], lr=lrs[0], **options)


def scheduler_of(lib: ModuleType, name: str, seed: str, optimizer: Any) -> Any:
    schedules = lib.optim.lr_scheduler
    rng = random.Random(seed)
    if name in DRAWS:
        return getattr(schedules, name)(optimizer, **DRAWS[name](rng))
    names = [rng.choice(CHAINABLE) for _ in range(3)]
    parts = [scheduler_of(lib, part, f"{seed} {i}", optimizer) for i, part in enumerate(names)]
    if name == "ChainedScheduler":
        return schedules.ChainedScheduler(parts)
    return schedules.SequentialLR(optimizer, parts, sorted(rng.sample(range(1, 20), 2)))


def groups_of(optimizer: Any) -> Any:
    return [{key: plain(value) for key, value in group.items() if key != "params"} for group in optimizer.param_groups]


def trajectory(optimizer: Any, scheduler: Any, seed: str, count: int) -> list[Any]:
    """What the groups and ``get_last_lr`` say after each step; a schedule that measures gets noisy numbers."""
    rng = random.Random(seed)
    path = [groups_of(optimizer)]
    for _ in range(count):
        optimizer.step()
        measured = rng.uniform(0.5, 1.5)
        scheduler.step(*([measured] if type(scheduler).__name__ == "ReduceLROnPlateau" else []))
        path += [groups_of(optimizer), plain(scheduler.get_last_lr())]
    return path


def saved(state: Any) -> Any:
    """A state without functions, whose text names their addresses."""
    if isinstance(state, dict):
        return {key: saved(value) for key, value in state.items()}
    if isinstance(state, list):
        return [saved(value) for value in state]
    return "a function" if isinstance(state, types.FunctionType | types.MethodType) else plain(state)


NAMES = [*DRAWS, "SequentialLR", "ChainedScheduler"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(8))
def test_learning_rates_are_those_of_torch(real_torch: ModuleType, name: str, seed: int) -> None:
    found = []
    for lib in (reftorch, real_torch):
        optimizer = optimizer_of(lib, f"{name} {seed}")
        scheduler = scheduler_of(lib, name, f"{name} {seed}", optimizer)
        path = trajectory(optimizer, scheduler, f"{name} {seed}", 29)
        found.append((path, saved(scheduler.state_dict())))
    assert_close(found[0][0], found[1][0], 1e-12)
    assert_close(found[0][1], found[1][1], 1e-12)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(3))
def test_a_schedule_goes_on_from_a_state_of_the_other_library(real_torch: ModuleType, name: str, seed: int) -> None:
    text = f"{name} {seed}"
    found = []
    for lib, other_lib in ((reftorch, real_torch), (real_torch, reftorch)):
        optimizer = optimizer_of(lib, text)
        scheduler = scheduler_of(lib, name, text, optimizer)
        trajectory(optimizer, scheduler, text, 11)
        other = optimizer_of(other_lib, text)
        other_scheduler = scheduler_of(other_lib, name, text, other)
        other_scheduler.load_state_dict(copy.deepcopy(scheduler.state_dict()))
        other.load_state_dict(optimizer.state_dict())
        found.append(trajectory(other, other_scheduler, text, 11))
    assert_close(found[0], found[1], 1e-12)


@pytest.mark.parametrize("name", ["StepLR", "MultiStepLR", "ConstantLR", "LinearLR", "ExponentialLR", "PolynomialLR",
                                  "CosineAnnealingLR", "CosineAnnealingWarmRestarts", "LambdaLR"])  # fmt: skip
@pytest.mark.parametrize("seed", range(4))
def test_steps_with_an_epoch_are_those_of_torch(real_torch: ModuleType, name: str, seed: int) -> None:
    found = []
    for lib in (reftorch, real_torch):
        optimizer = optimizer_of(lib, f"{name} {seed}")
        scheduler = scheduler_of(lib, name, f"{name} {seed}", optimizer)
        optimizer.step()
        rng = random.Random(seed)
        path = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for _ in range(10):
                scheduler.step(rng.randint(0, 25))
                path.append(plain(scheduler.get_last_lr()))
        found.append((path, [(w.category, str(w.message)) for w in caught]))
    assert_close(found[0][0], found[1][0], 1e-12)
    assert found[0][1] == found[1][1]


@pytest.mark.parametrize("seed", range(6))
def test_a_part_of_an_epoch_restarts_as_in_torch(real_torch: ModuleType, seed: int) -> None:
    found = []
    for lib in (reftorch, real_torch):
        optimizer = optimizer_of(lib, str(seed))
        scheduler = scheduler_of(lib, "CosineAnnealingWarmRestarts", str(seed), optimizer)
        path = []
        for i in range(40):
            scheduler.step(i / 3)
            path += [scheduler.T_cur, scheduler.T_i, *scheduler.get_last_lr()]
        found.append(path)
    assert_close(found[0], found[1], 1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "SequentialLR"])
def test_resuming_by_last_epoch_is_as_in_torch(real_torch: ModuleType, name: str) -> None:
    if name == "ReduceLROnPlateau" or name == "ChainedScheduler":  # these take no last_epoch
        names = {"ReduceLROnPlateau": "StepLR", "ChainedScheduler": "ExponentialLR"}
        name = names[name]
    found = []
    for lib in (reftorch, real_torch):
        optimizer = optimizer_of(lib, name)
        scheduler_of(lib, name, name, optimizer)
        scheduler = getattr(lib.optim.lr_scheduler, name)(optimizer, **DRAWS[name](random.Random(name)), last_epoch=3)
        found.append(trajectory(optimizer, scheduler, name, 10))
    assert_close(found[0], found[1], 1e-12)


@pytest.mark.parametrize(
    "name", ["StepLR", "CosineAnnealingLR", "LinearLR", "OneCycleLR", "ReduceLROnPlateau", "CyclicLR"]
)
def test_a_learning_rate_that_is_a_tensor_changes_in_place(real_torch: ModuleType, name: str) -> None:
    found = []
    for lib in (reftorch, real_torch):
        lr = lib.tensor(0.1, dtype=lib.float64)
        optimizer = lib.optim.Adam([lib.nn.Parameter(lib.ones(1))], lr=lr)
        options = DRAWS[name](random.Random(name))
        options = {key: value[0] if isinstance(value, list) else value for key, value in options.items()}
        scheduler = getattr(lib.optim.lr_scheduler, name)(optimizer, **options)
        path = trajectory(optimizer, scheduler, name, 10)
        assert optimizer.param_groups[0]["lr"] is lr
        found.append(path)
    assert_close(found[0], found[1], 1e-12)


# --- warnings and errors ----------------------------------------------------------------------------------------------


def warned(lib: ModuleType, program: Callable[[ModuleType, Any], None]) -> list[tuple[type, str]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program(lib, lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=0.1))
    if lib is reftorch:  # torch points at its own file where one of its methods calls another
        assert all(w.filename == __file__ for w in caught)
    return [(w.category, str(w.message)) for w in caught]


def wrong_order(lib: ModuleType, optimizer: Any) -> None:
    scheduler = lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    scheduler.step()
    scheduler.step()


def overridden_step(lib: ModuleType, optimizer: Any) -> None:
    scheduler = lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    optimizer.step = lambda: None
    scheduler.step()


def get_lr(lib: ModuleType, optimizer: Any) -> None:
    lib.optim.lr_scheduler.StepLR(optimizer, 2).get_lr()
    lib.optim.swa_utils.SWALR(optimizer, 0.2).get_lr()


def plateau_epoch(lib: ModuleType, optimizer: Any) -> None:
    lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer).step(1.0, epoch=3)


def right_order(lib: ModuleType, optimizer: Any) -> None:
    schedulers = [lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.9) for _ in range(2)]
    optimizer.step()
    for scheduler in schedulers:
        scheduler.step()


@pytest.mark.parametrize(
    ("program", "count"), [(wrong_order, 1), (overridden_step, 1), (get_lr, 2), (plateau_epoch, 1), (right_order, 0)]
)
def test_warnings_are_those_of_torch(real_torch: ModuleType, program: Any, count: int) -> None:
    ours, theirs = (warned(lib, program) for lib in (reftorch, real_torch))
    assert ours == theirs
    assert len(ours) == count


def sgd(lib: ModuleType) -> Any:
    return lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=0.1)


def same_size(lib: ModuleType, change: Callable[[Any, Any], None]) -> None:
    optimizer = sgd(lib)
    scheduler = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.0])
    optimizer.add_param_group({"params": lib.nn.Parameter(lib.ones(1))})
    change(optimizer, scheduler)


ERRORS: dict[str, Callable[[Any], Any]] = {
    "no optimizer": lambda s: s.StepLR(3, 2),
    "no initial lr": lambda s: s.StepLR(s.sgd, 2, last_epoch=3),
    "lambdas": lambda s: s.LambdaLR(s.sgd, [abs, abs]),
    "multiplicative lambdas": lambda s: s.MultiplicativeLR(s.sgd, [abs, abs]),
    "no lambda": lambda s: s.MultiplicativeLR(s.sgd, 3),
    "constant factor": lambda s: s.ConstantLR(s.sgd, factor=1.5),
    "start factor": lambda s: s.LinearLR(s.sgd, start_factor=0.0),
    "end factor": lambda s: s.LinearLR(s.sgd, end_factor=-1.0),
    "T_0": lambda s: s.CosineAnnealingWarmRestarts(s.sgd, 0),
    "T_mult": lambda s: s.CosineAnnealingWarmRestarts(s.sgd, 1, T_mult=0),
    "eta_min": lambda s: s.CosineAnnealingWarmRestarts(s.sgd, 1, eta_min="0"),
    "negative epoch": lambda s: s.CosineAnnealingWarmRestarts(s.sgd, 1).step(-1),
    "no parts": lambda s: s.SequentialLR(s.sgd, [], []),
    "milestones": lambda s: s.SequentialLR(s.sgd, [s.StepLR(s.sgd, 1)], [3]),
    "no chained parts": lambda s: s.ChainedScheduler([]),
    "plateau in a sequence": lambda s: s.SequentialLR(s.sgd, [s.ReduceLROnPlateau(s.sgd)], []),
    "plateau in a chain": lambda s: s.ChainedScheduler([s.ReduceLROnPlateau(s.sgd)]),
    "number in a sequence": lambda s: s.SequentialLR(s.sgd, [3], []),
    "plateau factor": lambda s: s.ReduceLROnPlateau(s.sgd, factor=1.0),
    "plateau optimizer": lambda s: s.ReduceLROnPlateau(3),
    "plateau min_lr": lambda s: s.ReduceLROnPlateau(s.sgd, min_lr=[0.0, 0.0]),
    "plateau mode": lambda s: s.ReduceLROnPlateau(s.sgd, mode="mid"),
    "plateau threshold mode": lambda s: s.ReduceLROnPlateau(s.sgd, threshold_mode="mid"),
    "cyclic optimizer": lambda s: s.CyclicLR(3, 0.1, 0.2),
    "cyclic list": lambda s: s.CyclicLR(s.sgd, [0.1, 0.1], 0.2),
    "cyclic mode": lambda s: s.CyclicLR(s.sgd, 0.1, 0.2, mode="square"),
    "cyclic momentum": lambda s: s.CyclicLR(s.adagrad, 0.1, 0.2),
    "one cycle optimizer": lambda s: s.OneCycleLR(3, 0.1),
    "one cycle steps": lambda s: s.OneCycleLR(s.sgd, 0.1),
    "one cycle total": lambda s: s.OneCycleLR(s.sgd, 0.1, total_steps=0),
    "one cycle epochs": lambda s: s.OneCycleLR(s.sgd, 0.1, epochs=0, steps_per_epoch=3),
    "one cycle steps per epoch": lambda s: s.OneCycleLR(s.sgd, 0.1, epochs=3, steps_per_epoch=0),
    "one cycle start": lambda s: s.OneCycleLR(s.sgd, 0.1, total_steps=3, pct_start=2.0),
    "one cycle strategy": lambda s: s.OneCycleLR(s.sgd, 0.1, total_steps=3, anneal_strategy="square"),
    "one cycle momentum": lambda s: s.OneCycleLR(s.adagrad, 0.1, total_steps=3),
    "one cycle too long": lambda s: [s.stepped(s.OneCycleLR(s.sgd, 0.1, total_steps=3)) for _ in range(1)],
    "base class": lambda s: s.LRScheduler(s.sgd),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    def run(lib: ModuleType) -> None:
        def stepped(scheduler: Any) -> None:
            for _ in range(9):
                scheduler.optimizer.step()
                scheduler.step()

        adagrad = lib.optim.Adagrad([lib.nn.Parameter(lib.ones(1))])
        ERRORS[case](
            types.SimpleNamespace(**vars(lib.optim.lr_scheduler), sgd=sgd(lib), adagrad=adagrad, stepped=stepped)
        )

    ours, theirs = errors(real_torch, run)
    assert ours == theirs


def test_parts_of_another_optimizer_are_refused_as_in_torch(real_torch: ModuleType) -> None:
    def run(lib: ModuleType) -> None:
        schedules = lib.optim.lr_scheduler
        parts = [schedules.StepLR(sgd(lib), 1) for _ in range(2)]
        schedules.ChainedScheduler(parts)

    ours, theirs = errors(real_torch, run)
    assert ours == theirs


def test_a_group_that_comes_later_is_noticed_as_in_torch(real_torch: ModuleType) -> None:
    def reduce(optimizer: Any, scheduler: Any) -> None:
        for _ in range(3):
            scheduler.step(1.0)

    ours, theirs = errors(real_torch, lambda lib: same_size(lib, reduce))
    assert ours == theirs


# --- lives ------------------------------------------------------------------------------------------------------------


def test_a_schedule_does_not_keep_the_optimizer_in_a_cycle() -> None:
    gc.collect()
    gc.disable()
    try:
        optimizer = sgd(reftorch)
        scheduler = reftorch.optim.lr_scheduler.StepLR(optimizer, 2)
        reference = weakref.ref(optimizer)
        del optimizer, scheduler
        assert reference() is None
    finally:
        gc.enable()


def test_a_state_can_be_pickled() -> None:
    optimizer = sgd(reftorch)
    scheduler = reftorch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    state = pickle.loads(pickle.dumps(scheduler.state_dict()))
    assert state["lr_lambdas"] == [None]
    scheduler.load_state_dict(state)
    assert state["lr_lambdas"] == [None], "loading changed the dict"


def test_the_old_name_of_the_base_class_is_there() -> None:
    schedules = reftorch.optim.lr_scheduler
    assert issubclass(schedules._LRScheduler, schedules.LRScheduler)
