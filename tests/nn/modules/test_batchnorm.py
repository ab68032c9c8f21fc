"""Normalization over batches.

Mirrors: test/test_nn.py
"""

import copy
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
from tests.answers.watched import asked
from tests.nn.modules.layers import batch, check_error, check_layer, flat

LAYERS: dict[str, Callable] = {
    "BatchNorm1d": lambda lib: lib.nn.BatchNorm1d(4),
    "BatchNorm1d plain": lambda lib: lib.nn.BatchNorm1d(4, affine=False, momentum=0.3),
    "BatchNorm1d averaging": lambda lib: lib.nn.BatchNorm1d(4, momentum=None, bias=False),
    "BatchNorm1d forgetful": lambda lib: lib.nn.BatchNorm1d(4, track_running_stats=False),
}
ERRORS: dict[str, Callable] = {
    "BatchNorm1d": lambda lib: lib.nn.BatchNorm1d(3)(lib.ones(3)),
    "BatchNorm2d": lambda lib: lib.nn.BatchNorm2d(3)(lib.ones(3)),
    "BatchNorm3d": lambda lib: lib.nn.BatchNorm3d(3)(lib.ones(2, 3)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name: str, real_torch: ModuleType) -> None:
    check_layer(LAYERS[name], real_torch)


@pytest.mark.parametrize("case", ERRORS)
def test_errors_are_those_of_torch(case: str, real_torch: ModuleType) -> None:
    check_error(ERRORS[case], real_torch)


def test_batches_of_images_and_volumes(real_torch: ModuleType) -> None:
    for name, shape in (("BatchNorm2d", (2, 4, 3, 1)), ("BatchNorm3d", (1, 4, 3, 2, 1))):
        results = [
            flat(getattr(lib.nn, name)(4).double()(batch(lib, 1).reshape(shape))) for lib in (reftorch, real_torch)
        ]
        assert results[0] == pytest.approx(results[1], rel=1e-12)


def test_a_state_of_before_batches_were_counted() -> None:
    layer = reftorch.nn.BatchNorm1d(2)
    state = {name: tensor for name, tensor in layer.state_dict().items() if name != "num_batches_tracked"}
    assert str(layer.load_state_dict(state)) == "<All keys matched successfully>"


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("tracks", [True, False])
@pytest.mark.parametrize("bias", [True, False])
def test_lazy_layers(affine: bool, tracks: bool, bias: bool, real_torch: Any, noted: Any) -> None:
    def made(t: Any) -> Any:
        layer = t.nn.LazyBatchNorm2d(affine=affine, track_running_stats=tracks, bias=bias)
        before = repr(layer), list(layer.state_dict())
        layer(t.ones(2, 3, 4, 4))
        return before, repr(layer), type(layer).__name__, {k: tuple(v.shape) for k, v in layer.state_dict().items()}

    assert made(reftorch) == noted(made(real_torch))


def test_the_synchronized_layer_of_one_process(real_torch: Any) -> None:
    check_layer(lambda t: t.nn.SyncBatchNorm(4), real_torch)

    def converted(t: Any) -> Any:
        net = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.Sequential(t.nn.BatchNorm2d(3, bias=False).eval()))
        norm = net[1][0]
        result = t.nn.SyncBatchNorm.convert_sync_batchnorm(net)
        return repr(result), result is net, net[1][0].weight is norm.weight, net[1][0].training

    assert converted(reftorch) == converted(real_torch)
    check_error(lambda t: t.nn.SyncBatchNorm(3)(t.ones(3)), real_torch)


def test_grad_fn_is_that_of_torch(real_torch: Any) -> None:
    def names(t: Any) -> list[str]:
        x = t.ones(2, 3, 4, 4, requires_grad=True)
        results = (t.nn.BatchNorm2d(3)(x), t.nn.BatchNorm2d(3).eval()(x), t.nn.InstanceNorm2d(3)(x))
        return [type(y.grad_fn).__name__ for y in results]

    assert names(reftorch) == asked(real_torch, names)


@pytest.mark.parametrize("sizes", [(4, 4), (5, 3), (8, 0), (2, 3, 3)])
def test_the_synchronized_layer_of_several_ranks(sizes: tuple[int, ...]) -> None:
    """The ranks together compute what one process computes with the whole batch; a rank may have nothing."""
    torch = reftorch
    dist: Any = torch.distributed
    x, factors = torch.randn(8, 3, 2, 2, dtype=torch.float64), torch.randn(8, 3, 2, 2, dtype=torch.float64)
    first = torch.nn.BatchNorm2d(3, momentum=None).double()
    with torch.no_grad():
        first.weight.uniform_()
        first.bias.uniform_()

    def run(layer: Any, part: Any, factor: Any) -> list[Any]:
        leaf = part.clone().requires_grad_()
        y = layer(leaf)
        (y * factor).sum().backward()
        state = [layer.running_mean, layer.running_var, layer.num_batches_tracked]
        return [y.detach(), leaf.grad, layer.weight.grad, layer.bias.grad, *state]

    @spawn_threads_and_init_comms(timeout=30, world_size=len(sizes))
    def program() -> list[Any]:
        rank = dist.get_rank()
        layer = torch.nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(first), dist.group.WORLD)
        results = run(layer, x.split(sizes)[rank], factors.split(sizes)[rank])
        alone = layer.eval()(x)  # without communication: only some of the ranks may ask
        assert torch.equal(alone, torch.nn.functional.batch_norm(x, *results[4:6], layer.weight, layer.bias))
        return results

    expected = run(copy.deepcopy(first), x, factors)
    parts = [list(values) for values in zip(*program(), strict=True)]
    assert torch.allclose(torch.cat(parts[0]), expected[0])
    assert torch.allclose(torch.cat(parts[1]), expected[1])
    for i in (2, 3):
        given = [g for g in parts[i] if g is not None]
        assert torch.allclose(sum(given[1:], given[0]), expected[i])
    for i in (4, 5, 6):
        assert all(torch.allclose(each, expected[i]) for each in parts[i])


def test_the_synchronized_layer_in_training_of_several_ranks() -> None:
    """With DistributedDataParallel, two ranks with halves of a batch train as one process."""
    torch = reftorch
    dist: Any = torch.distributed
    nn = torch.nn
    first = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4, affine=False), nn.Tanh(), nn.Linear(4, 1)).double()
    x, y = torch.randn(8, 3, dtype=torch.float64), torch.randn(8, 1, dtype=torch.float64)

    def train(model: Any, x: Any, y: Any) -> list[float]:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        return [t.double().sum().item() for t in (*model.parameters(), *model.buffers())]

    @spawn_threads_and_init_comms(timeout=30, world_size=2)
    def program() -> list[float]:
        rank = dist.get_rank()
        net = nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(first))
        return train(nn.parallel.DistributedDataParallel(net), x[rank::2], y[rank::2])

    expected = pytest.approx(train(copy.deepcopy(first), x, y), rel=1e-9)
    assert program() == [expected, expected]


def test_one_value_and_nothing_are_refused() -> None:
    torch = reftorch

    @spawn_threads_and_init_comms(timeout=30, world_size=1)
    def alone() -> None:
        with pytest.raises(ValueError, match="Expected more than 1 value per channel when training"):
            torch.nn.SyncBatchNorm(2)(torch.ones(1, 2))

    @spawn_threads_and_init_comms(timeout=30, world_size=2)
    def nothing() -> None:
        with pytest.raises(ValueError, match="expected an input with elements on at least one rank"):
            torch.nn.SyncBatchNorm(2)(torch.ones(0, 2))

    alone()
    nothing()
