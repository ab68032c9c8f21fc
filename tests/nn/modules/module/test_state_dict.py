"""Saving and loading the state of a module.

Mirrors: test/test_nn.py, its tests of ``state_dict`` and ``load_state_dict``
Leaves out: loading by swapping, meta tensors.
"""

import copy
from collections import OrderedDict
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import nn


def network(lib: ModuleType = reftorch) -> Any:
    net = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.Sequential(lib.nn.ReLU(), lib.nn.Linear(3, 1, bias=False)))
    net.register_buffer("steps", lib.tensor(3))
    net.register_buffer("cache", lib.ones(2), persistent=False)
    net.register_buffer("absent", None)
    return net


def test_keys_and_values() -> None:
    net = network()
    state = net.state_dict()
    assert list(state) == ["steps", "0.weight", "0.bias", "1.1.weight"]
    assert type(state) is OrderedDict
    assert not state["0.weight"].requires_grad
    assert state["0.weight"].data_ptr() == net[0].weight.data_ptr()
    assert net.state_dict(keep_vars=True)["0.weight"] is net[0].weight
    assert list(net[1].state_dict(prefix="x.")) == ["x.1.weight"]
    assert state._metadata["1.1"] == {"version": 1}


def test_loading_copies_and_keeps_the_parameters() -> None:
    source, target = network(), network()
    source.steps.fill_(9)
    kept = target[0].weight
    result = target.load_state_dict(source.state_dict())
    assert repr(result) == "<All keys matched successfully>"
    assert target[0].weight is kept
    assert target[0].weight.tolist() == source[0].weight.tolist()
    assert target.steps.item() == 9
    assert target[0].weight.data_ptr() != source[0].weight.data_ptr()


def test_loading_converts_to_the_dtype_of_the_parameter() -> None:
    layer = nn.Linear(1, 1)
    layer.load_state_dict({"weight": reftorch.ones(1, 1).double(), "bias": reftorch.ones(1)})
    assert layer.weight.dtype is reftorch.float32


def test_assign_takes_the_tensors_themselves() -> None:
    layer = nn.Linear(2, 1).requires_grad_(False)
    weight, bias = reftorch.ones(1, 2).double(), nn.Parameter(reftorch.ones(1))
    layer.load_state_dict({"weight": weight, "bias": bias}, assign=True)
    assert layer.weight.dtype is reftorch.float64
    assert layer.weight.data_ptr() == weight.data_ptr()
    assert layer.bias is bias
    assert not layer.weight.requires_grad
    assert not layer.bias.requires_grad


def test_a_tensor_of_one_element_loads_into_a_0_dim_one() -> None:
    module = nn.Module()
    module.scale = nn.Parameter(reftorch.tensor(1.0))
    module.load_state_dict({"scale": reftorch.tensor([4.0])})
    assert module.scale.item() == 4.0


def test_lists_of_keys_where_not_strict() -> None:
    result = network().load_state_dict({"foo": 1, "1.bar": 2, "steps": reftorch.tensor(1)}, strict=False)
    assert result.missing_keys == ["0.weight", "0.bias", "1.1.weight"]
    assert result.unexpected_keys == ["foo", "1.bar"]


PROBLEMS = {
    "missing": lambda lib, state: state.pop("0.bias"),
    "unexpected": lambda lib, state: state.update({"foo": 1, "1.1.bias": 2, "2.weight": 3}),
    "both": lambda lib, state: state.update({"foo": state.pop("0.weight")}),
    "shape": lambda lib, state: state.update({"0.weight": lib.ones(2, 2), "steps": lib.ones(3)}),
    "type": lambda lib, state: state.update({"0.weight": [1.0]}),
    "not persistent": lambda lib, state: state.update({"cache": lib.ones(2)}),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_messages_are_those_of_torch(real_torch: ModuleType, problem: str) -> None:
    texts = []
    for lib in (reftorch, real_torch):
        net = network(lib)
        state = copy.copy(net.state_dict())
        PROBLEMS[problem](lib, state)
        with pytest.raises(RuntimeError) as caught:
            net.load_state_dict(state)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]


def test_message() -> None:
    with pytest.raises(RuntimeError) as caught:
        nn.Linear(2, 3).load_state_dict({"weight": reftorch.ones(2, 2), "foo": 1})
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Linear:\n"
        '\tMissing key(s) in state_dict: "bias". \n'
        '\tUnexpected key(s) in state_dict: "foo". \n'
        "\tsize mismatch for weight: copying a param with shape torch.Size([2, 2]) from checkpoint, "
        "the shape in current model is torch.Size([3, 2])."
    )
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'list'>"):
        nn.Linear(2, 3).load_state_dict([])


