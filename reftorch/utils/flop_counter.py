"""Counts the floating-point operations of a program, by op and by module.

A dispatch mode sees each op below autograd, in the forward and in the backward pass. A table has a formula for each op
that multiplies matrices or convolves: the formula computes the number from the shapes alone. A multiplication and an
addition count as two operations. All other ops count as none, because products dominate the cost of a network.

Mirrors: torch/utils/flop_counter.py
Leaves out: kernels that do not exist here (cuDNN, Triton, nested and fused attention). PyTorch counts nothing for the
fused kernels of its CPU (attention, LSTM), which have no formula in its table; here attention and LSTM are made of
products, and the products count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import wraps
from math import prod
from typing import Any

from reftorch._ops import OpOverload, OpOverloadPacket, ops
from reftorch._tensor import Tensor
from reftorch._warnings import warn
from reftorch.utils._python_dispatch import TorchDispatchMode
from reftorch.utils._pytree import tree_leaves, tree_map
from reftorch.utils.module_tracker import ModuleTracker

__all__ = ["FlopCounterMode", "register_flop_formula"]

aten = ops.aten
Shape = Sequence[int]
flop_registry: dict[Any, Callable[..., int]] = {}


def get_shape(i: Any) -> Any:
    """Return the shape of a tensor, and any other value as it is."""
    return i.shape if isinstance(i, Tensor) else i


def shape_wrapper(f: Callable[..., int]) -> Callable[..., int]:
    """Let a formula of shapes take tensors: it gets their shapes, and ``out_shape`` in place of ``out_val``."""

    @wraps(f)
    def of_tensors(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        shapes, options, out_shape = tree_map(get_shape, (args, kwargs, out_val))
        return f(*shapes, out_shape=out_shape, **options)

    return of_tensors


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Decorate a function that counts the operations of an op.

    Args:
        targets: the packet of the op, such as ``torch.ops.aten.mm``, or a list of packets.
        get_raw: whether the function takes the tensors themselves and the result as ``out_val``. Otherwise the
            function takes shapes in place of tensors, and the shape of the result as ``out_shape``.

    Returns:
        The decorator.

    Raises:
        ValueError: a target is not a packet.
        RuntimeError: the target has a formula already.

    Example:
        >>> from reftorch.utils.flop_counter import FlopCounterMode, flop_registry, register_flop_formula
        >>> @register_flop_formula(torch.ops.aten.dot)
        ... def dot_flop(a_shape, b_shape, out_shape=None):
        ...     return 2 * a_shape[0]
        >>> with FlopCounterMode(display=False) as counter:
        ...     _ = torch.dot(torch.ones(5), torch.ones(5))
        >>> counter.get_total_flops()
        10
        >>> _ = flop_registry.pop(torch.ops.aten.dot)

    Mirrors torch/utils/flop_counter.py, ``register_flop_formula``.
    """

    def decorator(flop_formula: Callable[..., int]) -> Callable[..., int]:
        formula = flop_formula if get_raw else shape_wrapper(flop_formula)
        for target in tree_leaves(targets):
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(
                    "register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                    "torch.ops.mylib.foo), JitFunction, or HigherOrderOperator, "
                    f"got {target} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = formula
        return formula

    return decorator


# --- products of matrices ---------------------------------------------------------------------------------------------


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise AssertionError(message)


def _product(m: int, k: int, n: int) -> int:
    """Count (m, k) @ (k, n): each of the ``m * n`` results is a sum of k products."""
    return m * n * 2 * k


@register_flop_formula(aten.mm)
def mm_flop(a_shape: Shape, b_shape: Shape, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Count the operations of (m, k) @ (k, n)."""
    (m, k), (k2, n) = a_shape, b_shape
    _require(k == k2, f"matmul: inner dimensions must match (k == k2), got {k} and {k2}")
    return _product(m, k, n)


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape: Shape, a_shape: Shape, b_shape: Shape, out_shape: Any = None, **kwargs: Any) -> int:
    """Count the product of ``addmm``; the addition counts as nothing."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape: Shape, b_shape: Shape, out_shape: Any = None, **kwargs: Any) -> int:
    """Count the operations of (b, m, k) @ (b, k, n)."""
    (b, m, k), (b2, k2, n) = a_shape, b_shape
    _require(b == b2, f"bmm: batch dimensions must match (b == b2), got {b} and {b2}")
    _require(k == k2, f"bmm: inner dimensions must match (k == k2), got {k} and {k2}")
    return b * _product(m, k, n)


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape: Shape, a_shape: Shape, b_shape: Shape, out_shape: Any = None, **kwargs: Any) -> int:
    """Count the products of ``baddbmm``; the addition counts as nothing."""
    return bmm_flop(a_shape, b_shape)


