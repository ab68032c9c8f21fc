"""Comparison of two tensors, or of two structures of tensors and numbers; the error says where and how they differ.

Mirrors: torch/testing/_comparison.py
Leaves out: sparse and quantized tensors, and pairs of types that the caller adds.

The values are compared as Python numbers, because tensor ops are what the tests check.
"""

from __future__ import annotations

import cmath
import math
import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.functional import as_tensor

__all__ = ["assert_allclose", "assert_close"]

# The keys are names of dtypes; integers and bools must be equal.
_TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "bfloat16": (1.6e-2, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-7, 1e-7),
}
_NUMBER_DTYPES = {int: "int64", float: "float64", complex: "float64"}
# assert_allclose has its own tolerances.
_LOOSE_TOLERANCES = {**_TOLERANCES, "float16": (1e-3, 1e-3), "float32": (1e-4, 1e-5), "float64": (1e-5, 1e-8)}


class _Mismatch(Exception):
    """Describes what differs, and the item of the structures in which it differs."""

    def __init__(self, message: str, path: tuple, error: type[Exception] = AssertionError) -> None:
        if path:
            message += f"\n\nThe failure occurred for item {''.join(f'[{item!r}]' for item in path)}"
        super().__init__(message)
        self.error = error


class _Comparison:
    """The options of one call of :func:`assert_close`."""

    def __init__(
        self,
        rtol: float | None,
        atol: float | None,
        equal_nan: bool,
        checked: Sequence[str],
        allow_subclasses: bool,
    ) -> None:
        self.rtol = rtol
        self.atol = atol
        self.equal_nan = equal_nan
        self.checked = checked  # the attributes of tensors that must be equal, in the order of the checks
        self.allow_subclasses = allow_subclasses

    def tolerances(self, *dtypes: str) -> tuple[float, float]:
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        return _tolerances(_TOLERANCES, *dtypes)

    def is_close(self, actual: complex, expected: complex, rtol: float, atol: float) -> bool:
        if actual == expected:
            return True
        if self.equal_nan and cmath.isnan(actual) and cmath.isnan(expected):
            return True
        difference = abs(actual - expected)
        return math.isfinite(difference) and difference <= atol + rtol * abs(expected)

    def compare(self, actual: Any, expected: Any, path: tuple = ()) -> None:
        import numpy

        actual, expected = (value.item() if isinstance(value, numpy.generic) else value for value in (actual, expected))
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
            self.compare_tensors(self.to_tensors(actual, expected, path), path)

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
        keys = list(expected)
        with suppress(TypeError):  # keys that cannot be sorted keep their order
            keys.sort()
        for key in keys:
            self.compare(actual[key], expected[key], (*path, key))

    def compare_numbers(self, actual: complex, expected: complex, path: tuple) -> None:
        if "dtype" in self.checked and type(actual) is not type(expected):
            raise _Mismatch(f"The (d)types do not match: {type(actual)} != {type(expected)}.", path)
        rtol, atol = self.tolerances(_NUMBER_DTYPES[type(actual)], _NUMBER_DTYPES[type(expected)])
        if not self.is_close(actual, expected, rtol, atol):
            raise _Mismatch(_scalars_message(actual, expected, rtol, atol), path)

    def to_tensors(self, actual: Any, expected: Any, path: tuple) -> list[Tensor]:
        related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
        if related and (self.allow_subclasses or type(actual) is type(expected)):
            with suppress(TypeError, ValueError, RuntimeError):
                return [v.detach() if isinstance(v, Tensor) else as_tensor(v) for v in (actual, expected)]
        kinds = f"{type(actual)} and {type(expected)}"
        raise _Mismatch(f"No comparison pair was able to handle inputs of type {kinds}.", path, TypeError)

    def compare_tensors(self, pair: list[Tensor], path: tuple) -> None:
        actual, expected = pair
        for name in self.checked:
            a, e = (tensor.stride() if name == "stride()" else getattr(tensor, name) for tensor in pair)
            if a != e:
                raise _Mismatch(f"The values for attribute '{name}' do not match: {a} != {e}.", path)

        rtol, atol = self.tolerances(*map(_dtype_name, pair))
        pairs = list(zip(_values(actual), _values(expected), strict=True))
        wrong = [i for i, (a, e) in enumerate(pairs) if not self.is_close(a, e, rtol, atol)]
        if wrong and actual.dim() == 0:
            raise _Mismatch(_scalars_message(*pairs[0], rtol, atol), path)
        if wrong:
            raise _Mismatch(_tensors_message(pairs, wrong, _dtype_name(actual), tuple(actual.shape), rtol, atol), path)


def _are(kind: type, actual: Any, expected: Any) -> bool:
    return all(isinstance(value, kind) and not isinstance(value, str) for value in (actual, expected))


def _tolerances(table: dict[str, tuple[float, float]], *dtypes: str) -> tuple[float, float]:
    known = [table.get(dtype, (0.0, 0.0)) for dtype in dtypes]
    return max(rtol for rtol, _ in known), max(atol for _, atol in known)


def _dtype_name(tensor: Tensor) -> str:
    return str(tensor.dtype).rpartition(".")[2]


def _values(tensor: Tensor) -> list:
    return tensor.reshape(-1).tolist()


def _relative(actual: complex, expected: complex) -> float:
    return math.inf if expected == 0 else abs(actual - expected) / abs(expected)


