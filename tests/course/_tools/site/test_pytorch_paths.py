"""Every path of PyTorch's that we name is one that PyTorch 2.13 has.

Mirrors: nothing in PyTorch: it has its files.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

from course._tools.listing import PYTORCH
from course._tools.site.pytorch_paths import listed_paths, named_paths, paths_in_wheel
from reftorch.debug.core import where_op


def test_every_named_path_is_in_the_list() -> None:
    shown, by_hand = listed_paths()
    named = named_paths()
    assert len(named) > 900
    assert not named - shown - by_hand, "python -m course._tools.site.pytorch_paths tells what to do"
    assert not (shown | by_hand) - named, "the list holds what is named, and nothing else: write it again"
    assert not shown & by_hand


def test_the_list_is_what_the_wheel_shows(real_torch: ModuleType) -> None:
    shown, by_hand = listed_paths()
    wheel = paths_in_wheel(Path(real_torch.__file__).parents[1])
    assert not shown - wheel
    assert not by_hand & wheel


def test_all_links_go_to_the_same_version() -> None:
    assert f"{PYTORCH}/" == where_op.PYTORCH
