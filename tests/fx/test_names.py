"""How much of torch.fx is here, by the table of PyTorch's names, whose own test is in tests/_api.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from types import ModuleType

from reftorch import _api


def test_nearly_all_documented_names_are_here() -> None:
    """At least 95 % are whole, apart from ``experimental`` (symbolic shapes) and ``passes`` (accelerators)."""
    rows = [
        row
        for row in _api.rows().values()
        if row.module.startswith("torch.fx") and not row.module.startswith(("torch.fx.experimental", "torch.fx.passes"))
    ]
    there = [row for row in rows if row.state == "there"]
    assert len(there) >= 0.95 * len(rows) > 200, (len(there), len(rows))
    assert all(row.reason for row in rows if row.state != "there")


# What the page of torch.fx in PyTorch's documentation lists (docs/source/fx.md), with the members of the classes.
ON_ITS_PAGE = (
    "GraphModule", "Graph", "Interpreter", "Node", "Proxy", "Tracer", "Transformer", "replace_pattern",
    "symbolic_trace", "wrap",
)  # fmt: skip


def test_all_names_on_the_page_of_torch_fx_are_here(real_torch: ModuleType) -> None:
    rows = list(_api.rows().values())
    own = [
        row
        for row in rows
        if (row.module == "torch.fx" and row.name in ON_ITS_PAGE)
        or any(row.module == f"torch.fx.{name}" and row.name in _listed(real_torch, name) for name in ON_ITS_PAGE)
    ]
    assert {row.name for row in own} >= set(ON_ITS_PAGE) and len(own) > 95
    assert [(row.module, row.name) for row in own if row.state != "there"] == []


def _listed(real_torch: ModuleType, name: str) -> set[str]:
    """The members that the page lists: those that the class itself defines, and of Tracer the inherited ones, too."""
    cls = getattr(real_torch.fx, name)
    if not isinstance(cls, type):
        return set()
    return set(dir(cls)) if name == "Tracer" else set(vars(cls))
