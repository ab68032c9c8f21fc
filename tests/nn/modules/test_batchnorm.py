"""Normalization over batches.

Mirrors: test/test_nn.py
Leaves out: nothing.
"""

from collections.abc import Callable
from types import ModuleType

import pytest

import reftorch
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
