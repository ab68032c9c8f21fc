"""Changes of the size of images against torch's modules.

Mirrors: test/test_nn.py
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from tests.nn.utils.both import compare

MODULES: dict[str, Callable] = {
    "size": lambda nn: nn.Upsample(size=(3, 5)),
    "factor": lambda nn: nn.Upsample(scale_factor=1.5, mode="bicubic", align_corners=True),
    "factors": lambda nn: nn.Upsample(None, (2, 3), "bilinear", recompute_scale_factor=True),
    "nearest": lambda nn: nn.UpsamplingNearest2d(scale_factor=2),
    "bilinear": lambda nn: nn.UpsamplingBilinear2d(size=5),
}


@pytest.mark.parametrize("name", MODULES)
def test_modules_are_those_of_torch(real_torch: ModuleType, name: str) -> None:
    def program(lib: Any) -> list[Any]:
        module = MODULES[name](lib.nn)
        x = lib.arange(24.0).reshape(1, 2, 3, 4).sin()
        return [repr(module), sorted(vars(module)), module(x)]

    compare(program, real_torch)
