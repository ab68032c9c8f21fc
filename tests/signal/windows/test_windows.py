"""Each window has PyTorch's values and PyTorch's errors.

Mirrors: test/test_spectral_ops.py, torch/testing/_internal/opinfo/definitions/signal.py
"""

from types import ModuleType
from typing import Any

import pytest

import reftorch

NAMES = ("bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming",
         "hann", "kaiser", "nuttall")  # fmt: skip
OPTIONS: dict[str, list[dict[str, Any]]] = {
    "exponential": [{}, {"tau": 2.5}, {"center": 1.0, "sym": False}],
    "gaussian": [{}, {"std": 0.5}],
    "general_cosine": [{"a": [0.5, 0.3, 0.2]}],
    "general_hamming": [{}, {"alpha": 0.3}],
    "kaiser": [{}, {"beta": 0.0}, {"beta": 2.5}],
}


@pytest.mark.parametrize("name", NAMES)
def test_weights(name: str, real_torch: ModuleType, noted: Any) -> None:
    def weights(library: ModuleType) -> list[Any]:
        function = getattr(library.signal.windows, name)
        found = []
        for options in OPTIONS.get(name, [{}]):
            for sym in {options.get("sym", True), False}:
                for M in (0, 1, 2, 5, 8):
                    for dtype in (None, library.float64):
                        window = function(M, **{**options, "sym": sym}, dtype=dtype, requires_grad=M > 1)
                        assert window.requires_grad == (M > 1)
                        found.append((str(window.dtype), window.tolist()))
        return found

    for (dtype, ours), (expected_dtype, expected) in zip(weights(reftorch), noted(weights(real_torch)), strict=True):
        assert dtype == expected_dtype
        assert ours == pytest.approx(
            expected, rel=1e-6 if "32" in dtype else 1e-12, abs=1e-7 if "32" in dtype else 1e-14
        )


WRONG: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *((name, (-1,), {"a": [1.0]} if name == "general_cosine" else {}) for name in NAMES),
    ("hann", (3,), {"dtype": "int64"}),
    ("kaiser", (3,), {"dtype": "float16"}),
    ("kaiser", (3,), {"layout": None}),
    ("kaiser", (3,), {"beta": -1}),
    ("gaussian", (3,), {"std": 0}),
    ("exponential", (3,), {"tau": -1}),
    ("exponential", (3,), {"center": 1}),
    ("general_cosine", (3,), {"a": 3}),
    ("general_cosine", (3,), {"a": []}),
]


def test_errors(real_torch: ModuleType, noted: Any) -> None:
    def messages(library: ModuleType) -> list[str]:
        found = []
        for name, args, options in WRONG:
            options = {
                key: getattr(library, value) if isinstance(value, str) else value for key, value in options.items()
            }
            with pytest.raises((TypeError, ValueError)) as caught:
                getattr(library.signal.windows, name)(*args, **options)
            found.append(f"{type(caught.value).__name__}: {caught.value}")
        return found

    assert messages(reftorch) == noted(messages(real_torch))
