"""Finds tensors that only Python's collector of cycles frees, and shows what held them.

A tensor that is a part of a cycle of references, such as a function that refers to itself and to the tensor, is freed
at some later time, when Python looks for cycles. Until then its memory is in use.

Mirrors: torch/utils/viz/_cycles.py
Leaves out: drawing with graphviz in the browser; the page shows the objects and references as a list.
"""

from __future__ import annotations

import gc
import html
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from reftorch._tensor import Tensor

__all__ = ["observe_garbage", "observe_tensor_cycles", "to_html"]

_MOST_OBJECTS = 200  # on one page


def observe_garbage(observer: Callable[[list[Any]], Any]) -> Callable[[], None]:
    """Call ``observer`` with the objects of the cycles that each collection has found, before they are freed.

    The call comes after the collection, at the next call of a function, so the observer may do what it wants.

    Args:
        observer: gets the list of the objects.

    Returns:
        A function that ends the observation.

    Mirrors torch/utils/viz/_cycles.py, ``observe_garbage``.
    """
    enabled = True

    def disable() -> None:
        nonlocal enabled
        enabled = False

    def callback(phase: str, info: dict[str, Any]) -> None:
        if not enabled:
            gc.set_debug(0)
            gc.callbacks.remove(callback)
            return
        if phase == "start":
            gc.set_debug(gc.DEBUG_SAVEALL)
            return
        gc.set_debug(0)
        former = sys.getprofile()

        def at_next_call(frame: Any, event: str, argument: Any) -> None:
            sys.setprofile(former)
            garbage = list(gc.garbage)
            gc.garbage.clear()
            if garbage and enabled:
                observer(garbage)

        sys.setprofile(at_next_call)

    gc.callbacks.append(callback)
    return disable


def _references(value: Any) -> list[tuple[str, Any]]:
    """Return the objects to which an object refers, each with the name of the reference."""
    if isinstance(value, types.CellType):
        try:
            return [("cell_contents", value.cell_contents)]
        except ValueError:  # the cell is empty
            return []
    if isinstance(value, types.FunctionType):
        cells = [(f"__closure__[{place}]", cell) for place, cell in enumerate(value.__closure__ or ())]
        return [*cells, ("__dict__", value.__dict__), ("__defaults__", value.__defaults__)]
    if isinstance(value, types.MethodType):
        return [("__func__", value.__func__), ("__self__", value.__self__)]
    if isinstance(value, types.FrameType):
        return [("f_back", value.f_back), *value.f_locals.items()]
    if isinstance(value, dict):
        return [(f"[{key!r}]" if not isinstance(key, str) else key, item) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return [(f"[{place}]", item) for place, item in enumerate(value)]
    if isinstance(value, weakref.ref):
        return []
    return [(type(item).__name__, item) for item in gc.get_referents(value)]


def _described(value: Any) -> str:
    if isinstance(value, Tensor):
        return f"torch.Tensor of shape {tuple(value.shape)}, {value.dtype}, on {value.device}"
    if isinstance(value, types.FunctionType):
        return f"function {value.__qualname__} at {value.__code__.co_filename}:{value.__code__.co_firstlineno}"
    if isinstance(value, types.FrameType):
        return f"frame of {value.f_code.co_name} at {value.f_code.co_filename}:{value.f_lineno}"
    return type(value).__qualname__


def _of_interest(garbage: Iterable[Any]) -> list[Any]:
    """Return the objects from which a tensor of the garbage can be reached, and the tensors."""
    objects = {id(value): value for value in garbage}
    users: dict[int, list[int]] = {}
    for number, value in objects.items():
        for _, item in _references(value):
            if id(item) in objects:
                users.setdefault(id(item), []).append(number)
    found: dict[int, Any] = {}
    waiting = [number for number, value in objects.items() if isinstance(value, Tensor)]
    while waiting:
        number = waiting.pop()
        if number not in found:
            found[number] = objects[number]
            waiting += users.get(number, [])
    return list(found.values())


def to_html(nodes: list[Any]) -> str:
    """Return a page that lists objects, and for each of them its references to the others.

    Example:
        >>> from reftorch.utils.viz._cycles import to_html
        >>> cell = [1]
        >>> cell.append(cell)
        >>> "list" in to_html([cell])
        True

    Mirrors torch/utils/viz/_cycles.py, ``to_html``.
    """
    nodes = nodes[:_MOST_OBJECTS]
    numbers = {id(value): number for number, value in enumerate(nodes)}
    rows = []
    for number, value in enumerate(nodes):
        references = [
            f'<li><code>{html.escape(str(name))}</code> is <a href="#o{numbers[id(item)]}">{numbers[id(item)]}</a></li>'
            for name, item in _references(value)
            if id(item) in numbers
        ]
        text = html.escape(_described(value))
        rows.append(f'<h3 id="o{number}">{number}: {text}</h3><ul>{"".join(references)}</ul>')
    return (
        '<!doctype html><html><head><meta charset="utf-8"><title>Cycles with tensors</title></head><body>'
        "<p>Each object below is a part of a cycle, or belongs to one, and keeps a tensor alive.</p>"
        f"{''.join(rows)}</body></html>"
    )


def observe_tensor_cycles(callback: Callable[[str], Any]) -> Callable[[], None]:
    """Call ``callback`` with a page for each collection that finds a CUDA tensor in a cycle of references.

    Args:
        callback: gets the page, a text of HTML.

    Returns:
        A function that ends the observation.

    Mirrors torch/utils/viz/_cycles.py, ``observe_tensor_cycles``.
    """

    def observer(garbage: list[Any]) -> None:
        if any(isinstance(value, Tensor) and value.is_cuda for value in garbage):
            callback(to_html(_of_interest(garbage)))

    return observe_garbage(observer)
