"""`stack`: who called a function, both languages in one list, with boilerplate folded to one line.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Leaves out: locals and source at the stop; that is `%%gdb`.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Collection
from itertools import takewhile
from typing import Any

from course._tools.listing import BOX, HEAD
from reftorch.debug.common.display import link, scrub
from reftorch.debug.core import gdb_session as session
from reftorch.debug.core.folded_stack import BOILERPLATE, Fold, Frame, folded


class Stack:
    """The frames, innermost first; `repr` gives text, a notebook shows folds that open."""

    def __init__(self, where: str, entries: list[Frame | Fold]) -> None:
        self.where = where
        self.entries = entries

    def __repr__(self) -> str:
        places = [_place(each) if isinstance(each, Frame) else "" for each in self.entries]
        width = max(map(len, places), default=0)
        lines = [
            f"    {each}" if isinstance(each, Fold) else f"    {place:<{width}}  {scrub(each.function)}"
            for each, place in zip(self.entries, places, strict=True)
        ]
        return "\n".join([f"the stack at {self.where}, innermost call first", *lines])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._html()}

    def _html(self) -> str:
        rows = "".join(
            f'<details style="margin:0;color:#1f2328"><summary style="color:#57606a;cursor:pointer">{each}</summary>'
            f'<div style="padding-left:18px;opacity:.75">{"".join(map(_line, each.frames))}</div></details>'
            if isinstance(each, Fold)
            else _line(each)
            for each in self.entries
        )
        return (
            f'<!-- listing --><div style="{BOX}"><div style="{HEAD}"><b>stack at {html.escape(self.where)}</b>'
            ' &nbsp; innermost call first</div><div style="overflow-wrap:anywhere;padding:6px 10px;'
            f'font:12px/1.6 ui-monospace,Menlo,Consolas,monospace">{rows}</div></div><!-- /listing -->'
        )


def stack(where: str, run: Callable[[], Any], *, unfold: Collection[str] = ()) -> Stack:
    """Run a program, stop where `where` says, and show who called it, with boilerplate folded.

    Args:
        where: an op, a C++ function or FILE:LINE, as `%%gdb` takes them; the first time that it is reached counts.
        run: a function without arguments, as `lambda: a + b`.
        unfold: what not to fold: `"the Dispatcher"`, `"the binding"`, `"TensorIterator"`,
            `"autograd's fallback"`, `"small helpers"`, `"Python's import"`, `"Python's multiprocessing"`.

    Raises:
        LookupError: the program did not come there, or gdb knows no such place; the message says which.
        ValueError: `unfold` names nothing that is folded.
    """
    unknown = set(unfold) - set(BOILERPLATE)
    if unknown:
        raise ValueError(f"stack: unfold={sorted(unknown)}; what is folded is called {', '.join(BOILERPLATE)}")
    events, _ = session.run_attached(run, session.Job(breaks=[where], context=0))
    frames = next((event["stack"] for event in events if event["kind"] == "stop"), None)
    if frames is None:
        said = "; ".join(event["text"] for event in events if "text" in event)
        raise LookupError(f"stack: the program did not reach {where}" + (f"; gdb said: {said}" if said else ""))
    program = takewhile(lambda frame: frame.file != session.__file__, (Frame(*frame) for frame in frames))
    return Stack(where, folded(list(program), unfold))


def _place(frame: Frame) -> str:
    return f"{frame.language:<3}  {scrub(frame.file)}:{frame.line}"


def _line(frame: Frame) -> str:
    place = link(frame.file, frame.line).replace("<a ", '<a style="color:#0550ae" ')
    function = html.escape(scrub(frame.function), quote=False)
    return (
        f'<div style="color:#1f2328"><span style="color:#8c959f">{frame.language:<3}</span>&nbsp; '
        f"{function} &nbsp; {place}</div>"
    )
