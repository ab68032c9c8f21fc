"""A table of measurements: a row for each task, a column for each description.

Mirrors: torch/utils/benchmark/utils/compare.py
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Any

from reftorch._C import tensor
from reftorch.utils.benchmark.utils import common
from reftorch.utils.benchmark.utils.common import Measurement

__all__ = ["Colorize", "Compare"]

# What a terminal takes for colors.
BEST = "\033[92m"
GOOD = "\033[34m"
BAD = "\033[2m\033[91m"
VERY_BAD = "\033[31m"
BOLD = "\033[1m"
TERMINATE = "\033[0m"

Key = tuple[int, Any, str]  # of a row: threads, environment, name


class Colorize(enum.Enum):
    """Whether a number is colored, and whether it is compared with its column or with its row.

    Mirrors torch/utils/benchmark/utils/compare.py, ``Colorize``.
    """

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


def _color(cell: str, value: float, best: float) -> str:
    """Return a cell with the color of a time that is compared with the best time."""
    if value <= best * 1.01 or value <= best + 100e-9:
        return BEST + BOLD + cell + TERMINATE * 2
    if value <= best * 1.1:
        return GOOD + BOLD + cell + TERMINATE * 2
    if value >= best * 5:
        return VERY_BAD + BOLD + cell + TERMINATE * 2
    if value >= best * 2:
        return BAD + cell + TERMINATE * 2
    return cell


class _Column:
    """Writes the times of one column, all with the same width and number of decimals."""

    def __init__(self, results: Sequence[Measurement | None], scale: float, *, trim: bool, warnings: bool) -> None:
        present = [m for m in results if m is not None]
        self.scale, self.trim = scale, trim
        self.warnings = warnings and any(m.has_warnings for m in present)
        leading = [int(tensor(m.median / scale).log10().ceil()) for m in present]
        decimals = 1
        if trim:
            decimals = min(max(m.significant_figures - d, 0) for m, d in zip(present, leading, strict=True))
        width = max(leading) + decimals + (1 if decimals else 0)
        self.template = f"{{:>{width}.{decimals}f}}{{:>{7 if self.warnings else 0}}}"

    def text(self, m: Measurement | None) -> str:
        if m is None:
            value = common.trim_sigfig(1, 1) if self.trim else 1
            return " " * len(self.template.format(value, ""))
        value = m.median / self.scale
        if self.trim:
            value = common.trim_sigfig(value, m.significant_figures)
        spread = f" (! {m.iqr / m.median * 100:.0f}%)" if self.warnings and m.has_warnings else ""
        return self.template.format(value, spread)


class Table:
    """The table of the measurements that share a label.

    Args:
        results: the measurements.
        colorize: which numbers are compared for colors.
        trim_significant_figures: whether digits that are not certain are left out.
        highlight_warnings: whether times that vary much say how much.

    Raises:
        AssertionError: the labels differ.

    Mirrors torch/utils/benchmark/utils/compare.py, ``Table``.
    """

    def __init__(
        self,
        results: list[Measurement],
        colorize: Colorize,
        trim_significant_figures: bool,
        highlight_warnings: bool,
    ) -> None:
        if len({m.label for m in results}) != 1:
            raise AssertionError("All results must share the same label")
        self.results = results
        self.label = results[0].label
        self.time_unit, self.time_scale = common.select_unit(min(m.median for m in results))
        self._colorize = colorize
        self._highlight_warnings = highlight_warnings
        self.row_keys: list[Key] = common.ordered_unique(map(self.row_fn, results))
        self.row_keys.sort(key=lambda key: key[:2])  # names stay in the order of their first measurements
        self.column_keys: list[Any] = common.ordered_unique(map(self.col_fn, results))
        self.cells = {(self.row_fn(m), self.col_fn(m)): m for m in results}
        self.columns = [
            _Column(
                [self.cells.get((row, column)) for row in self.row_keys],
                self.time_scale,
                trim=trim_significant_figures,
                warnings=highlight_warnings,
            )
            for column in self.column_keys
        ]

    @staticmethod
    def row_fn(m: Measurement) -> Key:
        """Return what tells the rows apart."""
        return m.num_threads, m.env, m.as_row_name

    @staticmethod
    def col_fn(m: Measurement) -> Any:
        """Return what tells the columns apart."""
        return m.description

    def _row_names(self) -> list[str]:
        """Return the first cell of each row, with the environment where it changes, if there are several."""
        envs = {m.env for m in self.results}
        width = max(len(str(env)) for env in envs) + 4 if len(envs) > 1 else 4
        names, before = [], None
        for threads, env, name in self.row_keys:
            shown = f"({env})" if len(envs) > 1 and (threads, env) != before else ""
            names.append("  " + shown.ljust(width) + name)
            before = (threads, env)
        return names

    def _best(self, row: Key, column: Any) -> float:
        """Return the time with which a cell is compared: the least of its row, or of its column for as many threads."""
        if self._colorize is Colorize.ROWWISE:
            keys = [(row, other) for other in self.column_keys]
        else:
            keys = [(other, column) for other in self.row_keys if other[0] == row[0]]
        return min(self.cells[key].median for key in keys if key in self.cells)

    def render(self) -> str:
        """Return the text of the table."""
        rows = [
            [
                name,
                *(
                    column.text(self.cells.get((row, key)))
                    for key, column in zip(self.column_keys, self.columns, strict=True)
                ),
            ]
            for name, row in zip(self._row_names(), self.row_keys, strict=True)
        ]
        header = ["", *self.column_keys]
        widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
        lines = ["  |  ".join(cell.center(width) for cell, width in zip(header, widths, strict=True))]
        overall = len(lines[0])
        threads = None
        for cells, row in zip(rows, self.row_keys, strict=True):
            if row[0] != threads:
                threads = row[0]
                lines.append(f"{threads} threads: ".ljust(overall, "-"))
            shown = [cells[0].ljust(widths[0])]
            for cell, width, key in zip(cells[1:], widths[1:], self.column_keys, strict=True):
                cell = cell.center(width)
                m = self.cells.get((row, key))
                if m is not None and self._colorize is not Colorize.NONE:
                    cell = _color(cell, m.median, self._best(row, key))
                shown.append(cell)
            lines.append("  |  ".join(shown))
        title = f" {self.label or ''} ".center(overall - 2, "-")
        lines = [
            f"[{title}]",
            *lines,
            "",
            f"Times are in {common.unit_to_english(self.time_unit)}s ({self.time_unit}).",
        ]
        if self._highlight_warnings and any(m.has_warnings for m in self.results):
            lines.append("(! XX%) Measurement has high variance, where XX is the IQR / median * 100.")
        return "\n".join([*lines, ""])


class Compare:
    """Shows measurements as tables: one for each label, with rows of ``sub_label``, columns of ``description``.

    Args:
        results: a list of :class:`Measurement`.

    Raises:
        ValueError: an entry is not a measurement.

    Example:
        >>> from reftorch.utils.benchmark import Compare, Measurement, TaskSpec
        >>> def measurement(seconds, row, column):
        ...     task = TaskSpec("pass", "pass", label="sort", sub_label=row, description=column)
        ...     return Measurement(1, [seconds], task)
        >>> print(Compare([measurement(2e-6, "float", "n=1"), measurement(9e-6, "float", "n=2")]))
        [---------- sort ---------]
                     |  n=1  |  n=2
        1 threads: ----------------
              float  |  2.0  |  9.0
        <BLANKLINE>
        Times are in microseconds (us).
        <BLANKLINE>

    Mirrors torch/utils/benchmark/utils/compare.py, ``Compare``.
    """

    def __init__(self, results: list[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim_significant_figures = False
        self._colorize = Colorize.NONE
        self._highlight_warnings = False

    def __str__(self) -> str:
        groups: dict[str | None, list[Measurement]] = {}
        for m in Measurement.merge(self._results):
            groups.setdefault(m.label, []).append(m)
        options = self._colorize, self._trim_significant_figures, self._highlight_warnings
        return "\n".join(Table(group, *options).render() for group in groups.values())

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements.

        Raises:
            ValueError: an entry is not a measurement.

        Mirrors torch/utils/benchmark/utils/compare.py, ``Compare.extend_results``.
        """
        results = list(results)
        for m in results:
            if not isinstance(m, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(m)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Leave out digits that are not certain.

        Mirrors torch/utils/benchmark/utils/compare.py, ``Compare.trim_significant_figures``.
        """
        self._trim_significant_figures = True

    def colorize(self, rowwise: bool = False) -> None:
        """Color times by their ratio to the best of their column, or of their row.

        Mirrors torch/utils/benchmark/utils/compare.py, ``Compare.colorize``.
        """
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Show beside a time how much it varies, if it varies much.

        Mirrors torch/utils/benchmark/utils/compare.py, ``Compare.highlight_warnings``.
        """
        self._highlight_warnings = True

    def print(self) -> None:
        """Print the tables.

        Mirrors torch/utils/benchmark/utils/compare.py, ``Compare.print``.
        """
        print(str(self))
