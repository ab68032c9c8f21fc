"""Normalization over batches.

Mirrors: test/test_nn.py
Leaves out: nothing.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
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
    with pytest.raises(NotImplementedError, match="process_group must be None"):
        reftorch.nn.SyncBatchNorm(3, process_group="all")


def test_grad_fn_is_that_of_torch(real_torch: Any) -> None:
    def names(t: Any) -> list[str]:
        x = t.ones(2, 3, 4, 4, requires_grad=True)
        results = (t.nn.BatchNorm2d(3)(x), t.nn.BatchNorm2d(3).eval()(x), t.nn.InstanceNorm2d(3)(x))
        return [type(y.grad_fn).__name__ for y in results]

    assert names(reftorch) == asked(real_torch, names)
