"""The base class of optimizers.

Mirrors: test/optim/test_optim.py
Leaves out: the update rules, which have files of their own.
"""

import copy
import gc
import pickle
import weakref
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.optim import SGD, Optimizer
from reftorch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
    required,
)


def parameter(*values: float, lib: ModuleType = reftorch) -> Any:
    return lib.nn.Parameter(lib.tensor(values or (1.0,)))


def test_groups_take_the_defaults_they_do_not_give() -> None:
    a, b = parameter(), parameter()
    optimizer = SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.1, momentum=0.9)
    assert [(group["lr"], group["momentum"]) for group in optimizer.param_groups] == [(0.1, 0.9), (0.5, 0.9)]
    assert optimizer.param_groups[1]["params"] == [b]
    assert optimizer.defaults["lr"] == 0.1


def test_named_parameters() -> None:
    layer = reftorch.nn.Linear(1, 1)
    optimizer = SGD(layer.named_parameters(), lr=0.1)
    assert optimizer.param_groups[0]["param_names"] == ["weight", "bias"]
    assert optimizer.param_groups[0]["params"] == [layer.weight, layer.bias]
    assert optimizer.state_dict()["param_groups"][0]["param_names"] == ["weight", "bias"]


ERRORS = {
    "tensor": lambda lib: lib.optim.SGD(parameter(lib=lib), lr=0.1),
    "nothing": lambda lib: lib.optim.SGD([], lr=0.1),
    "number": lambda lib: lib.optim.SGD([3], lr=0.1),
    "non-leaf": lambda lib: lib.optim.SGD([parameter(lib=lib) * 2], lr=0.1),
    "set": lambda lib: lib.optim.SGD([{"params": {parameter(lib=lib)}}], lr=0.1),
    "list group": lambda lib: lib.optim.SGD([parameter(lib=lib)], lr=0.1).add_param_group([parameter(lib=lib)]),
    "twice": lambda lib: twice(lib),
    "half named": lambda lib: lib.optim.SGD([("a", parameter(lib=lib)), parameter(lib=lib)], lr=0.1),
    "other group named": lambda lib: lib.optim.SGD(
        [{"params": parameter(lib=lib)}, {"params": [("b", parameter(lib=lib))]}], lr=0.1
    ),
    "required": lambda lib: lib.optim.Optimizer(
        [parameter(lib=lib)], {"lr": import_module(lib.__name__ + ".optim.optimizer").required}
    ),
    "groups": lambda lib: lib.optim.SGD([parameter(lib=lib)], lr=0.1).load_state_dict(
        {"state": {}, "param_groups": []}
    ),
    "group size": lambda lib: lib.optim.SGD([parameter(lib=lib)], lr=0.1).load_state_dict(
        {"state": {}, "param_groups": [{"params": [0, 1]}]}
    ),
    "no step": lambda lib: lib.optim.Optimizer([parameter(lib=lib)], {}).step(),
}


def twice(lib: ModuleType) -> None:
    p = parameter(lib=lib)
    lib.optim.SGD([{"params": p}, {"params": p}], lr=0.1)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(real_torch: ModuleType, case: str) -> None:
    raised = []
    for lib in (reftorch, real_torch):
        with pytest.raises(Exception) as caught:
            ERRORS[case](lib)
        raised.append((caught.type, str(caught.value)))
    assert raised[0] == raised[1]


def test_duplicates_in_a_group_are_warned_about() -> None:
    p = parameter()
    with pytest.warns(UserWarning, match="duplicate parameters"):
        SGD([p, p], lr=0.1)


def test_repr() -> None:
    optimizer = SGD([{"params": parameter()}, {"params": parameter(), "lr": 0.5}], lr=0.1)
    options = "    differentiable: False\n    foreach: None\n    fused: None\n"
    assert repr(optimizer) == (
        "SGD (\n"
        f"Parameter Group 0\n    dampening: 0\n{options}    lr: 0.1\n    maximize: False\n    momentum: 0\n"
        "    nesterov: False\n    weight_decay: 0\n"
        f"\nParameter Group 1\n    dampening: 0\n{options}    lr: 0.5\n    maximize: False\n    momentum: 0\n"
        "    nesterov: False\n    weight_decay: 0\n"
        ")"
    )
    assert repr(required) == "<required parameter>"


def test_zero_grad() -> None:
    a, b = parameter(1.0, 2.0), parameter()
    optimizer = SGD([a, b], lr=0.1)
    a.sum().backward()
    grad = a.grad
    optimizer.zero_grad(set_to_none=False)
    assert a.grad is grad
    assert grad.tolist() == [0.0, 0.0]
    assert b.grad is None
    optimizer.zero_grad()
    assert a.grad is None


def stepped(values: tuple[float, ...] = (1.0, 2.0)) -> tuple[Any, SGD]:
    p = parameter(*values)
    optimizer = SGD([p], lr=0.1, momentum=0.9)
    (p * p).sum().backward()
    optimizer.step()
    return p, optimizer


def test_the_state_goes_on_where_it_was() -> None:
    p, optimizer = stepped()
    state = copy.deepcopy(optimizer.state_dict())
    q = reftorch.nn.Parameter(p.detach().clone())
    other = SGD([q], lr=7.0)
    other.load_state_dict(state)
    assert other.param_groups[0]["params"][0] is q
    for param, opt in ((p, optimizer), (q, other)):
        opt.zero_grad()
        (param * param).sum().backward()
        opt.step()
    assert p.tolist() == q.tolist()