def _message(what: str, extra: str, differences: list[str], rtol: float, atol: float) -> str:
    exact = rtol == 0 and atol == 0
    if not exact:
        differences = [f"{text} (up to {tol} allowed)" for text, tol in zip(differences, (atol, rtol), strict=True)]
    return "\n".join([f"{what} are not {'equal' if exact else 'close'}!\n", extra, *differences])


def _scalars_message(actual: complex, expected: complex, rtol: float, atol: float) -> str:
    differences = [
        f"Absolute difference: {abs(actual - expected)}",
        f"Relative difference: {_relative(actual, expected)}",
    ]
    return _message("Scalars", f"Expected {expected} but got {actual}.", differences, rtol, atol)


def _tensors_message(pairs: list, wrong: list[int], dtype: str, shape: tuple, rtol: float, atol: float) -> str:
    def greatest(name: str, difference: Callable[[float, float], float], dtype: str) -> str:
        # A difference with a NaN cannot be ordered, so it counts as the greatest difference.
        key = [math.inf if math.isnan(difference(*pairs[i])) else difference(*pairs[i]) for i in wrong]
        flat = wrong[key.index(max(key))]
        value = difference(*pairs[flat])
        if dtype == "float32" and math.isfinite(value):
            value = struct.unpack("f", struct.pack("f", value))[0]
        return f"Greatest {name} difference: {value} at index {_unravel(flat, shape)}"

    absolute = greatest("absolute", lambda a, e: abs(a - e), dtype)
    floating = dtype if dtype.startswith(("float", "bfloat")) else "float32"  # the dtype of a quotient of integers
    relative = greatest("relative", lambda a, e: math.nan if math.isnan(a) else _relative(a, e), floating)
    extra = f"Mismatched elements: {len(wrong)} / {len(pairs)} ({len(wrong) / len(pairs):.1%})"
    return _message("Tensor-likes", extra, [absolute, relative], rtol, atol)


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
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    r"""Raise an error unless ``actual`` is close to ``expected``: :math:`|a - e| \le \text{atol} + \text{rtol} |e|`.

    Sequences and mappings are compared item by item; shapes must be equal. Equal infinities are close.

    Args:
        actual: tensor, number, numpy array, None, or sequence or mapping of these.
        expected: the same structure.
        allow_subclasses: whether the type of one value may be a subclass of the other's type.
        rtol, atol: relative and absolute tolerance, both or neither; by default (1.3e-6, 1e-5) for float32,
            (1e-7, 1e-7) for float64, (1e-3, 1e-5) for float16, (1.6e-2, 1e-5) for bfloat16, zero for the rest.
        equal_nan: whether two NaNs are close.
        check_device, check_dtype, check_layout, check_stride: whether these must be equal; ``check_dtype`` compares the
            types of Python numbers.
        msg: the message of the error, or a function that takes the generated message and returns another.

    Raises:
        AssertionError: a value is not close.
        ValueError: only one of ``rtol`` and ``atol`` is given.
        TypeError: the inputs cannot be compared.

    Example:
        >>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.000001]))
        >>> torch.testing.assert_close({"x": torch.tensor([1, 2])}, {"x": torch.tensor([1, 3])})
        Traceback (most recent call last):
        AssertionError: Tensor-likes are not equal!
        <BLANKLINE>
        Mismatched elements: 1 / 2 (50.0%)
        Greatest absolute difference: 1 at index (1,)
        Greatest relative difference: 0.333... at index (1,)
        <BLANKLINE>
        The failure occurred for item ['x']

    Mirrors torch/testing/_comparison.py, ``assert_close``.
    """
    __tracebackhide__ = True
    if (rtol is None) != (atol is None):
        missing = "rtol" if rtol is None else "atol"
        raise ValueError(f"Both 'rtol' and 'atol' must be either specified or omitted, but got no {missing}.")
    checks = {"shape": True, "layout": check_layout, "stride()": check_stride, "device": check_device}
    checked = [name for name, wanted in {**checks, "dtype": check_dtype}.items() if wanted]
    try:
        _Comparison(rtol, atol, equal_nan, checked, allow_subclasses).compare(actual, expected)
    except _Mismatch as mismatch:
        text = str(mismatch)
        raise mismatch.error(msg(text) if callable(msg) else msg or text) from None


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The old form of :func:`assert_close`: numbers and lists become tensors, dtypes may differ, NaN equals NaN.

    Args:
        actual, expected: tensors, or data from which tensors can be made.
        rtol, atol: by default (1e-4, 1e-5) for float32, (1e-5, 1e-8) for float64, (1e-3, 1e-3) for float16.
        equal_nan: whether two NaNs are close.
        msg: the message of the error.

    Raises:
        AssertionError: a value is not close.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.testing.assert_allclose(torch.tensor([1.0, float("nan")]), [1, float("nan")])

    Mirrors torch/testing/_comparison.py, ``assert_allclose``.
    """
    __tracebackhide__ = True
    warn("`assert_allclose()` is deprecated. Please use `assert_close()` instead.", FutureWarning)
    actual = actual if isinstance(actual, Tensor) else _C.tensor(actual)
    expected = expected if isinstance(expected, Tensor) else _C.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = _tolerances(_LOOSE_TOLERANCES, *map(_dtype_name, (actual, expected)))
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)
