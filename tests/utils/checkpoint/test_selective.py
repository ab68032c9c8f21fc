"""Selective checkpoints: which ops run again, and what the library refuses, beside torch.

Mirrors: test/test_autograd.py (TestSelectiveActivationCheckpoint)
"""

import functools
import importlib
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked


def of(t: Any) -> Any:
    return importlib.import_module(f"{t.__name__}.utils.checkpoint")


def attempt(function: Any) -> Any:
    try:
        return function()
    except Exception as error:
        return type(error).__name__, str(error).replace("reftorch", "torch")


def policies(t: Any) -> list[Any]:
    c = of(t)
    mm, view = t.ops.aten.mm.default, t.ops.aten.view.default
    policy = c.CheckpointPolicy

    def by_function(context: Any, op: Any, *args: Any, **kwargs: Any) -> Any:
        assert context.op_output is not None and not context.is_recompute
        return policy.PREFER_SAVE if op == mm else policy.MUST_RECOMPUTE

    return [[mm, view], by_function, lambda *args: True, lambda *args: False]


def ops_of_both_passes(t: Any, policy: Any) -> list[Any]:
    """The ops of forward and backward, the gradients, and what a second backward pass raises."""
    dispatch = importlib.import_module(f"{t.__name__}.utils._python_dispatch")
    log: list[str] = []

    class Log(dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func != t.ops.aten.detach.default:
                log.append(str(func))
            return func(*args, **(kwargs or {}))

    x = t.arange(9.0).reshape(3, 3).div(8).requires_grad_()
    y = t.eye(3).requires_grad_()
    contexts = functools.partial(of(t).create_selective_checkpoint_contexts, policy)
    with Log():
        out = of(t).checkpoint(
            lambda x, y: t.sigmoid((x @ y) @ y).view(-1) * 2, x, y, use_reentrant=False, context_fn=contexts
        )
        log.append("backward")
        out.sum().backward(retain_graph=True)
    grads = [[round(v, 4) for v in z.grad.flatten().tolist()] for z in (x, y)]
    return [log, grads, attempt(out.sum().backward)]


@pytest.mark.parametrize("index", range(4))
def test_the_ops_that_run_again_are_torchs(real_torch: ModuleType, index: int) -> None:
    ours = ops_of_both_passes(reftorch, policies(reftorch)[index])
    assert ours == asked(real_torch, lambda lib: ops_of_both_passes(lib, policies(lib)[index]))
    again = ours[0][ours[0].index("backward") :]
    assert ("aten.sigmoid.default" in again) == (index != 2)


def refusals(t: Any) -> list[Any]:
    create = of(t).create_selective_checkpoint_contexts
    found = [attempt(lambda wrong=wrong: create(wrong)) for wrong in ([t.ops.aten.mm], [1], 3)]
    kept: list[Any] = []

    def mutates(x: Any) -> Any:
        kept.append(x.exp())
        return (kept[-1] * 2).sin()

    for allow in (False, True):
        x = t.ones(3, requires_grad=True)
        contexts = functools.partial(create, [t.ops.aten.exp.default], allow_cache_entry_mutation=allow)
        out = of(t).checkpoint(mutates, x, use_reentrant=False, context_fn=contexts)
        with t.no_grad():
            kept[-1].add_(1)
        found.append(attempt(out.sum().backward))
    for later in (lambda x: x.exp().exp().sin(), lambda x: x.cos().sin()):
        runs = iter([lambda x: x.exp().sin(), later])
        x = t.ones(3, requires_grad=True)
        contexts = functools.partial(create, [t.ops.aten.exp.default])
        out = of(t).checkpoint(
            lambda x, runs=runs: next(runs)(x), x, use_reentrant=False, context_fn=contexts, determinism_check="none"
        )
        found.append(attempt(out.sum().backward))
    return found


def test_what_is_refused_is_torchs(real_torch: ModuleType) -> None:
    ours = refusals(reftorch)
    assert ours == asked(real_torch, refusals)
    assert [isinstance(error, tuple) for error in ours] == [True, True, True, True, False, True, True]


@pytest.mark.parametrize("use_reentrant", [True, False])
def test_a_recomputation_repeats_autocast(use_reentrant: bool) -> None:
    torch = reftorch
    layer = torch.nn.Linear(3, 3)
    x = torch.ones(2, 3, requires_grad=True)
    seen = []

    def block(x: Any) -> Any:
        seen.append((torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")))
        return layer(x).sin()

    with torch.autocast("cpu", torch.float16):
        out = of(torch).checkpoint(block, x, use_reentrant=use_reentrant)
    out.sum().backward()
    assert seen == [(True, torch.float16)] * 2
    assert out.dtype == torch.float16 and layer.weight.grad.dtype == x.grad.dtype == torch.float32


def test_the_device_of_the_random_numbers(real_torch: ModuleType) -> None:
    def answers(t: Any) -> list[Any]:
        c = of(t)
        found = [c.DefaultDeviceType.get_device_type(), c.get_device_states([t.ones(1)], "x", t.ones(1, device="meta"))]
        c.set_device_states([], [])
        c.set_device_states([0], [None], device_type="meta")
        try:
            c.DefaultDeviceType.set_device_type("cuda")
            found.append(c.DefaultDeviceType.get_device_type())
        finally:
            c.DefaultDeviceType._default_device_type = None
        return found

    assert answers(reftorch) == asked(real_torch, answers)
