"""What is said of a call whose arguments do not fit: the argument that is wrong is the one that is named.

Mirrors: the words of torch/csrc/utils/python_arg_parser.cpp; PyTorch has no test of them all
"""

import gc
from types import ModuleType

import pytest

import reftorch
from tests.answers.watched import asked

# call | how the message begins, here and in torch
MESSAGES = """
ones(2, dtype="float32") | ones(): argument 'dtype' must be torch.dtype, not str
zeros(2, 3, dtype=3) | zeros(): argument 'dtype' must be torch.dtype, not int
ones((2,), dtype="float32") | ones(): argument 'dtype' must be torch.dtype, not str
ones(2, bogus=1) | ones() got an unexpected keyword argument 'bogus'
ones((2,), requires_grad=3) | ones(): argument 'requires_grad' must be bool, not int
ones(2, requires_grad="yes") | ones(): argument 'requires_grad' must be bool, not str
frexp(ones(2), out=ones(2)) | frexp(): argument 'out' must be tuple of Tensors, not Tensor
ones(2, out=3) | ones(): argument 'out' must be Tensor, not int
ones(2.5) | ones(): argument 'size' (position 1) must be tuple of ints, not float
neg(3) | neg(): argument 'input' (position 1) must be Tensor, not int
neg(ones(2), 3) | neg() takes 1 positional argument but 2 were given
neg() | neg() missing 1 required positional argument
arange("a") | arange(): argument 'end' (position 1) must be Number, not str
addmm(ones(2, 2), ones(2, 2), mat3=ones(2, 2)) | addmm() missing 1 required positional argument
cat([ones(2), 3]) | expected Tensor as element 1 in argument 0, but got int
einsum("i,i", ones(2), 3) | expected Tensor as element 1 in argument 1, but got int
ones(2).index_put_((0,), ones(1)) | expected Tensor as element 0 in argument 0, but got int
ones(2).permute(0, "a") | permute(): argument 'dims' failed to unpack the object at pos 2 with error "type must be
ones(2).expand(2, None) | expand(): argument 'size' failed to unpack the object at pos 2 with error "type must be
ones(2).repeat(1, 2.0) | repeat(): argument 'repeats' failed to unpack the object at pos 2 with error "type must be
zeros((2, 2**64)) | zeros(): argument 'size' failed to unpack the object at pos 2 with error "Overflow when unpacking
zeros(("a", 2)) | zeros(): argument 'size' (position 1) must be tuple of ints, but found element of type str at pos 0
where(ones(1) > 0, 1, ones(1), out=ones(1)) | where(): argument 'input' (position 2) must be Tensor, not int
where(ones(1) > 0, ones(1), 1, out=ones(1)) | where(): argument 'other' (position 3) must be Tensor, not int
"""


@pytest.mark.parametrize("row", MESSAGES.strip().splitlines())
def test_message_of_mismatch(row: str, real_torch_or_none: ModuleType | None) -> None:
    call, message = (part.strip() for part in row.split("|"))

    def begins_with(torch: ModuleType) -> str:
        with pytest.raises(TypeError) as caught:
            eval(call, vars(torch).copy())
        return str(caught.value)[: len(message)]

    assert begins_with(reftorch) == message
    if real_torch_or_none is not None:
        assert asked(real_torch_or_none, begins_with) == message


HALF = "\udc80"  # half of a character: no text in UTF-8


@pytest.mark.parametrize(
    "call",
    [
        lambda x: reftorch.div(x, x, rounding_mode=HALF),
        lambda x: x.to(HALF),
        lambda x: reftorch.sum(x, **{HALF: 1}),
        lambda x: reftorch.neg(x, **{HALF: 1}),
        lambda x: reftorch.tensor([1], **{HALF: 1}),
        lambda x: reftorch.tensor([1], device=HALF),
        lambda x: reftorch.einsum(HALF, x),
    ],
)
def test_text_that_is_no_utf8(call) -> None:
    with pytest.raises(UnicodeEncodeError, match="surrogates not allowed"):
        call(reftorch.ones(2))


# ---- Note [Borrowed arguments]: a tensor that is an argument is not counted, and lives until the call ends


class Index:
    """The number 0. ``look`` is called when the parser reads the number, after the tensors before it."""

    def __init__(self, look):
        self.look = look

    def __index__(self):
        self.look()
        return 0


def test_a_call_does_not_count_its_tensors():
    x, counts = reftorch.ones(2, 2), []
    reftorch.sum(x, Index(lambda: counts.append(x._use_count())))
    assert set(counts) == {1} and x._use_count() == 1


def test_the_tensors_of_a_list_are_counted_because_the_list_can_change():
    tensors = [reftorch.full((2,), float(i)) for i in (1, 2)]
    counts = []

    def empty_the_list():
        counts.extend(t._use_count() for t in tensors)
        tensors.clear()
        gc.collect()

    einsum = reftorch._C._VariableFunctions.einsum
    assert einsum("i,i", tensors, path=[Index(empty_the_list), 1]).item() == 4
    assert counts == [2, 2]


@pytest.mark.parametrize("requires_grad", [False, True])
def test_an_argument_that_everybody_else_drops_lives_until_the_call_ends(requires_grad):
    ends = []

    class Noted(reftorch.Tensor):
        __torch_function__ = reftorch._C._disabled_torch_function_impl

        def __del__(self):
            ends.append(self.sum().item())

    kept = [reftorch.full((1000,), 2.0).as_subclass(Noted).requires_grad_(requires_grad)]

    def look():
        gc.collect()
        reftorch.zeros(1000)  # would reuse the memory of a tensor that is gone
        assert ends == [] and kept == []

    result = reftorch.sum(kept.pop(), Index(look))
    assert result.item() == 2000
    result.detach_()
    gc.collect()
    assert ends == [2000.0]


def test_a_saved_tensors_hook_that_changes_the_argument():
    """The hook runs while the op holds a borrowed argument: the geometry may change, and the tensor stays."""
    x = reftorch.ones(3, requires_grad=True)
    a = [reftorch.full((3,), 2.0)]

    def pack(t):
        if a:
            a.pop()
        gc.collect()
        return t.clone()

    with reftorch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        y = x * a[0]
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_what_an_op_returns_is_the_argument_itself():
    x, y = reftorch.ones(2), reftorch.ones(2)
    assert x.add_(y) is x and x.to(reftorch.float32) is x and reftorch.add(x, y, out=y) is y
    assert x._use_count() == y._use_count() == 1
    assert reftorch.add(x, x, out=x) is x and x._use_count() == 1


def test_a_result_outlives_the_argument_that_it_is():
    result = reftorch.ones(2).add_(1).contiguous().mul_(2)
    gc.collect()
    assert result.tolist() == [4, 4] and result._use_count() == 1


def test_an_op_that_fails_leaves_the_counts_as_they_were():
    x, y = reftorch.ones(2), reftorch.ones(3)
    for call in (lambda: x + y, lambda: x.add_(y), lambda: reftorch.add(x, 1, alpha="a"), lambda: x.view(7)):
        with pytest.raises((RuntimeError, TypeError)):
            call()
    assert x._use_count() == y._use_count() == 1


def test_more_arguments_than_a_stack_has_room_for():
    x = reftorch.ones(2)
    assert reftorch.randint_like(x, 3, 4, memory_format=reftorch.contiguous_format).tolist() == [3, 3]
    assert x._use_count() == 1
