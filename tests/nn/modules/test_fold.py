"""Windows as columns, as modules, against torch's.

Mirrors: test/test_nn.py
"""

from typing import Any

import pytest

import reftorch


@pytest.mark.parametrize("options", [{}, {"dilation": 2}, {"padding": 1, "stride": (1, 2)}, {"stride": 2}])
def test_modules_equal_torch(options: dict[str, Any], real_torch: Any) -> None:
    def there_and_back(lib: Any) -> Any:
        x = lib.arange(2.0 * 3 * 6 * 5).reshape(2, 3, 6, 5).requires_grad_()
        unfold, fold = lib.nn.Unfold((2, 3), **options), lib.nn.Fold((6, 5), (2, 3), **options)
        columns = unfold(x)
        y = fold(columns * columns)
        grad = lib.autograd.grad((y * y).sum(), x)[0]
        return repr(unfold), repr(fold), columns.tolist(), y.tolist(), grad.tolist()

    assert there_and_back(reftorch) == there_and_back(real_torch)
