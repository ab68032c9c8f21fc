"""The text of a tensor.

Mirrors: torch/_tensor_str.py
Leaves out: complex, sparse, quantized and nested tensors.

The work takes two passes, as in PyTorch: a :class:`_Formatter` looks at every element that will be shown and chooses
one width and one notation; then the text is laid out. The arithmetic differs. PyTorch formats 0-dim tensors. Here the
shown elements leave the tensor once, by ``tolist``, and the rest is plain Python, so that printing needs only a few ops
even for a tensor of many dimensions.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reftorch import _C

if TYPE_CHECKING:
    from reftorch._tensor import Tensor

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]


@dataclasses.dataclass
class _PrinterOptions:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


PRINT_OPTS = _PrinterOptions()

_PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print. Options that are None keep their values, except ``sci_mode``.

    Args:
        precision: the number of digits after the point (default 4).
        threshold: the number of elements above which a tensor is summarized (default 1000).
        edgeitems: the number of elements at each end of a summarized dimension (default 3).
        linewidth: the maximal number of characters in a line (default 80).
        profile: ``"default"``, ``"short"`` or ``"full"``: values for these four options; the given options override
            them.
        sci_mode: True forces and False forbids scientific notation; None, which is also the default, lets the values
            decide.

    Example:
        >>> torch.set_printoptions(precision=2)
        >>> torch.tensor([1.12345])
        tensor([1.12])
        >>> torch.set_printoptions(profile="default")
        >>> torch.tensor([1.12345])
        tensor([1.1235])

    Mirrors torch/_tensor_str.py, ``set_printoptions``.
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen = dict(_PROFILES.get(profile or "", {}))
    chosen.update({name: value for name, value in given.items() if value is not None})
    for name, value in chosen.items():
        setattr(PRINT_OPTS, name, value)
    PRINT_OPTS.sci_mode = sci_mode


def get_printoptions() -> dict[str, Any]:
    """Return the print options as a dict that :func:`set_printoptions` takes as keyword arguments.

    Example:
        >>> torch._tensor_str.get_printoptions()["edgeitems"]
        3

    Mirrors torch/_tensor_str.py, ``get_printoptions``.
    """
    return dataclasses.asdict(PRINT_OPTS)


@contextlib.contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Set print options inside a ``with`` block.

    Args:
        kwargs: the keyword arguments of :func:`set_printoptions`.

    Example:
        >>> with torch._tensor_str.printoptions(precision=1):
        ...     print(torch.tensor(3.14159))
        tensor(3.1)
        >>> print(torch.tensor(3.14159))
        tensor(3.1416)

    Mirrors torch/_tensor_str.py, ``printoptions``.
    """
    saved = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**saved)


class _Formatter:
    """Chooses one width and one notation for all shown elements, so that columns line up."""

    def __init__(self, values: list, floating: bool) -> None:
        self.floating_dtype = floating
        self.int_mode = True
        self.sci_mode = False
        self.max_width = 1

        if not floating:
            self.max_width = max((len(str(value)) for value in values), default=1)
            return

        finite = [value for value in values if value != 0 and math.isfinite(value)]
        if not finite:
            return
        largest, smallest = max(map(abs, finite)), min(map(abs, finite))
        self.int_mode = all(value == math.floor(value) for value in finite)
        if PRINT_OPTS.sci_mode is not None:
            self.sci_mode = PRINT_OPTS.sci_mode
        else:
            self.sci_mode = largest / smallest > 1000.0 or largest > 1.0e8 or smallest < 1.0e-4

        # Floats that are whole numbers print as "1.", and the point counts here; infinities and NaNs have no point.
        point = 1 if self.int_mode and not self.sci_mode else 0
        self.max_width = max(1, max(len(self._number(value)) for value in finite) + point)

    def _number(self, value: float) -> str:
        if self.sci_mode:
            return f"{value:.{PRINT_OPTS.precision}e}"
        return f"{value:.0f}" if self.int_mode else f"{value:.{PRINT_OPTS.precision}f}"

    def format(self, value: Any) -> str:
        text = str(value)
        if self.floating_dtype:
            text = self._number(value)
            if self.int_mode and not self.sci_mode and math.isfinite(value):
                text += "."
        return text.rjust(self.max_width)


