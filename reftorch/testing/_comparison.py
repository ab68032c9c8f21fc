"""Whether two tensors, or two structures of tensors and numbers, are close; and if not, where and by how much.

Mirrors: torch/testing/_comparison.py
Leaves out: sparse and quantized tensors, layouts, and pairs of types that the caller adds.

The values are compared as Python numbers. A comparison by tensor ops would trust the very ops that tests are to check.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from reftorch._tensor import Tensor
from reftorch.functional import as_tensor

__all__ = ["assert_close"]

# By name of the dtype; integers and bools must be equal.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
}
_NUMBER_DTYPES = {int: "int64", float: "float64"}


class _Mismatch(Exception):
    """What differs, and at which item of the structures it does."""

    def __init__(self, message: str, path: tuple, error: type[Exception] = AssertionError) -> None:
        if path:
            message += f"\n\nThe failure occurred for item {''.join(f'[{item!r}]' for item in path)}"
        super().__init__(message)
        self.error = error


class _Comparison:
    """The options of one call of :func:`assert_close`."""

    def __init__(
        self, rtol: float | None, atol: float | None, equal_nan: bool, check_dtype: bool, check_stride: bool
    ) -> None:
        self.rtol = rtol
        self.atol = atol
        self.equal_nan = equal_nan
        self.check_dtype = check_dtype
        self.check_stride = check_stride

    def tolerances(self, *dtypes: str) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        known = [_TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in dtypes]
        return max(rtol for rtol, _ in known), max(atol for _, atol in known)

    def is_close(self, actual: float, expected: float, rtol: float, atol: float) -> bool:
        if actual == expected:
            return True
        if self.equal_nan and math.isnan(actual) and math.isnan(expected):
            return True
        difference = abs(actual - expected)
        return math.isfinite(difference) and difference <= atol + rtol * abs(expected)

    def compare(self, actual: Any, expected: Any, path: tuple = ()) -> None:
        if actual is None or expected is None:
            if actual is not expected:
                raise _Mismatch(f"None mismatch: {actual} is not {expected}", path)
        elif isinstance(actual, bool) and isinstance(expected, bool):
            if actual is not expected:
                raise _Mismatch(f"Booleans mismatch: {actual} is not {expected}", path)
        elif type(actual) in _NUMBER_DTYPES and type(expected) in _NUMBER_DTYPES:
            self.compare_numbers(actual, expected, path)
        elif _are(Sequence, actual, expected):
            self.compare_sequences(actual, expected, path)
        elif _are(Mapping, actual, expected):
            self.compare_mappings(actual, expected, path)
        else:
            self.compare_tensors(_to_tensors(actual, expected, path), path)

    def compare_sequences(self, actual: Sequence, expected: Sequence, path: tuple) -> None:
        if len(actual) != len(expected):
            raise _Mismatch(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", path)
        for i, pair in enumerate(zip(actual, expected, strict=True)):
            self.compare(*pair, (*path, i))

    def compare_mappings(self, actual: Mapping, expected: Mapping, path: tuple) -> None:
        if set(actual) != set(expected):
            raise _Mismatch(
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(set(expected) - set(actual))}\n"
                f"Additional keys in the actual mapping: {sorted(set(actual) - set(expected))}",
                path,
            )
        for key in expected:
            self.compare(actual[key], expected[key], (*path, key))

    def compare_numbers(self, actual: float, expected: float, path: tuple) -> None:
        rtol, atol = self.tolerances(_NUMBER_DTYPES[type(actual)], _NUMBER_DTYPES[type(expected)])
        if not self.is_close(actual, expected, rtol, atol):
            raise _Mismatch(_scalars_message(actual, expected, rtol, atol), path)

    def compare_tensors(self, pair: list[Tensor], path: tuple) -> None:
        actual, expected = pair
        attributes: dict[str, tuple[Any, Any]] = {"shape": (actual.shape, expected.shape)}
        if self.check_stride:
            attributes["stride()"] = (actual.stride(), expected.stride())
        attributes["device"] = (actual.device, expected.device)
        if self.check_dtype:
            attributes["dtype"] = (actual.dtype, expected.dtype)
        for name, (a, e) in attributes.items():
            if a != e:
                raise _Mismatch(f"The values for attribute '{name}' do not match: {a} != {e}.", path)

        rtol, atol = self.tolerances(*(str(tensor.dtype).rpartition(".")[2] for tensor in (actual, expected)))
        pairs = list(zip(_values(actual), _values(expected), strict=True))
        wrong = [i for i, (a, e) in enumerate(pairs) if not self.is_close(a, e, rtol, atol)]
        if wrong and actual.dim() == 0:
            raise _Mismatch(_scalars_message(*pairs[0], rtol, atol), path)
        if wrong:
            raise _Mismatch(_tensors_message(pairs, wrong, tuple(actual.shape), rtol, atol), path)


def _are(kind: type, actual: Any, expected: Any) -> bool:
    return all(isinstance(value, kind) and not isinstance(value, str) for value in (actual, expected))


def _to_tensors(actual: Any, expected: Any, path: tuple) -> list[Tensor]:
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    pair = (actual, expected)
    if not related or not all(isinstance(value, Tensor) or type(value).__module__ == "numpy" for value in pair):
        kinds = f"{type(actual)} and {type(expected)}"
        raise _Mismatch(f"No comparison pair was able to handle inputs of type {kinds}.", path, TypeError)
    return [value.detach() if isinstance(value, Tensor) else as_tensor(value) for value in pair]


def _values(tensor: Tensor) -> list:
    return tensor.reshape(-1).tolist()


def _relative(actual: float, expected: float) -> float:
    return math.inf if expected == 0 else abs(actual - expected) / abs(expected)


def _message(what: str, extra: str, differences: list[str], rtol: float, atol: float) -> str:
    exact = rtol == 0 and atol == 0
    if not exact:
        differences = [f"{text} (up to {tol} allowed)" for text, tol in zip(differences, (atol, rtol), strict=True)]
    return "\n".join([f"{what} are not {'equal' if exact else 'close'}!\n", extra, *differences])


def _scalars_message(actual: float, expected: float, rtol: float, atol: float) -> str:
    differences = [
        f"Absolute difference: {abs(actual - expected)}",
        f"Relative difference: {_relative(actual, expected)}",
    ]
    return _message("Scalars", f"Expected {expected} but got {actual}.", differences, rtol, atol)


def _tensors_message(pairs: list, wrong: list[int], shape: tuple, rtol: float, atol: float) -> str:
    def greatest(name: str, difference: Callable[[float, float], float]) -> str:
        # A NaN compares with nothing; it counts as the greatest difference there is.
        key = [math.inf if math.isnan(difference(*pairs[i])) else difference(*pairs[i]) for i in wrong]
        flat = wrong[key.index(max(key))]
        return f"Greatest {name} difference: {difference(*pairs[flat])} at index {_unravel(flat, shape)}"

    differences = [greatest("absolute", lambda a, e: abs(a - e)), greatest("relative", _relative)]
    extra = f"Mismatched elements: {len(wrong)} / {len(pairs)} ({len(wrong) / len(pairs):.1%})"
    return _message("Tensor-likes", extra, differences, rtol, atol)


def _unravel(flat: int, shape: tuple) -> tuple:
    index = []
    for size in reversed(shape):
        flat, place = divmod(flat, size)
        index.append(place)
    return tuple(reversed(index))


def assert_close(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_dtype: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    r"""Raise where ``actual`` is not close to ``expected``: :math:`|a - e| \le \text{atol} + \text{rtol} |e|`.

    Sequences and mappings are compared item by item; shapes and devices must be equal. Equal values are close, infinite
    ones too.

    Args:
        actual: tensor, number, numpy array, None, or sequence or mapping of these.
        expected: the same structure.
        rtol, atol: relative and absolute tolerance, both or neither; by default (1.3e-6, 1e-5) for float32,
            (1e-7, 1e-7) for float64, (1e-3, 1e-5) for float16, (1.6e-2, 1e-5) for bfloat16, zero for the rest.
        equal_nan: whether two NaNs are close.
        check_dtype: whether dtypes must be equal.
        check_stride: whether strides must be equal.
        msg: the message to raise with, or a function from the message there would be to another.

    Raises:
        AssertionError: something is not close.
        ValueError: only one of ``rtol`` and ``atol`` is given.
        TypeError: inputs that cannot be compared.

    Example:
        >>> import reftorch as torch
        >>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.000001]))
        >>> torch.testing.assert_close({"x": torch.tensor([1, 2])}, {"x": torch.tensor([1, 3])})
        Traceback (most recent call last):
        AssertionError: Tensor-likes are not equal!
        <BLANKLINE>
        Mismatched elements: 1 / 2 (50.0%)
        Greatest absolute difference: 1 at index (1,)
        Greatest relative difference: 0.3333333333333333 at index (1,)
        <BLANKLINE>
        The failure occurred for item ['x']

    Mirrors torch/testing/_comparison.py, ``assert_close``.
    """
    __tracebackhide__ = True
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    try:
        _Comparison(rtol, atol, equal_nan, check_dtype, check_stride).compare(actual, expected)
    except _Mismatch as mismatch:
        text = str(mismatch)
        raise mismatch.error(msg(text) if callable(msg) else msg or text) from None
