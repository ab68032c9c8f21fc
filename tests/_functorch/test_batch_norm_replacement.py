"""Batch norms without running statistics against torch's.

Mirrors: test/functorch/test_eager_transforms.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch


def network(lib: ModuleType) -> Any:
    nn = lib.nn
    net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.Sequential(nn.InstanceNorm2d(3, affine=True)))
    net.norm = nn.BatchNorm3d(2, affine=False)
    net.untracked = nn.BatchNorm1d(3, track_running_stats=False)
    return net


def test_the_network_afterwards_is_that_of_torch(real_torch: ModuleType) -> None:
    found = []
    for lib in (reftorch, real_torch):
        net = network(lib)
        assert lib.func.replace_all_batch_norm_modules_(net) is net
        found.append([repr(net), list(net.state_dict()), [name for name, _ in net.named_buffers()]])
        found[-1].append([m.running_mean for m in net.modules() if "Norm" in type(m).__name__])
    assert found[0] == found[1]
    assert found[0][3] == [None] * 4


def test_a_batch_norm_itself_is_replaced(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        norm = lib.func.replace_all_batch_norm_modules_(lib.nn.BatchNorm1d(2))
        assert (norm.running_mean, norm.num_batches_tracked, norm.track_running_stats) == (None, None, False)


def test_gradients_per_sample(real_torch: ModuleType) -> None:
    found = []
    for lib in (reftorch, real_torch):
        net = lib.nn.Sequential(lib.nn.Conv2d(1, 2, 2), lib.nn.BatchNorm2d(2)).double()
        weights = {
            name: (lib.arange(p.numel(), dtype=lib.float64) + i + 1).sin().reshape(p.shape)
            for i, (name, p) in enumerate(net.named_parameters())
        }
        lib.func.replace_all_batch_norm_modules_(net)

        def loss(parameters: Any, x: Any, net: Any = net, lib: ModuleType = lib) -> Any:
            return lib.func.functional_call(net, parameters, x.unsqueeze(0)).pow(3).sum()

        x = (lib.arange(5 * 16, dtype=lib.float64) * 0.7).sin().reshape(5, 1, 4, 4)
        grads = lib.func.vmap(lib.func.grad(loss), (None, 0))(weights, x)
        found.append({name: grad.reshape(-1).tolist() for name, grad in grads.items()})
    assert list(found[0]) == list(found[1])
    for name, values in found[0].items():
        assert values == pytest.approx(found[1][name], rel=1e-9, abs=1e-9)