class Counter(nn.Module):
    """Its state is a Python number."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def get_extra_state(self) -> int:
        return self.count

    def set_extra_state(self, state: int) -> None:
        self.count = state


def test_extra_state() -> None:
    counter = Counter()
    counter.count = 5
    state = nn.Sequential(counter).state_dict()
    assert state == {"0._extra_state": 5}
    again = nn.Sequential(Counter())
    again.load_state_dict(state)
    assert again[0].count == 5
    with pytest.raises(RuntimeError, match=r'Missing key\(s\) in state_dict: "0._extra_state"'):
        again.load_state_dict({})
    with pytest.raises(RuntimeError, match=r'Unexpected key\(s\) in state_dict: "_extra_state"'):
        nn.ReLU().load_state_dict({"_extra_state": 1})


def test_hooks_of_saving() -> None:
    net, seen = network(), []
    net[0].register_state_dict_pre_hook(lambda module, prefix, keep_vars: seen.append((module is net[0], prefix)))
    net[0].register_state_dict_post_hook(lambda module, state, prefix, metadata: state.__delitem__(prefix + "bias"))
    assert "0.bias" not in net.state_dict()
    assert seen == [(True, "0.")]
    net[0].register_state_dict_post_hook(lambda module, state, prefix, metadata: state)
    with pytest.raises(RuntimeError, match="post-hook must return None"):
        net.state_dict()


def test_hooks_of_loading() -> None:
    net = network()

    def rename(module: nn.Module, state: dict, prefix: str, *rest: Any) -> None:
        assert module is net[0]
        state[prefix + "weight"] = state.pop(prefix + "old")

    def forgive(module: nn.Module, incompatible: Any) -> None:
        incompatible.missing_keys.clear()

    net[0].register_load_state_dict_pre_hook(rename)
    handle = net.register_load_state_dict_post_hook(forgive)
    net.load_state_dict({"0.old": reftorch.ones(3, 2)})
    assert net[0].weight.tolist() == [[1.0, 1.0]] * 3
    handle.remove()
    with pytest.raises(RuntimeError, match="Missing key"):
        net.load_state_dict({"0.old": reftorch.ones(3, 2)})


def test_state_crosses_over_from_torch(real_torch: ModuleType) -> None:
    theirs = network(real_torch)
    ours = network()
    ours.load_state_dict({name: reftorch.tensor(value.tolist()) for name, value in theirs.state_dict().items()})
    assert {name: value.tolist() for name, value in ours.state_dict().items()} == {
        name: value.tolist() for name, value in theirs.state_dict().items()
    }


def old_hooks(lib: Any) -> list[Any]:
    """What hooks see and change that are registered by the names with an underscore."""
    net, seen = lib.nn.Sequential(lib.nn.Linear(1, 1), lib.nn.Linear(1, 1, bias=False)), []

    def renamed(module: Any, state: Any, prefix: str, metadata: Any) -> dict[str, Any]:
        seen.append((type(module).__name__, prefix, sorted(state)))
        return {f"new.{name}": tensor for name, tensor in state.items()}

    net._register_state_dict_hook(renamed)
    net[1]._register_state_dict_hook(renamed)  # below: what it returns counts for nothing
    state = net.state_dict()

    def back(state: dict[str, Any], prefix: str, *rest: Any) -> None:
        seen.append(("back", prefix, sorted(state)))
        for name in list(state):
            state[name.removeprefix("new.")] = state.pop(name)

    net._register_load_state_dict_pre_hook(back)
    net[0]._register_load_state_dict_pre_hook(
        lambda module, state, prefix, *rest: seen.append((type(module).__name__, prefix)), with_module=True
    )
    return [sorted(state), str(net.load_state_dict(state)), seen]


def test_the_hooks_of_old_names(real_torch: Any) -> None:
    assert old_hooks(reftorch) == old_hooks(real_torch)


def test_to_empty_keeps_shapes_and_dtypes() -> None:
    layer = reftorch.nn.BatchNorm1d(3).double()
    weight = layer.weight
    assert layer.to_empty(device="cpu") is layer and layer.weight is weight
    assert layer.running_var.shape == (3,) and layer.running_var.dtype is reftorch.float64
