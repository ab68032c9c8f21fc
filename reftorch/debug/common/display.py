"""The parts of showing a result that all tools share: text that is equal in each run, links to sources, the display.

Mirrors: nothing in PyTorch: its developers bring their own tools.
Left out: tables; see table.py.
"""

from __future__ import annotations

import html
import os
import re
import sys
from typing import Any

from reftorch.debug.common.native import root

CELL_FILE = re.compile(r"[^\s\"]*/ipykernel_\d+/\d+\.py|<ipython-input-[^>]*>|[^\s\"]*/reftorch-gdb-\w+/cell\.py")
# The folder of a kernel that was compiled at run time; its name differs from build to build.
KERNEL_FOLDER = re.compile(r"[^\s\"]*/kernel_[0-9a-f]{16}/")
SCRUBBED = [
    (CELL_FILE, "<cell>"),
    (KERNEL_FOLDER, ""),
    (re.compile(r"Thread 0x[0-9a-f]+ \(LWP \d+\)"), "Thread"),
    (re.compile(r"\(LWP \d+\)|process \d+"), "process"),
    # A value that is nothing but an address; without it the field would look empty.
    (re.compile(r"(?m)(?:(?<==)|(?<=[=)] )|^)0x[0-9a-f]{4,}(?=[,)}]|\s*$)"), "0x…"),
    (re.compile(r"(?: at )?0x[0-9a-f]{4,}(?: in )?"), ""),
    (re.compile(r"\S*/site-packages/"), ""),
    (re.compile(r"\S*/(lib/python3\.\d+/)"), r"\1"),
    (re.compile(r"\n*\[Switching to Thread[^\]]*\]|\[Inferior \d+[^\]]*\]"), ""),
]
# JupyterLab removes styles that use its theme from a notebook that is not trusted yet; the plain value remains.
STYLE = (
    "border-left:3px solid #1976d2;border-left:3px solid var(--jp-brand-color1,#1976d2);padding:2px 0 2px 10px;"
    "margin:4px 0;font-family:monospace;font-family:var(--jp-code-font-family,monospace);font-size:12px;line-height:1.4"
)
DIM = "color:#888;color:var(--jp-ui-font-color2,#666)"


def scrub(text: str) -> str:
    """Return the text without parts that differ between runs or machines."""
    for pattern, replacement in SCRUBBED:
        text = pattern.sub(replacement, text)
    return text.replace(f"{root()}/", "").replace("reftorch::", "").replace("(anonymous namespace)::", "")


def link(path: str, line: int, text: str | None = None) -> str:
    """Return a link that JupyterLab opens at the line; plain text if the file is not in the checkout."""
    label = html.escape(text or f"{scrub(path)}:{line}", quote=False)
    if not path.startswith(f"{root()}/") or KERNEL_FOLDER.match(path):
        return f"<span>{label}</span>"
    relative = os.path.relpath(path, os.getcwd())
    return f'<a href="{html.escape(relative)}#line={line - 1}">{label}</a>'


def show(shown: Any) -> None:
    """Show HTML in a notebook, and text elsewhere."""
    ipython = sys.modules.get("IPython")
    if ipython is not None and ipython.get_ipython() is not None:
        ipython.display.display(shown)
    else:
        print(shown)