def _vector_str(values: list, indent: int, cut: bool, formatter: _Formatter) -> str:
    words = [formatter.format(value) for value in values]
    if cut:
        words.insert(PRINT_OPTS.edgeitems, " ...")
    per_line = max(1, (PRINT_OPTS.linewidth - indent) // (formatter.max_width + 2))
    lines = [", ".join(words[i : i + per_line]) for i in range(0, len(words), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _tensor_str_with_formatter(values: Any, indent: int, cuts: list[bool], formatter: _Formatter) -> str:
    dim = len(cuts)
    if dim == 0:
        return formatter.format(values)
    if dim == 1:
        return _vector_str(values, indent, cuts[0], formatter)
    slices = [_tensor_str_with_formatter(value, indent + 1, cuts[1:], formatter) for value in values]
    if cuts[0]:
        slices.insert(PRINT_OPTS.edgeitems, "...")
    return "[" + ("," + "\n" * (dim - 1) + " " * (indent + 1)).join(slices) + "]"


def get_summarized_data(self: Tensor) -> list:
    """Return the elements at the edges of every dimension, as nested lists."""
    if self.dim() == 0:
        return self.tolist()
    size, edge = self.shape[0], PRINT_OPTS.edgeitems
    cut = size > 2 * edge
    if self.dim() == 1:
        return self[:edge].tolist() + self[size - edge :].tolist() if cut else self.tolist()
    shown = (*range(edge), *range(size - edge, size)) if cut else range(size)
    return [get_summarized_data(self[i]) for i in shown]


def _flatten(values: Any) -> Iterator:
    if not isinstance(values, list):
        yield values
        return
    for value in values:
        yield from _flatten(value)


def _tensor_str(self: Tensor, indent: int) -> str:
    summarize = self.numel() > PRINT_OPTS.threshold
    if summarize and PRINT_OPTS.edgeitems == 0 and self.dim() > 0:
        return "[...]"
    values = get_summarized_data(self) if summarize else self.tolist()
    cuts = [summarize and size > 2 * PRINT_OPTS.edgeitems for size in self.shape]
    formatter = _Formatter(list(_flatten(values)), self.is_floating_point())
    return _tensor_str_with_formatter(values, indent, cuts, formatter)


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int) -> str:
    parts = [tensor_str]
    # The text begins with the class name and a bracket, so its last line ends where the next suffix would begin.
    last_line_len = len(tensor_str) - tensor_str.rfind("\n") + 1
    for suffix in suffixes:
        if last_line_len + len(suffix) + 2 > PRINT_OPTS.linewidth:
            parts.append(",\n" + " " * indent + suffix)
            last_line_len = indent + len(suffix)
        else:
            parts.append(", " + suffix)
            last_line_len += len(suffix) + 2
    return "".join(parts) + ")"


def _grad_suffix(inp: Tensor) -> str | None:
    try:
        grad_fn = inp.grad_fn
    except RuntimeError:
        # A view that was made under no_grad and then written in place has no valid grad_fn; reading the attribute
        # raises.
        return "grad_fn=<Invalid>"
    if grad_fn is not None:
        return f"grad_fn=<{grad_fn.name().rsplit('::', 1)[-1]}>"
    return "requires_grad=True" if inp.requires_grad else None


def _functorch_wrapper_str(wrapper: tuple[int, int | None, Tensor]) -> str:
    """Return the text of a transform's wrapper, with the tensor inside."""
    level, bdim, value = wrapper
    inside = textwrap.indent(repr(value), "    ")
    if bdim is None:
        return f"GradTrackingTensor(lvl={level}, value=\n{inside}\n)"
    return f"BatchedTensor(lvl={level}, bdim={bdim}, value=\n{inside}\n)"


def _str(inp: Tensor, *, tensor_contents: str | None = None) -> str:
    """Return the text of ``repr(inp)``; ``tensor_contents`` replaces the elements."""
    if (wrapper := _C._functorch._describe(inp)) is not None:
        return _functorch_wrapper_str(wrapper)
    # Classes are compared by name, because this module cannot import them; a subclass shows its own name.
    plain = type(inp).__name__ in ("Tensor", "Parameter")
    prefix = "tensor(" if plain else f"{type(inp).__name__}("
    indent = len(prefix)
    self = inp.detach()
    empty = self.numel() == 0

    suffixes = []
    if self.device.type != "cpu":
        suffixes.append(f"device='{self.device}'")
    # Meta tensors and empty tensors show no elements, from which a reader could tell the shape and the dtype.
    if self.is_meta or (empty and self.dim() != 1) or (not empty and not PRINT_OPTS.edgeitems):
        suffixes.append("size=" + str(tuple(self.shape)))
    shown = not empty and not self.is_meta
    implied = self.dtype == _C.get_default_dtype() or (shown and str(self.dtype) in ("torch.int64", "torch.bool"))
    if not implied:
        suffixes.append("dtype=" + str(self.dtype))
    if (grad_suffix := _grad_suffix(inp)) is not None:
        suffixes.append(grad_suffix)
    if _C._is_forward_ad_active() and (tangent := _C._unpack_dual(inp)[1]) is not None:
        suffixes.append(f"tangent={tangent}")

    if self.is_meta:
        tensor_contents = "..."
    elif tensor_contents is None:
        tensor_contents = "[]" if empty else _tensor_str(self, indent)
    text = _add_suffixes(prefix + tensor_contents, suffixes, indent)
    return text if plain or not getattr(inp, "_is_param", False) else f"Parameter({text})"