# --- convolution ------------------------------------------------------------------------------------------------------


def conv_flop_count(x_shape: Shape, w_shape: Shape, out_shape: Shape, transposed: bool = False) -> int:
    """Count the operations of a convolution without its bias.

    Each point of the output, in each channel, is a sum over the filter and the input channels of its group. A
    transposed convolution does this work for each point of the input.

    Args:
        x_shape: (N, C_in, \\*).
        w_shape: (C_out, C_in / groups, \\*), or (C_in, C_out / groups, \\*) if transposed.
        out_shape: (N, C_out, \\*).
        transposed: whether the convolution is transposed.

    Example:
        >>> from reftorch.utils.flop_counter import conv_flop_count
        >>> conv_flop_count((1, 3, 8, 8), (4, 3, 3, 3), (1, 4, 6, 6))
        7776

    Mirrors torch/utils/flop_counter.py, ``conv_flop_count``.
    """
    points = (x_shape if transposed else out_shape)[2:]
    return 2 * x_shape[0] * prod(points) * prod(w_shape)


@register_flop_formula(aten.convolution)
def conv_flop(
    x_shape: Shape,
    w_shape: Shape,
    _bias: Any,
    _stride: Any,
    _padding: Any,
    _dilation: Any,
    transposed: bool,
    *args: Any,
    out_shape: Any = None,
    **kwargs: Any,
) -> int:
    """Count the operations of ``aten::convolution``."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed=transposed)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(
    grad_out_shape: Shape,
    x_shape: Shape,
    w_shape: Shape,
    _bias: Any,
    _stride: Any,
    _padding: Any,
    _dilation: Any,
    transposed: bool,
    _output_padding: Any,
    _groups: Any,
    output_mask: Sequence[bool],
    out_shape: Any,
    **kwargs: Any,
) -> int:
    """Count the operations of the gradients of ``aten::convolution``.

    The gradient of the input is the convolution of the opposite kind, of the output's gradient with the filter. The
    gradient of the weight is a convolution of the input with the output's gradient as the filter, in which batch and
    channels have changed places; if the convolution is transposed, input and gradient change roles.
    """

    def swapped(shape: Shape) -> list[int]:
        return [shape[1], shape[0], *shape[2:]]

    flops = 0
    if output_mask[0]:
        flops += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1]:
        image, kernel = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        flops += conv_flop_count(swapped(image), swapped(kernel), swapped(out_shape[1]))
    return flops


# --- attention --------------------------------------------------------------------------------------------------------


def _attention_sizes(query: Shape, key: Shape, value: Shape, where: str) -> tuple[int, int, int, int, int]:
    """Return heads times batch, queries, keys, and the sizes of a key and of a value."""
    (b, h, s_q, d_q), (b2, h_kv, s_k, d_k), (b3, h_v, s_v, d_v) = query, key, value
    _require(
        b == b2 == b3 and h_kv == h_v and d_q == d_k and s_k == s_v,
        f"{where}: query/key/value shapes are incompatible: q={query}, k={key}, v={value}",
    )
    _require(h >= h_kv and h % h_kv == 0, f"{where}: query heads ({h}) must be a multiple of key/value heads ({h_kv})")
    return b * h, s_q, s_k, d_q, d_v


def sdpa_flop_count(query_shape: Shape, key_shape: Shape, value_shape: Shape) -> int:
    """Count the two products of attention; a causal mask saves nothing here.

    Args:
        query_shape: (B, H, L, E).
        key_shape: (B, H / g, S, E), for groups of g heads.
        value_shape: (B, H / g, S, Ev).

    Raises:
        AssertionError: the shapes do not fit together.

    Example:
        >>> from reftorch.utils.flop_counter import sdpa_flop_count
        >>> sdpa_flop_count((1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4))  # 2 heads of (3, 4) @ (4, 5) and (3, 5) @ (5, 4)
        480

    Mirrors torch/utils/flop_counter.py, ``sdpa_flop_count``.
    """
    b, s_q, s_k, d_q, d_v = _attention_sizes(query_shape, key_shape, value_shape, "sdpa_flop_count")
    return b * (_product(s_q, d_q, s_k) + _product(s_q, s_k, d_v))


def sdpa_flop(
    query_shape: Shape, key_shape: Shape, value_shape: Shape, *args: Any, out_shape: Any = None, **kwargs: Any
) -> int:
    """Count the operations of an op that takes query, key and value: a formula for an attention op of your own."""
    return sdpa_flop_count(query_shape, key_shape, value_shape)


def sdpa_backward_flop_count(grad_out_shape: Shape, query_shape: Shape, key_shape: Shape, value_shape: Shape) -> int:
    """Count the five products of the backward pass of attention, one of which computes the scores again.

    Args:
        grad_out_shape: (B, H, L, Ev).
        query_shape: (B, H, L, E).
        key_shape: (B, H / g, S, E), for groups of g heads.
        value_shape: (B, H / g, S, Ev).

    Raises:
        AssertionError: the shapes do not fit together.

    Example:
        >>> from reftorch.utils.flop_counter import sdpa_backward_flop_count
        >>> sdpa_backward_flop_count((1, 2, 3, 4), (1, 2, 3, 4), (1, 2, 5, 4), (1, 2, 5, 4))
        1200

    Mirrors torch/utils/flop_counter.py, ``sdpa_backward_flop_count``.
    """
    where = "sdpa_backward_flop_count"
    b, s_q, s_k, d_q, d_v = _attention_sizes(query_shape, key_shape, value_shape, where)
    _require(
        tuple(grad_out_shape) == (*query_shape[:3], d_v),
        f"{where}: grad_out shape is incompatible: grad_out={grad_out_shape}, q={query_shape}, v={value_shape}",
    )
    return b * (
        _product(s_q, d_q, s_k)  # the scores again
        + _product(s_q, d_v, s_k)  # the gradient of the scores: grad_out @ value^T
        + _product(s_k, s_q, d_v)  # of value: scores^T @ grad_out
        + _product(s_q, s_k, d_q)  # of query: grad_scores @ key
        + _product(d_q, s_q, s_k)  # of key: query^T @ grad_scores
    )


def sdpa_backward_flop(
    grad_out_shape: Shape,
    query_shape: Shape,
    key_shape: Shape,
    value_shape: Shape,
    *args: Any,
    out_shape: Any = None,
    **kwargs: Any,
) -> int:
    """Count the operations of an op that takes the output's gradient, query, key and value."""
    return sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape)


