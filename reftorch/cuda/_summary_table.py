"""The table that ``torch.cuda.memory_summary`` returns.

Mirrors: nothing in PyTorch, where ``memory_summary`` makes the table itself
"""

from __future__ import annotations

from typing import Any

_BYTES = ("B  ", "KiB", "MiB", "GiB", "TiB", "PiB")
_COUNTS = (" ", "K", "M")
# The rows of the summary: the counter, what the table calls it, and whether the numbers are bytes.
_ROWS_WITH_POOLS = (
    ("allocated_bytes", "Allocated memory", True),
    ("active_bytes", "Active memory", True),
    ("requested_bytes", "Requested memory", True),
    ("reserved_bytes", "GPU reserved memory", True),
    ("inactive_split_bytes", "Non-releasable memory", True),
    ("allocation", "Allocations", False),
    ("active", "Active allocs", False),
    ("segment", "GPU reserved segments", False),
    ("inactive_split", "Non-releasable allocs", False),
)
_ROWS = (("oversize_allocations", "Oversize allocations"), ("oversize_segments", "Oversize GPU segments"))
_POOLS = (("all", ""), ("large_pool", "      from large pool"), ("small_pool", "      from small pool"))
_VALUES = ("current", "peak", "allocated", "freed")


def _cell(number: int, is_bytes: bool, scale: int) -> str:
    """Return a number in the unit that fits ``scale``, with 12 characters."""
    base, limit, units = (1024, 768 * 1024, _BYTES) if is_bytes else (1000, 750 * 1000, _COUNTS)
    unit = units[0]
    left: float = scale
    for unit_above in units[1:]:
        if left < limit:
            break
        unit, number, left = unit_above, number // base, left / base
    return f"{number:6d} {unit}" if is_bytes else f"{number:7d} {unit} "


def summary_table(index: int, stats: dict[str, Any], abbreviated: bool) -> str:
    """Return the counters of a device as a table.

    Args:
        index: the number of the device.
        stats: what ``torch.cuda.memory_stats`` returns.
        abbreviated: whether to leave out the rows of the two pools.
    """
    rule, double_rule = "-" * 75, "=" * 75
    lines = [
        double_rule,
        f"{'':17} PyTorch CUDA memory summary, device ID {index:<17d} ",
        rule,
        f"{'':11} CUDA OOMs: {stats['num_ooms']:<12d} | {'':6} cudaMalloc retries: {stats['num_alloc_retries']:<8d}  ",
        double_rule,
        "        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  ",
    ]
    for counter, title, is_bytes in _ROWS_WITH_POOLS:
        lines.append(rule)
        scales = [stats[f"{counter}.all.{value}"] for value in _VALUES]
        for pool, pool_title in _POOLS[:1] if abbreviated else _POOLS:
            numbers = [stats[f"{counter}.{pool}.{value}"] for value in _VALUES]
            cells = [_cell(number, is_bytes, scale) for number, scale in zip(numbers, scales, strict=True)]
            lines.append(f" {pool_title or title:<21} | {' | '.join(cells)} ")
    for counter, title in _ROWS:
        numbers = [stats[f"{counter}.{value}"] for value in _VALUES]
        lines += [rule, f" {title:<21} | {' | '.join(_cell(number, False, number) for number in numbers)} "]
    lines.append(double_rule)
    return "".join(f"|{line}|\n" for line in lines)
