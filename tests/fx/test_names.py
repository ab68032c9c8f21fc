"""How much of torch.fx is here, by the table of PyTorch's names, whose own test is in tests/_api.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

from reftorch import _api


def test_nearly_all_documented_names_are_here() -> None:
    apart = ("torch.fx.experimental", "torch.fx.passes")
    rows = [
        row for row in _api.rows().values() if row.module.startswith("torch.fx") and not row.module.startswith(apart)
    ]
    here = [row for row in rows if row.state in ("there", "partly")]
    assert len(here) >= 0.93 * len(rows) > 150, (len(here), len(rows))
