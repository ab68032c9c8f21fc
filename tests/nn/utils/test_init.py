"""Modules whose parameters are not drawn.

Mirrors: test/test_nn.py, its tests of ``skip_init``
"""

from types import ModuleType
from typing import Any

from tests.nn.utils.both import compare, tried


def program(lib: Any) -> list[Any]:
    lib.manual_seed(1)
    before = lib.random.get_rng_state().tolist()
    skip = lib.nn.utils.skip_init
    layer = skip(lib.nn.Linear, 3, 4, bias=False, dtype=lib.float64)
    found = [repr(layer), list(layer.weight.shape), str(layer.weight.dtype), layer.weight.requires_grad]
    found += [str(layer.weight.device), lib.random.get_rng_state().tolist() == before]
    return [*found, tried(lambda: skip(int)), tried(lambda: skip(lib.nn.ReLU))]


def test_skip_init_is_that_of_torch(real_torch: ModuleType) -> None:
    compare(program, real_torch)
