"""A builder of SVG pictures: callers add shapes, and a notebook shows the picture.

Mirrors: nothing in PyTorch: the pictures of reftorch.debug and of the course.
Leaves out: layout; the caller gives the position of every shape.
"""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator
from html import escape
from typing import Any

INK, MUTED, LINE, PAPER = "#1f2328", "#59636e", "#afb8c1", "#ffffff"
SANS = "system-ui,-apple-system,Segoe UI,Helvetica,Arial,sans-serif"
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"


class Picture:
    """A drawing `width` by `height`; `caption` is its title for screen readers and its text where no image is shown."""

    def __init__(self, width: float, height: float, caption: str) -> None:
        self.width, self.height, self.caption = width, height, caption
        self.shapes: list[str] = []

    def box(
        self, x: float, y: float, width: float, height: float, *, fill: str, line: str = LINE, r: float = 6
    ) -> None:
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        self.shapes.append(f'<rect {place} rx="{r:g}" fill="{fill}" stroke="{line}"/>')

    def text(
        self, x: float, y: float, text: str, *, size: int = 13, mono: bool = False, bold: bool = False,
        fill: str = INK, anchor: str = "start",
    ) -> None:  # fmt: skip
        weight = ' font-weight="600"' if bold else ""
        self.shapes.append(
            f'<text x="{x:g}" y="{y:g}" font-family="{MONO if mono else SANS}" font-size="{size}" fill="{fill}" '
            f'text-anchor="{anchor}"{weight}>{escape(text)}</text>'
        )

    def arrow(self, x1: float, y1: float, x2: float, y2: float, *, line: str = MUTED, dashed: bool = False) -> None:
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self.shapes.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{line}" stroke-width="1.5"{dash} '
            'marker-end="url(#head)"/>'
        )

    def curve(self, points: list[tuple[float, float]], *, line: str = MUTED) -> None:
        """Draw an arrow along cubic Bezier curves: a start, and for each curve two control points and an end."""
        start, *rest = (f"{x:.1f},{y:.1f}" for x, y in points)
        self.shapes.append(
            f'<path d="M{start}C{" ".join(rest)}" fill="none" stroke="{line}" stroke-width="1.5" '
            'marker-end="url(#head)"/>'
        )

    @contextlib.contextmanager
    def link(self, target: str, tip: str) -> Iterator[None]:
        """Make the shapes that are drawn inside a link to `target`; `tip` is shown under the pointer."""
        self.shapes.append(f'<a href="{escape(target)}"><title>{escape(tip)}</title>')
        yield
        self.shapes.append("</a>")

    def path(self, points: list[tuple[float, float]], *, line: str, width: float = 1.5) -> None:
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.shapes.append(f'<polyline points="{joined}" fill="none" stroke="{line}" stroke-width="{width:g}"/>')

    def svg(self) -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width:g} {self.height:g}" '
            f'width="{self.width:g}" style="max-width:100%;height:auto" role="img">'
            f"<title>{escape(self.caption)}</title>"
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{MUTED}"/></marker></defs>'
            f'<rect width="100%" height="100%" fill="{PAPER}"/>{"".join(self.shapes)}</svg>'
        )

    def __repr__(self) -> str:
        return f"[picture] {self.caption}"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        # JupyterLab shows no SVG of a notebook that it has not run itself, but it shows an <img>.
        data = base64.b64encode(self.svg().encode()).decode()
        image = f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(self.caption)}">'
        return {"text/plain": repr(self), "image/svg+xml": self.svg(), "text/html": image}