# --- the table --------------------------------------------------------------------------------------------------------

suffixes = ["", "K", "M", "B", "T"]


def get_suffix_str(number: int) -> str:
    """Return the unit for a number, so that two to four digits stand before the point."""
    return suffixes[max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number: int, suffix: str) -> str:
    """Return a number in a unit, with three decimals."""
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num: int, denom: int) -> str:
    """Return a share in percent; ``0%`` of nothing."""
    return f"{num / denom:.2%}" if denom else "0%"


def _layout(rows: list[list[str]], header: list[str]) -> str:
    """Return a table whose first column is aligned at the left, the others at the right, as PyTorch's is laid out."""
    if rows and all(row[1].replace(".", "", 1).isdigit() for row in rows):
        rows = [[row[0], f"{float(row[1]):g}", row[2]] for row in rows]  # without a unit, no decimals that are zero
    # The two additional columns beside a header of the package tabulate, which PyTorch lays the table out with.
    widths = [max(len(title) + 2, *(len(row[i]) for row in rows)) for i, title in enumerate(header)]
    lines = [header, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join([line[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(line[1:], widths[1:], strict=True))])
        for line in lines
    )


class FlopCounterMode:
    """Counts, inside ``with counter:``, floating-point operations by module and by op, and prints a table at the end.

    Args:
        mods: is not needed any more, and gives a warning.
        depth: how deep modules are shown, by the number of points in their names; None shows all.
        display: whether to print the table at the end of the block.
        custom_mapping: further formulas, by packet. A formula takes shapes; if the function has the attribute
            ``_get_raw``, it takes tensors.

    Example:
        >>> from reftorch.utils.flop_counter import FlopCounterMode
        >>> net = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 8))
        >>> with FlopCounterMode(depth=1) as counter:
        ...     net(torch.ones(16, 64)).sum().backward()
        Module             FLOP    % Total
        -------------  --------  ---------
        Sequential     155.648K    100.00%
         - aten.addmm   73.728K     47.37%
         - aten.mm      81.920K     52.63%
        >>> counter.get_flop_counts()["Sequential.2"][torch.ops.aten.addmm]
        8192

    Mirrors torch/utils/flop_counter.py, ``FlopCounterMode``.
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int | None = 2,
        display: bool = True,
        custom_mapping: dict[Any, Callable[..., int]] | None = None,
    ) -> None:
        if mods is not None:
            warn("mods argument is not needed anymore, you can stop passing it")
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth = depth
        self.display = display
        self.mode: _FlopCounterMode | None = None
        custom = {
            target: formula if getattr(formula, "_get_raw", False) else shape_wrapper(formula)
            for target, formula in (custom_mapping or {}).items()
        }
        self.flop_registry = {**flop_registry, **custom}
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self) -> int:
        """Return the number of operations in the block.

        Mirrors torch/utils/flop_counter.py, ``FlopCounterMode.get_total_flops``.
        """
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Return the numbers by module, and in a module by op. ``"Global"`` stands for the whole block.

        Mirrors torch/utils/flop_counter.py, ``FlopCounterMode.get_flop_counts``.
        """
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Return the table as text.

        Args:
            depth: how deep modules are shown; None takes the ``depth`` of the counter.

        Mirrors torch/utils/flop_counter.py, ``FlopCounterMode.get_table``.
        """
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        unit = get_suffix_str(total)

        def rows_of(module: str, indent: int) -> list[list[str]]:
            counts = self.flop_counts[module]
            entries = [(module, sum(counts.values())), *((f" - {op}", number) for op, number in counts.items())]
            return [
                [" " * indent + name, convert_num_with_suffix(n, unit), convert_to_percent_str(n, total)]
                for name, n in entries
            ]

        shown = [
            (module, module.count("."))
            for module in sorted(self.flop_counts)
            if module != "Global" and (depth is None or module.count(".") < depth)
        ]
        rows = [row for module, level in shown for row in rows_of(module, level)]
        # The whole block has rows of its own if no module did all the work.
        all_inside = any(sum(self.flop_counts[module].values()) >= total for module, _ in shown)
        if "Global" in self.flop_counts and not all_inside:
            rows = rows_of("Global", 0) + [[" " + row[0], *row[1:]] for row in rows]
        return _layout(rows or [["Global", "0", "0%"]], ["Module", "FLOP", "% Total"])

    def __enter__(self) -> FlopCounterMode:
        """Begin to count, from zero. A counter cannot be entered twice at a time."""
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _FlopCounterMode(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *exc_info: Any) -> None:
        if self.mode is None:
            raise AssertionError("FlopCounterMode.__exit__ was called without __enter__")
        self.mode.__exit__(*exc_info)
        self.mode = None  # the mode refers to the counter: break the cycle
        self.mod_tracker.__exit__()
        if self.display:
            print(self.get_table(self.depth))

    def _count_flops(self, packet: OpOverloadPacket, out: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        formula = self.flop_registry.get(packet)
        if formula is not None:
            flops = formula(*args, **kwargs, out_val=out)
            for module in set(self.mod_tracker.parents):
                self.flop_counts[module][packet] += flops
        return out


class _FlopCounterMode(TorchDispatchMode):
    """Counts each op that reaches it, and takes the ops apart that are made of others."""

    def __init__(self, counter: FlopCounterMode) -> None:
        self.counter = counter

    def __torch_dispatch__(
        self, func: OpOverload, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        with self:
            result = func.decompose(*args, **kwargs)
        if result is not NotImplemented:
            return result
        out = func(*args, **kwargs)
        return self.counter._count_flops(func._overloadpacket, out, args, kwargs)
