"""A picture of a model: each module with its three registries, and beside them what no registry has.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: hooks, and modules in a list or dict of Python, which no walk through a model finds either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from course._tools.pictures import FLOORS
from reftorch.debug.common.svg import MUTED, Picture
from reftorch.nn import Module

HEIGHT, GAP, INDENT, WIDTH = 74, 12, 36, 720
COLUMNS = (("_parameters", "autograd"), ("_buffers", "native"), ("_modules", "python"))


def plain_attributes(module: Module) -> list[str]:
    """The names in a module's ``__dict__`` that ``Module.__init__`` did not put there."""
    return [name for name in module.__dict__ if name not in Module().__dict__]


def registries(model: Module, caption: str) -> Picture:
    """Draw every module that a walk through the model finds: what is registered, and what is only in ``__dict__``."""
    found = list(_walk(model, "the model", 0))
    picture = Picture(WIDTH + 20, len(found) * (HEIGHT + GAP) + 8, caption)
    lefts: dict[int, tuple[float, float]] = {}
    for position, (name, module, depth) in enumerate(found):
        x, y = 10.0 + depth * INDENT, 8.0 + position * (HEIGHT + GAP)
        fill, line = FLOORS["core"]
        picture.box(x, y, WIDTH - depth * INDENT, HEIGHT, fill=fill, line=line)
        picture.text(x + 12, y + 20, name, mono=True, bold=True)
        picture.text(x + 24 + 8 * len(name), y + 20, type(module).__name__, size=12, fill=MUTED)
        _columns(picture, module, x + 12, y + 30, WIDTH - depth * INDENT - 24)
        lefts[depth] = (x + 16, y + HEIGHT)
        if depth:
            start_x, start_y = lefts[depth - 1]
            picture.path([(start_x, start_y), (start_x, y + HEIGHT / 2)], line=MUTED)
            picture.arrow(start_x, y + HEIGHT / 2, x, y + HEIGHT / 2)
    return picture


def _walk(module: Module, name: str, depth: int) -> Iterator[tuple[str, Module, int]]:
    yield name, module, depth
    for child_name, child in module._modules.items():
        if child is not None:
            yield from _walk(child, child_name, depth + 1)


def _columns(picture: Picture, module: Module, x: float, y: float, width: float) -> None:
    """Four boxes side by side: the registries in their colours, and the plain attributes in yellow."""
    contents: list[tuple[str, str, Any]] = [(name, floor, getattr(module, name)) for name, floor in COLUMNS]
    contents.append(("__dict__", "dispatcher", plain_attributes(module)))
    each = width / len(contents)
    for position, (title, floor, names) in enumerate(contents):
        left = x + position * each
        fill, line = FLOORS[floor] if names else ("#ffffff", FLOORS["core"][1])
        picture.box(left, y, each - 8, 36, fill=fill, line=line, r=4)
        picture.text(left + 8, y + 13, title, size=10, mono=True, fill=MUTED)
        picture.text(left + 8, y + 30, _shortened(names, each), size=12, mono=True)


def _shortened(names: Any, width: float) -> str:
    """The names in one line of a box; the last ones give way to an ellipsis."""
    text, most = ", ".join(names), int((width - 24) / 7.3)
    return text if len(text) <= most else f"{text[: most - 1]}…"