def test_the_layout_of_the_state_is_that_of_torch(real_torch: ModuleType) -> None:
    layouts = []
    for lib in (reftorch, real_torch):
        params = [parameter(lib=lib) for _ in range(3)]
        optimizer = lib.optim.SGD([{"params": params[:1]}, {"params": params[1:], "lr": 0.5}], lr=0.1, momentum=0.9)
        params[1].sum().backward()
        optimizer.step()
        state = optimizer.state_dict()
        numbers = [group["params"] for group in state["param_groups"]]
        layouts.append((numbers, {k: {n: t.tolist() for n, t in v.items()} for k, v in state["state"].items()}))
    assert layouts[0] == layouts[1] == ([[0], [1, 2]], {1: {"momentum_buffer": [1.0]}})


def test_loading_converts_the_state_to_the_dtype_of_the_parameter() -> None:
    state = stepped()[1].state_dict()
    state["state"][0] |= {"step": reftorch.tensor(3), "list": [reftorch.ones(1)], "name": "text"}
    p = reftorch.nn.Parameter(reftorch.zeros(2, dtype=reftorch.float64))
    optimizer = SGD([p], lr=0.1)
    optimizer.load_state_dict(state)
    loaded = optimizer.state[p]
    assert loaded["momentum_buffer"].dtype is loaded["list"][0].dtype is reftorch.float64
    assert loaded["step"].dtype is reftorch.int64
    assert loaded["name"] == "text"


def test_state_of_no_parameter_is_kept() -> None:
    _, optimizer = stepped()
    state = optimizer.state_dict()
    state["state"]["epoch"] = 5
    optimizer.load_state_dict(state)
    assert optimizer.state["epoch"] == 5
    assert optimizer.state_dict()["state"]["epoch"] == 5


def test_hooks_of_a_step() -> None:
    _, optimizer = stepped()
    seen = []
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: seen.append(("pre", opt is optimizer, len(args))))
    optimizer.register_step_post_hook(lambda opt, args, kwargs: seen.append("post"))
    with (
        register_optimizer_step_pre_hook(lambda opt, args, kwargs: seen.append("all pre")),
        register_optimizer_step_post_hook(lambda opt, args, kwargs: seen.append("all post")),
    ):
        optimizer.step()
    optimizer.step()
    own = ["all pre", ("pre", True, 1), "post", "all post"]
    assert seen == [*own, *own[1:3]]


def test_a_pre_hook_changes_the_arguments() -> None:
    _, optimizer = stepped()
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: ((*args, lambda: "loss"), kwargs))
    assert optimizer.step() == "loss"
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: 3)
    with pytest.raises(RuntimeError, match=r"must return None or a tuple of \(new_args, new_kwargs\), but got 3"):
        optimizer.step()


def test_a_step_of_a_subclass_is_hooked_once() -> None:
    class Counting(Optimizer):
        steps = 0

        def step(self, closure: Any = None) -> None:
            self.steps += 1

    first, second = Counting([parameter()], {}), Counting([parameter()], {})
    seen = []
    second.register_step_pre_hook(lambda *args: seen.append(1))
    first.step()
    second.step()
    assert (first.steps, second.steps, seen) == (1, 1, [1])


def test_hooks_of_the_state() -> None:
    _, optimizer = stepped()
    seen = []
    optimizer.register_state_dict_pre_hook(lambda opt: seen.append("save"))
    optimizer.register_state_dict_post_hook(lambda opt, state: {**state, "note": seen[-1]})
    optimizer.register_state_dict_post_hook(lambda opt, state: seen.append("first"), prepend=True)
    state = optimizer.state_dict()
    assert state["note"] == "first"
    optimizer.register_load_state_dict_pre_hook(lambda opt, state: {k: v for k, v in state.items() if k != "note"})
    optimizer.register_load_state_dict_post_hook(lambda opt: seen.append("loaded"))
    optimizer.load_state_dict(state)
    assert seen == ["save", "first", "loaded"]
    assert "note" in state


@pytest.mark.parametrize("rule", ["Adadelta", "Adagrad", "Adamax", "NAdam", "RAdam", "RMSprop", "SGD"])
def test_functions_of_lists_are_not_the_default(rule: str) -> None:
    def calls_functions_of_lists(foreach: bool | None) -> bool:
        p = parameter()
        p.grad = reftorch.ones(1)
        optimizer = getattr(reftorch.optim, rule)([p], foreach=foreach)
        with reftorch.profiler.profile() as profile:
            optimizer.step()
        return any(event.name.startswith("aten::_foreach_") for event in profile.events())

    assert calls_functions_of_lists(True)
    assert not calls_functions_of_lists(None)


def test_an_optimizer_made_again_from_its_parts_can_step() -> None:
    p, optimizer = stepped()
    again = SGD.__new__(SGD)
    again.__setstate__(optimizer.__getstate__())
    before = p.tolist()
    again.step()
    assert p.tolist() != before
    assert set(optimizer.__getstate__()) == {"defaults", "state", "param_groups"}
    assert pickle.loads(pickle.dumps(optimizer.state_dict()["param_groups"])) == optimizer.state_dict()["param_groups"]


def test_a_dropped_optimizer_frees_its_state_at_once() -> None:
    gc.collect()
    gc.disable()
    try:
        p, optimizer = stepped()
        buffer = weakref.ref(optimizer.state[p]["momentum_buffer"])
        del optimizer
        assert buffer() is None
    finally:
        gc.enable()
