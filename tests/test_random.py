"""Generators: seeds, states, copies.

Mirrors: test/test_torch.py (TestTorchDeviceType.test_generator_cpu, test_RNGState), test/test_random.py
"""

import copy
import pickle
from types import ModuleType

import pytest

import reftorch
from tests.answers.watched import asked


def test_a_state_is_restored() -> None:
    g = reftorch.Generator().manual_seed(3)
    reftorch.randn(3, generator=g)  # one half of a pair of normal numbers waits in the generator
    state = g.get_state()
    first = [reftorch.randn(4, generator=g), reftorch.rand(700, generator=g)]
    g.set_state(state)
    again = [reftorch.randn(4, generator=g), reftorch.rand(700, generator=g)]
    assert all(a.equal(b) for a, b in zip(first, again, strict=True))


def test_the_default_state() -> None:
    state = reftorch.get_rng_state()
    first = reftorch.rand(3)
    reftorch.set_rng_state(state)
    assert first.equal(reftorch.rand(3))
    assert reftorch.random.default_generator is reftorch.default_generator


def test_fork_rng() -> None:
    reftorch.manual_seed(1)
    with reftorch.random.fork_rng():
        reftorch.manual_seed(5)
        inside = reftorch.rand(2)
    outside = reftorch.rand(2)
    reftorch.manual_seed(1)
    assert outside.equal(reftorch.rand(2)) and not outside.equal(inside)
    with reftorch.random.fork_rng(enabled=False):
        after_disabled = reftorch.rand(1)
    reftorch.manual_seed(1)
    assert not after_disabled.equal(reftorch.rand(4)[3:])


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g)), None])
def test_a_copy_draws_the_same_numbers(duplicate: object) -> None:
    g = reftorch.Generator().manual_seed(9)
    reftorch.randn(3, generator=g)
    other = g.clone_state() if duplicate is None else duplicate(g)
    assert other is not g and other.initial_seed() == 9
    assert reftorch.randn(5, generator=other).equal(reftorch.randn(5, generator=g))


def test_seeds() -> None:
    g = reftorch.Generator()
    assert g.initial_seed() == 67280421310721 and str(g.device) == "cpu"
    assert g.manual_seed(-1) is g and g.initial_seed() == 2**64 - 1
    assert g.seed() == g.initial_seed()
    assert reftorch.seed() == reftorch.initial_seed()
    with pytest.raises(ValueError, match="Overflow when unpacking long"):
        g.manual_seed(2**64)


def test_states_are_exchanged_with_torch(real_torch: ModuleType) -> None:
    """The bytes are laid out alike: each library goes on where the other has stopped."""
    for draws in (0, 3, 700):
        ours = reftorch.Generator().manual_seed(21)
        theirs = real_torch.Generator().manual_seed(21)
        reftorch.randn(draws, generator=ours, dtype=reftorch.float64)
        real_torch.randn(draws, generator=theirs, dtype=real_torch.float64)
        assert ours.get_state().tolist() == theirs.get_state().tolist()
        real_torch.rand(5, generator=theirs)
        ours.set_state(reftorch.from_numpy(theirs.get_state().numpy()))
        assert reftorch.randn(4, generator=ours).tolist() == real_torch.randn(4, generator=theirs).tolist()


def test_wrong_states() -> None:
    g = reftorch.Generator()
    with pytest.raises(RuntimeError, match="Expected a CPUGeneratorImplState of size 5056 but found"):
        g.set_state(reftorch.zeros(3, dtype=reftorch.uint8))
    with pytest.raises(TypeError, match=r"RNG state must be a torch\.ByteTensor"):
        g.set_state(reftorch.zeros(5056))
    with pytest.raises(TypeError, match=r"expected a torch\.ByteTensor, but got int"):
        g.set_state(3)
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        g.set_state(reftorch.zeros(5056, dtype=reftorch.uint8))


@pytest.mark.parametrize("seed", ["7", 1.5, None])
def test_a_seed_is_an_integer(seed: object, real_torch_or_none: ModuleType | None) -> None:
    for t in (reftorch, real_torch_or_none or reftorch):
        with pytest.raises(RuntimeError, match="manual_seed expected a long, but got"):
            t.Generator().manual_seed(seed)


def test_a_device_type_that_there_is_not(real_torch_or_none: ModuleType | None) -> None:
    for t in (reftorch, real_torch_or_none or reftorch):
        with pytest.raises(RuntimeError, match="device type"), t.random.fork_rng(device_type="abacus"):
            pass
        with t.random.fork_rng(devices=[], device_type="cpu"):
            t.rand(1)


def test_generators_of_the_cpu_have_no_offset(real_torch_or_none: ModuleType | None) -> None:
    for torch in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
            torch.Generator().get_offset()
        with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
            torch.Generator().set_offset(4)


def test_a_generator_of_an_accelerator_that_is_not_there(real_torch_or_none: ModuleType | None) -> None:
    for t in filter(None, (reftorch, real_torch_or_none)):
        if not t.cuda.is_available():
            with pytest.raises(RuntimeError, match=r"(?i)cuda"):
                t.Generator("cuda")


def test_a_state_is_bytes_that_the_host_can_read(real_torch: ModuleType) -> None:
    def refusals(torch: ModuleType) -> list[str]:
        found, g = [], torch.Generator()
        state = g.get_state()
        for bad in (state.to("meta"), state.float(), state.repeat_interleave(2)[::2], state[:-1]):
            for set_state in (g.set_state, torch.set_rng_state):
                try:
                    set_state(bad)
                except Exception as error:
                    found.append(type(error).__name__)
        return found

    assert refusals(reftorch) == asked(real_torch, refusals)
