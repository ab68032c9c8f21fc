"""A Generator in a file: each library goes on drawing where the other stopped.

Mirrors: test/test_serialization.py
"""

import io
from types import ModuleType
from typing import Any

import pytest

import reftorch


def written(lib: ModuleType, generator: Any) -> io.BytesIO:
    file = io.BytesIO()
    lib.save({"generator": generator}, file)
    file.seek(0)
    return file


@pytest.mark.parametrize("draws", [0, 3, 700])
def test_a_generator_is_exchanged_with_torch(real_torch: ModuleType, draws: int) -> None:
    for writer, reader in ((real_torch, reftorch), (reftorch, real_torch)):
        generator = writer.Generator().manual_seed(5)
        writer.rand(draws, generator=generator)
        loaded = reader.load(written(writer, generator), weights_only=False)["generator"]
        assert type(loaded) is reader.Generator and loaded.initial_seed() == 5
        assert reader.rand(4, generator=loaded).tolist() == writer.rand(4, generator=generator).tolist()


def test_weights_only_refuses_a_generator() -> None:
    file = written(reftorch, reftorch.Generator())
    with pytest.raises(Exception, match=r"Unsupported global: GLOBAL (reftorch|torch)\._C\.Generator"):
        reftorch.load(file)


def test_a_pickled_state_that_is_none() -> None:
    with pytest.raises(TypeError, match="expected a tuple of seed, offset and state, but got dict"):
        reftorch.Generator().__setstate__({})
    with pytest.raises(TypeError, match=r"expected a torch\.ByteTensor, but got int"):
        reftorch.Generator().__setstate__((1, None, 3))
