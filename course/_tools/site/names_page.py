"""Writes the page of the table of names: PyTorch's public names, which of them are here, and why others are not.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from __future__ import annotations

from collections import Counter
from html import escape
from pathlib import Path

from course._tools.listing import PYTORCH
from course._tools.site.catalogue import Catalogue
from reftorch import _api

STATES = ("there", "partly", "not yet", "not planned")
MEANINGS = {
    "there": "here, with PyTorch's signature as far as Python can see it",
    "partly": "here; the signature differs as the reason says",
    "not yet": "missing, and could come",
    "not planned": "missing, because the reason keeps it out of scope",
}


def write_names(file: Path, catalogue: Catalogue) -> None:
    """Write the page: figures, a box that filters, and a row for each name."""
    rows = list(_api.rows().values())
    total = Counter(row.state for row in rows)
    figures = "\n".join(
        f"| {state} | {MEANINGS[state]} | {total[state]:,} | {100 * total[state] / len(rows):.0f} % |"
        for state in STATES
    )
    modules = Counter((_group(row.module), row.state) for row in rows)
    groups = sorted({group for group, _ in modules}, key=lambda group: -sum(modules[group, state] for state in STATES))
    by_module = "\n".join(
        f"| `{group}` | " + " | ".join(str(modules[group, state] or "") for state in STATES) + " |" for group in groups
    )
    body = "\n".join(_row(row, catalogue) for row in rows)
    buttons = "".join(
        f'<label><input type="checkbox" value="{state}" checked> {state} ({total[state]:,})</label>' for state in STATES
    )
    file.write_text(f"""# The table of names

{len(rows):,} public names of PyTorch 2.13: which of them are here, and why others are not. The table is the file
`reftorch/_api/names.csv`, which `make api` writes from the installed torch; a test compares names and signatures with
torch. A program that asks for a missing name gets the row's reason in the AttributeError.

| state | meaning | names | share |
|---|---|---|---|
{figures}

## All names

Type a part of a name, of a file or of a reason; several words must all be in the row.

```{{raw}} html
<div class="names-filter"><input type="search" id="names-filter" placeholder="conv, nn.Linear, quantized ..."
aria-label="filter the names"> <span id="names-count" role="status">{len(rows):,} names</span>
<div id="names-states">{buttons}</div></div>
<div class="names-table"><table class="docutils" id="names"><thead><tr><th>name</th><th>state</th>
<th>signature in PyTorch, reason</th></tr></thead>
<tbody>
{body}
</tbody></table></div>
<script src="_static/names.js"></script>
```

## By module

| module | {" | ".join(STATES)} |
|---|---|---|---|---|
{by_module}
""")


def _group(module: str) -> str:
    return module if module == "torch.Tensor" else ".".join(module.split(".")[:2])


def _row(row: _api.Row, catalogue: Catalogue) -> str:
    full = f"{row.module}.{row.name}"
    entry = catalogue.names.get(full)
    name = f"<code>{escape(full)}</code>"
    if entry is not None:
        name = f'<a href="api/{entry.page}.html#{entry.full}">{name}</a>'
    file = ""
    if row.file:
        file = f' <a class="file" href="{PYTORCH}/{escape(row.file)}">{escape(row.file)}</a>'
    signature = f"<code>{escape(row.signature)}</code>" if row.signature else ""
    reason = f"<div>{escape(row.reason)}</div>" if row.reason else ""
    return f'<tr data-state="{row.state}"><td>{name}{file}</td><td>{row.state}</td><td>{signature}{reason}</td></tr>'
