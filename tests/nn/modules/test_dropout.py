"""Dropout.

Mirrors: test/nn/test_dropout.py
Leaves out: dropout of whole channels.
"""

from types import ModuleType

import reftorch
from tests.nn.modules.layers import check_error, check_layer


def test_dropout(real_torch: ModuleType) -> None:
    check_layer(lambda lib: lib.nn.Dropout(0.25), real_torch)
    check_error(lambda lib: lib.nn.Dropout(2.0), real_torch)


def test_dropout_is_off_in_evaluation() -> None:
    x = reftorch.ones(10)
    layer = reftorch.nn.Dropout(0.9)
    assert layer.eval()(x) is x and layer.train()(x) is not x
