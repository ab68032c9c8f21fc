"""Post-local SGD: averaged gradients at first, averaged parameters later, as in torch.

Mirrors: test/distributed/algorithms/test_join.py, test/distributed/test_distributed_spawn.py
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import reftorch as torch
from reftorch.distributed.algorithms.model_averaging import utils
from reftorch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
from reftorch.distributed.optim import PostLocalSGDOptimizer
from tests.distributed.ranks import world


def trained(lib: Any, local: bool) -> list[Any]:
    """Return the parameters of each of four ranks after each of eight steps; two ranks are a group."""
    name = f"{lib.__name__}.distributed"
    hooks = importlib.import_module(f"{name}.algorithms.ddp_comm_hooks.post_localSGD_hook")
    averagers = importlib.import_module(f"{name}.algorithms.model_averaging.averagers")
    optim = importlib.import_module(f"{name}.optim")

    def program() -> Any:
        rank = lib.distributed.get_rank()
        net = lib.nn.Linear(2, 1).double()
        with lib.no_grad():
            net.weight.copy_(lib.tensor([[0.5, -1.0]]))
            net.bias.fill_(0.25)
        model = lib.nn.parallel.DistributedDataParallel(net)
        subgroup, _ = lib.distributed.new_subgroups(2)
        state = hooks.PostLocalSGDState(None, subgroup, 3, post_local_gradient_allreduce=local)
        model.register_comm_hook(state, hooks.post_localSGD_hook)
        averager = averagers.PeriodicModelAverager(period=2, warmup_steps=3)
        optimizer = optim.PostLocalSGDOptimizer(lib.optim.SGD(model.parameters(), lr=0.1), averager)
        seen = []
        for step in range(8):
            optimizer.zero_grad()
            x = lib.arange(4).double().add(rank * 3 + step).sin().reshape(2, 2)
            model(x).square().sum().backward()
            optimizer.step()
            seen.append([p.detach().flatten().tolist() for p in net.parameters()])
        return [seen, optimizer.state_dict()["step"], state.iter]

    return world(lib, 4, program)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch, when it imports its optimizers
@pytest.mark.parametrize("local", [True, False])
def test_post_local_sgd_is_as_in_torch(local: bool, real_torch: Any, noted: Any) -> None:
    ours = trained(torch, local)
    for mine, theirs in zip(ours, noted(trained(real_torch, local)), strict=True):
        for a, b in zip(mine[0], theirs[0], strict=True):
            assert [*a[0], *a[1]] == pytest.approx([*b[0], *b[1]], rel=1e-10)
        assert mine[1:] == theirs[1:]
    steps = [[result[0][step] for result in ours] for step in range(8)]
    alike = [all(each == step[0] for each in step) for step in steps]
    assert alike[:3] == [True] * 3 and alike[4] is False  # step 4 is a step without an average
    assert (steps[4][0] == steps[4][1]) is local  # the group of two has averaged its gradients


def test_the_optimizer_hands_everything_on() -> None:
    def program() -> None:
        p, q = (torch.nn.Parameter(torch.ones(2)) for _ in range(2))
        sgd = torch.optim.SGD([p], lr=0.5, momentum=0.9)
        optimizer = PostLocalSGDOptimizer(sgd, PeriodicModelAverager(period=3, warmup_steps=1))
        optimizer.add_param_group({"params": [q], "lr": 0.1})
        assert len(sgd.param_groups) == 2 and repr(optimizer) == repr(sgd)
        p.grad = torch.ones(2)
        optimizer.step()
        assert p.tolist() == [0.5, 0.5] and optimizer.state[p] is sgd.state[p]
        saved = optimizer.state_dict()
        optimizer.zero_grad()
        assert p.grad is None and saved["step"] == 1
        optimizer.step()
        optimizer.load_state_dict(saved)
        assert optimizer.averager.step == 1
        with pytest.warns(UserWarning, match="does not contain a step counter"):
            optimizer.load_state_dict(sgd.state_dict())
        assert optimizer.averager.step == 0

    world(torch, 1, program)


def test_what_is_averaged() -> None:
    def program() -> None:
        rank = torch.distributed.get_rank()
        a, b, c = (torch.nn.Parameter(torch.full((2,), float(rank + i))) for i in range(3))
        a.grad, c.grad = torch.ones(2), torch.ones(2)
        utils.average_parameters_or_parameter_groups([{"params": [a, b]}, {"params": [c]}], None)
        assert [a[0].item(), b[0].item(), c[0].item()] == [0.5, rank + 1.0, 2.5]
        utils.average_parameters([], None)
        with pytest.raises(NotImplementedError, match="Parameter input of type <class 'int'> is not supported"):
            utils.get_params_to_average([3])
        with pytest.raises(ValueError, match="``period`` must be a positive value"):
            PeriodicModelAverager(0)
        with pytest.raises(ValueError, match="``warmup_steps`` must be a non-negative number"):
            PeriodicModelAverager(2, -1)
        with pytest.warns(UserWarning, match="When period is 1, no need to use model averaging"):
            PeriodicModelAverager(1)

    world(torch, 2, program)
