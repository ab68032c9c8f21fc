"""The limits of `make bench`, and what was measured, as tables for the page on performance.

The limits are read from the program that judges by them, and the ratios from the file that it writes with `--store`.

Mirrors: nothing in PyTorch: it compares with its own past.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BENCH = Path(__file__).parents[3] / "tests" / "bench"
SOURCE, MEASURED = BENCH / "gates.py", BENCH / "measured.json"


def gates_table() -> str:
    """The tables in Markdown: a row for each group of cases, then a row for each suite; and how it was measured."""
    measured = json.loads(MEASURED.read_text())
    ratios = measured.pop("ratios")
    groups = [
        f"| {name} | {limit} | {stretch} | {ratios_text(ratios.get(name, {}))} |"
        for name, limit, stretch in gates(SOURCE.read_text())
    ]
    suites = [f"| {title} | {mean} |" for title, mean in ratios.get("suites, whole", {}).items()]
    return "\n".join(
        [
            "| what | limit | stretch | measured |",
            "|---|---|---|---|",
            *groups,
            "",
            "| suite | geometric mean of the ratios |",
            "|---|---|",
            *suites,
            "",
            how_text(measured),
        ]
    )


def ratios_text(ratios: dict[str, float]) -> str:
    """The ratio of the only case, or the best and the worst with their names."""
    if not ratios:
        return "not measured"
    best, worst = min(ratios, key=ratios.__getitem__), max(ratios, key=ratios.__getitem__)
    if len(ratios) == 1:
        return f"{ratios[best]}"
    return f"{ratios[best]} (`{best}`) to {ratios[worst]} (`{worst}`)"


def how_text(how: dict[str, Any]) -> str:
    dates = " and ".join(how["dates"])
    return (
        f"These ratios were measured on {dates}, against PyTorch {how['torch']}, on {how['cores']} cores of an "
        f"{how['processor']}, by `make bench ARGS='--store --rounds {how['rounds']}'`."
    )


def gates(source: str) -> Iterator[tuple[str, str, str]]:
    """Name, limit and stretch of each `Gate(...)` of a program.

    A limit that depends on the processor is written as `0.65 (1.1 without wide AVX-512)`.
    """
    tree = ast.parse(source)
    known: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.IfExp)
            and isinstance(node.value.body, ast.Tuple)
        ):
            both = zip(ast.literal_eval(node.value.body), ast.literal_eval(node.value.orelse), strict=True)
            known[ast.unparse(node.targets[0])] = tuple(f"{a} ({b} without wide AVX-512)" for a, b in both)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "Gate"]
    for call in sorted(calls, key=lambda call: call.lineno):
        numbers: list[str] = []
        for argument in call.args[1:]:
            if isinstance(argument, ast.Starred):
                numbers += known[ast.unparse(argument.value)]
            else:
                numbers.append(ast.unparse(argument))
        yield ast.literal_eval(call.args[0]), numbers[0], numbers[1]
