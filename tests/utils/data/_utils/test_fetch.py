"""Fetching by index, and from a stream.

Mirrors: torch/utils/data/_utils/fetch.py
"""

import pytest

from reftorch.utils.data._utils.fetch import _DatasetKind, _IterableDatasetFetcher, _MapDatasetFetcher


def test_from_a_dataset() -> None:
    assert _MapDatasetFetcher("abc", True, "".join, False).fetch([2, 0]) == "ca"
    assert _MapDatasetFetcher("abc", False, str.upper, False).fetch(1) == "B"


def test_each_kind_of_dataset_has_its_fetcher() -> None:
    for kind, cls in ((_DatasetKind.Map, _MapDatasetFetcher), (_DatasetKind.Iterable, _IterableDatasetFetcher)):
        assert type(_DatasetKind.create_fetcher(kind, "abc", True, "".join, False)) is cls


def test_from_a_stream_until_it_ends() -> None:
    fetcher = _IterableDatasetFetcher("abc", True, "".join, False)
    assert [fetcher.fetch([None] * 2), fetcher.fetch([None] * 2)] == ["ab", "c"]
    for _ in range(2):
        with pytest.raises(StopIteration):
            fetcher.fetch([None] * 2)


def test_a_short_batch_is_dropped_on_request() -> None:
    fetcher = _IterableDatasetFetcher("abc", True, "".join, True)
    assert fetcher.fetch([None] * 2) == "ab"
    with pytest.raises(StopIteration):
        fetcher.fetch([None] * 2)


def test_single_samples_of_a_stream() -> None:
    fetcher = _IterableDatasetFetcher("a", False, str.upper, False)
    assert fetcher.fetch(None) == "A"
    with pytest.raises(StopIteration):
        fetcher.fetch(None)
