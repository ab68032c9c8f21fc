"""What is said of a call whose arguments do not fit: the argument that is wrong is the one that is named.

Mirrors: the words of torch/csrc/utils/python_arg_parser.cpp; PyTorch has no test of them all
"""

from types import ModuleType

import pytest

import reftorch

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
    for torch in filter(None, (reftorch, real_torch_or_none)):
        with pytest.raises(TypeError) as caught:
            eval(call, vars(torch).copy())
        assert str(caught.value).startswith(message), torch.__name__


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
