"""How update rules are compared with torch's: options drawn from a seed, 50 steps, states, and moves of states.

Mirrors: torch/testing/_internal/common_optimizers.py
"""

import math
import random
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked

STEPS = 50
SHAPES = [(3,), (2, 3), (), (4, 1), (1, 2, 3)]
Draw = Callable[[random.Random], dict[str, Any]]


def log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def betas(rng: random.Random) -> tuple[float, float]:
    return rng.uniform(0.0, 0.99), rng.uniform(0.5, 0.999)


def sometimes(rng: random.Random, value: Any, otherwise: Any = 0) -> Any:
    return value if rng.random() < 0.5 else otherwise


def flag(rng: random.Random) -> bool:
    return rng.random() < 0.5


def foreach(rng: random.Random) -> bool | None:
    return rng.choice([None, True, False])


class Training:
    """Some parameters, an objective and an optimizer, the same for every library."""

    def __init__(
        self, lib: ModuleType, rule: str, options: dict[str, Any], seed: str, shapes: Any = None, dtype: str = "float64"
    ) -> None:
        rng = random.Random(seed)
        self.lib, self.dtype = lib, dtype
        if shapes is None:
            shapes = [rng.choice(SHAPES) for _ in range(4)]
        self.params = [lib.nn.Parameter(self.numbers(rng, shape)) for shape in shapes]
        self.centres = [self.numbers(rng, shape) for shape in shapes]
        unused = lib.nn.Parameter(self.numbers(rng, shapes[0]))
        first, rest = self.params[:1], self.params[1:]
        groups: list[dict[str, Any]] = [{"params": [*first, unused]}]
        groups.append(
            {"params": rest, "lr": options.get("lr", 0.01) * 0.5, **({"weight_decay": 0.01} if flag(rng) else {})}
        )
        if rule == "LBFGS":
            groups = [{"params": [*self.params, unused]}]
        self.optimizer = getattr(lib.optim, rule)(groups, **options)

    def numbers(self, rng: random.Random, shape: tuple[int, ...]) -> Any:
        values = [rng.uniform(-2.0, 2.0) for _ in range(math.prod(shape))]
        return self.lib.tensor(values, dtype=getattr(self.lib, self.dtype)).reshape(shape)

    def closure(self) -> Any:
        """Return a loss that is smooth and not quadratic: the curvature changes, and no rule is chaotic on it."""
        self.optimizer.zero_grad()
        loss = sum(((p - c).square() + 1).sqrt().sum() for p, c in zip(self.params, self.centres, strict=True))
        loss.backward()
        return loss

    def steps(self, count: int) -> list[float]:
        path = []
        for _ in range(count):
            path.append(self.optimizer.step(self.closure).item())
            for p in self.params:
                path += p.detach().reshape(-1).tolist()
        return path


def plain(value: Any) -> Any:
    """A state of numbers, lists and dicts, with tensors as pairs of their dtype and their numbers."""
    if hasattr(value, "dtype"):
        return str(value.dtype), value.tolist()
    if isinstance(value, dict):
        return {key: plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(plain(entry) for entry in value)
    return value


def moved(value: Any, lib: ModuleType) -> Any:
    """A copy of a state for another library."""
    if hasattr(value, "dtype"):
        return lib.tensor(value.tolist(), dtype=getattr(lib, str(value.dtype).removeprefix("torch."))).reshape(
            tuple(value.shape)
        )
    if isinstance(value, dict):
        return {key: moved(entry, lib) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(moved(entry, lib) for entry in value)
    return value


def assert_close(ours: Any, theirs: Any, rel: float, where: str = "") -> None:
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs), where
        for key in theirs:
            assert_close(ours[key], theirs[key], rel, f"{where}[{key!r}]")
    elif isinstance(theirs, list | tuple):
        assert type(ours) is type(theirs) and len(ours) == len(theirs), where
        for i, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            assert_close(our, their, rel, f"{where}[{i}]")
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=rel, abs=rel, nan_ok=True), where
    else:
        assert ours == theirs and type(ours) is type(theirs), where


