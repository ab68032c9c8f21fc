"""Nonlinearities of 16-bit floats; those of the others are tested with their modules.

Mirrors: test/test_nn.py
Leaves out: the functions that are not there.
"""

from types import ModuleType

import pytest

import reftorch

NAMES = (
    "leaky_relu", "elu", "celu", "selu", "gelu", "silu", "softplus", "logsigmoid", "mish", "hardtanh", "softsign",
    "tanhshrink",
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_rounded_on_the_way(name: str, dtype: str, real_torch: ModuleType) -> None:
    """Small and large numbers alike: what is left of a difference is the last bit, and no overflow."""
    results = []
    for lib in (reftorch, real_torch):
        numbers = lib.arange(-40.0, 41.0)
        x = (numbers * numbers.abs() * 0.011 + numbers * 0.003).to(getattr(lib, dtype))
        y = getattr(lib.nn.functional, name)(lib.cat([x, x * 1e3]))
        assert str(y.dtype).endswith(dtype)
        results.append(y.tolist())
    last_bit = 2.0 ** (-10 if dtype == "float16" else -7)
    assert results[0] == pytest.approx(results[1], rel=last_bit, abs=1e-5)
