"""torch.optim's front page. tests/_api has the test of its names and signatures.

Mirrors: nothing in PyTorch: it has no other library to be compared with.
"""

import reftorch


def test_the_classes_say_where_they_are_found() -> None:
    assert reftorch.optim.Muon.__module__ == reftorch.optim.Adafactor.__module__ == "reftorch.optim"