def check_rule(torch: ModuleType, rule: str, draw: Draw, seed: int, shapes: Any = None, rel: float = 1e-6) -> None:
    """50 steps, the state after them, the text, and 25 steps more from a state of the other library."""
    name = f"{rule} {seed}"
    options = draw(random.Random(name))
    # In float32 the paths part early: near the minimum, a rule that divides by small gradients magnifies rounding.
    dtype, rel, count = ("float32", max(rel, 5e-4), 10) if seed % 4 == 3 else ("float64", rel, STEPS)
    ours, theirs = (Training(lib, rule, options, name, shapes, dtype) for lib in (reftorch, torch))
    assert_close(ours.steps(count), theirs.steps(count), rel, f"{options} path")
    our_state, their_state = ours.optimizer.state_dict(), theirs.optimizer.state_dict()
    assert_close(plain(our_state), plain(their_state), rel, f"{options} state")
    if dtype == "float64":  # state and parameters as they are now: each library goes on from the state of the other
        assert repr(ours.optimizer) == repr(theirs.optimizer)
        our_values, their_values = ([p.detach() for p in t.params] for t in (ours, theirs))
        paths = []
        for lib, values, state in ((reftorch, their_values, their_state), (torch, our_values, our_state)):
            other = Training(lib, rule, options, name, shapes, dtype)
            with lib.no_grad():
                for p, value in zip(other.params, values, strict=True):
                    p.copy_(moved(value, lib))
            other.optimizer.load_state_dict(moved(state, lib))
            paths.append(other.steps(STEPS // 2))
        assert_close(paths[0], paths[1], rel, f"{options} path after loading")


def errors(torch: ModuleType, call: Callable[[ModuleType], Any]) -> list[tuple[type, str]]:
    """The type and the whole message of the error that a call raises here and in torch."""

    def raised(lib: ModuleType) -> tuple[type, str]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(Exception) as caught:
                call(lib)
        return caught.type, str(caught.value)

    return [raised(reftorch), asked(torch, raised)]


def check_error(torch: ModuleType, rule: str, options: dict[str, Any]) -> None:
    """The constructor raises torch's error."""
    ours, theirs = errors(torch, lambda lib: getattr(lib.optim, rule)([lib.nn.Parameter(lib.ones(1))], **options))
    assert ours == theirs


def check_options(torch: ModuleType, rule: str) -> None:
    """The defaults, the groups and the text of an optimizer without options are torch's, in their order."""
    made = [getattr(lib.optim, rule)([lib.nn.Parameter(lib.ones(2, 2))]) for lib in (reftorch, torch)]
    ours, theirs = ([plain(o.defaults), plain(o.state_dict()), repr(o)] for o in made)
    assert ours == theirs
    assert list(made[0].defaults) == list(made[1].defaults)


def check_old_state(torch: ModuleType, rule: str, missing: tuple[str, ...]) -> None:
    """Groups without newer options, and a step counted by a plain number, become what torch makes of them."""
    states = []
    for lib in (reftorch, torch):
        training = Training(lib, rule, {}, rule)
        training.steps(3)
        state = training.optimizer.state_dict()
        for group in state["param_groups"]:
            for name in missing:
                del group[name]
        for entry in state["state"].values():
            if "step" in entry:
                entry["step"] = entry["step"].item()
        training.optimizer.load_state_dict(state)
        training.steps(2)
        states.append((plain(training.optimizer.state_dict()), plain(training.optimizer.defaults)))
    assert_close(states[0], states[1], 1e-8)


def differentiable_steps(lib: ModuleType, rule: str, options: dict[str, Any], start: Any, *slopes: Any) -> Any:
    """The parameter after one step for each gradient, as a function of the first parameter and the gradients."""
    p = start.clone()
    optimizer = getattr(lib.optim, rule)([p], differentiable=True, **options)
    for slope in slopes:
        p.grad = slope
        optimizer.step()
    return p


def check_differentiable(torch: ModuleType, rule: str, options: dict[str, Any]) -> None:
    """Gradients through one step are torch's; through three steps, they are those of small differences.

    Through several steps torch raises an error for some rules, because it changes in place what autograd has saved.
    """
    found = []
    for lib in (reftorch, torch):
        inputs = [lib.tensor(v, dtype=lib.float64, requires_grad=True) for v in ([0.5, -1.5], [1.0, -0.5])]
        differentiable_steps(lib, rule, options, *inputs).square().sum().backward()
        found.append([x.grad.tolist() for x in inputs])
    assert_close(found[0], found[1], 1e-6)
    values = [[0.5, -1.5], [1.0, -0.5], [1.5, 0.25], [0.75, -2.0]]
    inputs = [reftorch.tensor(v, dtype=reftorch.float64, requires_grad=True) for v in values]
    assert reftorch.autograd.gradcheck(lambda *x: differentiable_steps(reftorch, rule, options, *x), inputs)


def check_foreach(draw: Draw, rule: str, seed: int) -> None:
    """Functions of lists give the very numbers of the loop, also where a parameter has made fewer steps."""
    name = f"{rule} foreach {seed}"
    options = draw(random.Random(name))
    found = []
    for foreach in (True, False):
        training = Training(reftorch, rule, {**options, "foreach": foreach}, name, SHAPES, "float32")
        later = training.params[-1]
        path = training.steps(2)
        later.requires_grad_(False)
        path += training.steps(3)
        later.requires_grad_(True)
        path += training.steps(5)
        found.append((path, plain(training.optimizer.state_dict()["state"])))
    assert found[0] == found[1], options


def check_fused(torch: ModuleType, draw: Draw, rule: str, seed: int) -> None:
    """The kernel gives the very numbers of the loop, and the path and the state of torch's kernel."""
    name = f"{rule} fused {seed}"
    options = {**draw(random.Random(name)), "foreach": None}
    shapes = [(700,), *SHAPES]
    for dtype, rel in (("float32", 5e-4), ("float64", 1e-8)):
        found = []
        for lib, fused in ((reftorch, True), (reftorch, False), (torch, True)):
            training = Training(lib, rule, {**options, "fused": fused}, name, shapes, dtype)
            path = training.steps(5)
            found.append((path, plain(training.optimizer.state_dict()["state"])))
        assert found[0] == found[1], options
        assert_close(found[0], found[2], rel, f"{options}")


def check_fused_of_16_bits(torch: ModuleType, rule: str, options: dict[str, Any]) -> None:
    """The kernel keeps 16-bit floats as float32 within a step, as torch's does."""
    for dtype in ("float16", "bfloat16"):
        found = []
        for lib in (reftorch, torch):
            p = lib.nn.Parameter(lib.tensor([1.5, -2.0, 0.75], dtype=getattr(lib, dtype)))
            optimizer = getattr(lib.optim, rule)([p], fused=True, **options)
            for slope in ([0.5, 1.0, -3.0], [0.25, -0.5, 2.0]):
                p.grad = lib.tensor(slope, dtype=p.dtype)
                optimizer.step()
            found.append((p.tolist(), plain(optimizer.state_dict())))
        assert_close(found[0], found[1], 1e-3 if dtype == "float16" else 8e-3)


def check_fused_with_scaler(torch: ModuleType, rule: str) -> None:
    """A step divides by the scale itself; gradients that are infinite skip the step, and it does not count."""
    found = []
    for lib in (reftorch, torch):
        params = [lib.nn.Parameter(lib.tensor(v)) for v in ([1.0, -2.0], [0.5])]
        optimizer = getattr(lib.optim, rule)(params, lr=0.125, fused=True)
        scaler = lib.amp.GradScaler("cpu", init_scale=16.0)
        seen = []
        for factor in (1.0, 1e38, 2.0):
            optimizer.zero_grad()
            scaler.scale(sum((p * p * factor).sum() for p in params)).backward()
            if factor == 2.0:
                scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            state = plain(optimizer.state_dict()["state"])
            seen.append(([p.tolist() for p in params], [plain(p.grad) for p in params], scaler.get_scale(), state))
        found.append(seen)
    assert_close(found[0], found[1], 1e-5)


def check_foreach_is_not_differentiable(torch: ModuleType, rule: str) -> None:
    """Functions of lists refuse to be recorded, as torch's do."""

    def step(lib: ModuleType) -> None:
        p = lib.ones(2, requires_grad=True).clone()
        p.grad = lib.ones(2)
        getattr(lib.optim, rule)([p], foreach=True, differentiable=True).step()

    ours, theirs = errors(torch, step)
    assert ours == theirs


def check_capturable(rule: str) -> None:
    """``capturable`` is refused at the first step, as torch refuses it for the CPU."""
    p = reftorch.nn.Parameter(reftorch.ones(1))
    p.grad = reftorch.ones(1)
    optimizer = getattr(reftorch.optim, rule)([p], capturable=True)
    with pytest.raises(AssertionError, match=r"If capturable=True, params.* must be on supported devices"):
        optimizer.step()
