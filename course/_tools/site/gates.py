"""The limits of `make bench` as a table for the page on performance, read from the program that judges by them.

Mirrors: nothing in PyTorch: it compares with its own past.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "tests" / "bench" / "gates.py"


def gates_table() -> str:
    """The table in Markdown: a row for each group of cases."""
    rows = [f"| {name} | {limit} | {stretch} |" for name, limit, stretch in gates(SOURCE.read_text())]
    return "\n".join(["| what | limit | stretch |", "|---|---|---|", *rows])


def gates(source: str) -> Iterator[tuple[str, str, str]]:
    """Name, limit and stretch of each `Gate(...)` of a program.

    A limit that depends on the processor stands as `0.65 (1.1 without wide AVX-512)`.
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
