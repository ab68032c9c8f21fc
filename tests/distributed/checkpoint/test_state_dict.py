"""State dicts by the names of the parameters: of one process, of DistributedDataParallel, in pieces.

Mirrors: test/distributed/checkpoint/test_state_dict.py
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    get_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)
from reftorch.distributed.fsdp import fully_shard
from reftorch.distributed.tensor import DTensor
from reftorch.nn.parallel import DistributedDataParallel
from tests.distributed.ranks import world

dist: Any = torch.distributed
pytestmark = pytest.mark.filterwarnings("ignore")  # torch's package warns when it is imported


def make_net(lib: Any, seed: float = 0.0) -> Any:
    """Return a network with a buffer, a frozen parameter and a parameter that two layers share."""

    class Net(lib.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = lib.nn.Linear(3, 3), lib.nn.Linear(3, 3)
            self.second.weight = self.first.weight
            self.norm = lib.nn.BatchNorm1d(3)
            self.frozen = lib.nn.Parameter(lib.ones(2), requires_grad=False)

        def forward(self, x: Any) -> Any:
            return self.second(self.first(self.norm(x)).tanh()) * self.frozen.sum()

    net = Net()
    with lib.no_grad():
        for p in net.parameters():
            p.copy_(lib.arange(p.numel()).add(seed).sin().reshape(p.shape))
    return net


def make_optimizers(lib: Any, net: Any) -> list[Any]:
    trained = [p for p in net.parameters() if p.requires_grad]
    groups = [{"params": trained[2:4], "lr": 0.5}, {"params": [*trained[4:], net.frozen]}]
    return [lib.optim.Adam(trained[:2], lr=0.1), lib.optim.SGD(groups, lr=0.2, momentum=0.9)]


def step(lib: Any, net: Any, optimizers: list[Any], seed: float = 0.0) -> None:
    net(lib.arange(12.0).add(seed).cos().reshape(4, 3)).square().sum().backward()
    for optimizer in optimizers:
        optimizer.step()
        optimizer.zero_grad()


def plain(value: Any) -> Any:
    """Return a state dict without tensors, with the order of its keys, for any library."""
    if isinstance(value, dict):
        return [[str(key), plain(each)] for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    if hasattr(value, "full_tensor"):
        return [repr(value.placements), plain(value.to_local())]
    return [str(value.dtype)[6:], value.tolist()] if hasattr(value, "tolist") else value


def near(a: Any, b: Any) -> None:
    if isinstance(a, (list, tuple)):
        assert len(a) == len(b), (a, b)
        for x, y in zip(a, b, strict=True):
            near(x, y)
    else:
        assert a == (pytest.approx(b, rel=1e-5, abs=1e-6) if isinstance(a, float) else b)


def of(lib: Any) -> Any:
    return importlib.import_module(f"{lib.__name__}.distributed.checkpoint.state_dict")


OPTIONS: list[dict[str, bool]] = [
    {},
    {"ignore_frozen_params": True, "cpu_offload": True},
    {"full_state_dict": True},
    {"flatten_optimizer_state_dict": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=["none", "frozen, cpu", "full", "flat"])
def test_one_process_as_in_torch(options: dict[str, bool], real_torch: Any, noted: Any) -> None:
    def program(lib: Any) -> list[Any]:
        api, net = of(lib), make_net(lib)
        optimizers = make_optimizers(lib, net)
        given = api.StateDictOptions(**options)
        fresh = plain(api.get_optimizer_state_dict(net, optimizers, options=given))
        step(lib, net, optimizers)
        model, optim = api.get_state_dict(net, optimizers, options=given)
        found = [fresh, plain(model), plain(optim)]
        other = make_net(lib, 9.0)
        others = make_optimizers(lib, other)
        strict = api.StateDictOptions(**options, strict="ignore_frozen_params" not in options)
        keys = api.set_state_dict(other, others, model_state_dict=model, optim_state_dict=optim, options=strict)
        step(lib, other, others, 1.0)
        return [
            *found,
            [list(each) for each in keys],
            plain(other.state_dict()),
            [plain(o.state_dict()) for o in others],
        ]

    near(program(torch), noted(program(real_torch)))


def test_pieces_as_in_torch(real_torch: Any, noted: Any) -> None:
    def program(lib: Any) -> list[Any]:
        api, shard = of(lib), importlib.import_module(f"{lib.__name__}.distributed.fsdp").fully_shard

        def rank() -> list[Any]:
            found: list[Any] = []
            net = lib.nn.Sequential(lib.nn.Linear(3, 3), lib.nn.Linear(3, 3))
            for p in net.parameters():
                p.detach().copy_(lib.arange(p.numel()).sin().reshape(p.shape))
            shard(net)
            optimizer = lib.optim.Adam(net.parameters(), lr=0.1)
            step(lib, net, [optimizer])
            for options in ({}, {"full_state_dict": True}, {"full_state_dict": True, "cpu_offload": True}):
                given = api.StateDictOptions(**options)
                found.append(plain(api.get_state_dict(net, optimizer, options=given)))
            return found

        return world(lib, 2, rank)

    near(program(torch), noted(program(real_torch)))


WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda net: net,
    "ddp": DistributedDataParallel,
    "pieces": fully_shard,
}


def small() -> Any:
    net = nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 3))
    with torch.no_grad():
        for p in net[1].parameters():
            p.copy_(torch.arange(1.0, 1 + p.numel()).sin().reshape(p.shape))
    return net


def trained(wrap: Callable[[Any], Any], steps: int) -> tuple[Any, Any]:
    net = wrap(small())
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    for i in range(steps):
        step(torch, net, [optimizer], float(i))
    return net, optimizer


@pytest.mark.parametrize("from_rank0", [False, True])
def test_a_run_goes_on_in_another_form(from_rank0: bool) -> None:
    """Two steps, a state dict, and a third step in any form, are three steps of one process."""

    def program() -> None:
        whole = StateDictOptions(full_state_dict=True)
        load = StateDictOptions(full_state_dict=True, broadcast_from_rank0=from_rank0)
        expected = trained(WRAPPERS["plain"], 3)[0].state_dict()
        for first, second in itertools.product(WRAPPERS, WRAPPERS):
            model, optim = get_state_dict(*trained(WRAPPERS[first], 2), options=whole)
            assert list(model) == list(expected)
            if from_rank0 and dist.get_rank() == 1:
                model, optim = {}, {}
            net, optimizer = trained(WRAPPERS[second], 0)
            with torch.no_grad():
                for p in net.parameters():
                    p.zero_()
            found = set_state_dict(net, optimizer, model_state_dict=model, optim_state_dict=optim, options=load)
            assert found == ([], [])
            step(torch, net, [optimizer], 2.0)
            final = get_model_state_dict(net, options=whole)
            for name, value in expected.items():
                assert torch.allclose(final[name], value, atol=1e-6), (first, second, name)

    world(torch, 2, program)


def test_only_rank_0_gets_a_whole_state_dict_on_the_cpu() -> None:
    def program() -> list[int]:
        options = StateDictOptions(full_state_dict=True, cpu_offload=True)
        return [len(each) for each in get_state_dict(*trained(fully_shard, 1), options=options)]

    assert world(torch, 2, program) == [[7, 2], [0, 0]]


def test_pieces_stay_pieces_unless_they_are_asked_for() -> None:
    def program() -> None:
        net, optimizer = trained(fully_shard, 1)
        model, optim = get_state_dict(net, optimizer)
        assert isinstance(model["1.weight"], DTensor)
        assert isinstance(optim["state"]["1.weight"]["exp_avg"], DTensor)
        other, its = trained(fully_shard, 0)
        set_state_dict(other, its, model_state_dict=model, optim_state_dict=optim)
        assert torch.equal(other[1].weight.full_tensor(), net[1].weight.full_tensor())

    world(torch, 2, program)


def test_a_model_on_the_device_meta_gets_its_tensors() -> None:
    with torch.device("meta"):
        net = nn.Linear(2, 1)
    set_model_state_dict(net, nn.Linear(2, 1).state_dict(), options=StateDictOptions(full_state_dict=True))
    assert net.weight.device.type == "cpu"


def test_mistakes_are_as_in_torch(real_torch: Any, noted: Any) -> None:
    def program(lib: Any) -> list[str]:
        api, net = of(lib), lib.nn.Linear(2, 1)
        options = api.StateDictOptions
        optimizer = lib.optim.Adam(net.parameters())
        state = api.get_optimizer_state_dict(net, optimizer)
        del state["state"]["bias"]
        calls: list[Callable[[], Any]] = [
            lambda: api.get_model_state_dict(net, options=options(broadcast_from_rank0=True)),
            lambda: api.get_optimizer_state_dict(net, []),
            lambda: api.set_optimizer_state_dict(net, optimizer, state),
            lambda: api.set_model_state_dict(net, {"bias": lib.ones(1), "other": lib.ones(1)}),
            lambda: api.set_model_state_dict(net, {"bias": lib.ones(1), "a": 1}, options=options(strict=False)),
        ]
        said = []
        for call in calls:
            try:
                said.append(str(call()))
            except Exception as error:
                said.append(f"{type(error).__name__}: {error}")
        return said

    assert program(torch) == noted(program(real_torch))


def test_what_is_left_out_is_named() -> None:
    net = nn.Linear(2, 1)
    with pytest.raises(NotImplementedError, match="submodules must be None"):
        get_model_state_dict(net, submodules={net})
    with pytest.raises(NotImplementedError, match="dsd_fqn_modifiers"):
        get_model_state_dict(net, options=StateDictOptions(dsd_fqn_modifiers="other"))
    for call in (set_model_state_dict, lambda net, state: set_optimizer_state_dict(net, torch.optim.SGD([]), state)):
        with pytest.raises((RuntimeError, ValueError), match="empty"):
            call(net, {})
    odd = torch.optim.SGD(net.parameters(), lr=0.1)
    odd.state[net.weight]["odd"] = [1]
    with pytest.raises(NotImplementedError, match="Flattening optimizer state_dict only supports"):
        get_optimizer_state_dict(net, odd, options=StateDictOptions(flatten_optimizer_state_dict=True))
