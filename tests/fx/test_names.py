"""How much of torch.fx is here, by the table of PyTorch's names, whose own test is in tests/_api.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from reftorch import _api


def test_nearly_all_documented_names_are_here() -> None:
    """Of the names outside ``experimental``, most of which are for symbolic shapes, at least 95 % are whole."""
    rows = [
        row
        for row in _api.rows().values()
        if row.module.startswith("torch.fx") and not row.module.startswith("torch.fx.experimental")
    ]
    there = [row for row in rows if row.state == "there"]
    assert len(there) >= 0.95 * len(rows) > 250, (len(there), len(rows))
    assert all(row.reason for row in rows if row.state != "there")
