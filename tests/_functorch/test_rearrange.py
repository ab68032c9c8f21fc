"""rearrange against torch's: patterns that fit and patterns that do not.

Mirrors: test/functorch/test_rearrange.py
"""

import pytest

import reftorch as torch
from reftorch.func import rearrange

PATTERNS = [
    ("a b c -> a b c", {}),
    ("a b c -> c a b", {}),
    ("a b c -> (a b) c", {}),
    ("a b c -> (c b) a", {}),
    ("a b c -> (a b c)", {}),
    ("a b c -> a 1 b () c 1", {}),
    ("a b (c d) -> d a b c", {"d": 3}),
    ("a (b1 b2) (c1 c2) -> (a b1 c1) b2 c2", {"b1": 2, "c1": 3}),
    ("a (b1 b2) (c1 c2 c3) -> b1 c1 (a b2) (c3 c2)", {"b1": 2, "c1": 3, "c3": 2}),
    ("a b c -> a (b c)", {"a": 2}),
    ("... -> ...", {}),
    ("... c -> c ...", {}),
    ("a ... -> ... a", {}),
    ("a ... c -> c (...) a", {}),
    ("a b ... c -> (... a c) b", {}),
    ("... -> (...)", {}),
    ("a b c->c  b a", {}),
]


def numbers(lib, *shape):
    return lib.arange(float(torch.Size(shape).numel())).reshape(shape)


@pytest.mark.parametrize(("pattern", "lengths"), PATTERNS, ids=[pattern for pattern, _ in PATTERNS])
def test_same_as_torch(pattern, lengths, real_torch):
    ours = rearrange(numbers(torch, 2, 4, 6), pattern, **lengths)
    theirs = real_torch.func.rearrange(numbers(real_torch, 2, 4, 6), pattern, **lengths)
    assert ours.shape == theirs.shape and ours.tolist() == theirs.tolist()


def test_dimensions_of_one_come_and_go():
    x = numbers(torch, 1, 3, 1)
    assert rearrange(x, "1 a () -> a").tolist() == [0, 1, 2]
    assert rearrange(rearrange(x, "1 a 1 -> a"), "a -> a 1 1").shape == (3, 1, 1)
    assert rearrange(torch.tensor(2.0), " -> ").item() == 2
    assert rearrange(torch.zeros(0, 2), "a b -> (b a)").shape == (0,)
    with pytest.raises(ValueError, match="size 3 can not be split into 1"):
        rearrange(x, "1 1 a -> a")


def test_several_tensors_are_stacked():
    parts = [numbers(torch, 2, 3), numbers(torch, 2, 3) + 6]
    assert rearrange(parts, "b h w -> h (b w)").tolist() == [[0, 1, 2, 6, 7, 8], [3, 4, 5, 9, 10, 11]]


def test_a_view_where_that_is_possible():
    x = numbers(torch, 2, 6)
    assert rearrange(x, "a (b c) -> c a b", b=2).data_ptr() == x.data_ptr()


def test_it_has_a_gradient_and_serves_in_transforms():
    x = numbers(torch, 2, 6)
    (grad,) = torch.func.vjp(lambda x: rearrange(x, "a (b c) -> (c a) b", b=2), x)[1](numbers(torch, 6, 2))
    assert grad.tolist() == [[0, 4, 8, 1, 5, 9], [2, 6, 10, 3, 7, 11]]
    by_rows = torch.func.vmap(lambda row: rearrange(row, "(b c) -> c b", b=2))(x)
    assert by_rows.tolist() == rearrange(x, "a (b c) -> a c b", b=2).tolist()


MISTAKES = [
    ("a b c", {}),
    ("a b c -> a b -> c", {}),
    ("a b -> b a", {}),
    ("a b c d ... -> a b c d ...", {}),
    ("a b c -> a b", {}),
    ("a b c -> a b c d", {}),
    ("a b b -> a b", {}),
    ("a b c -> a (b (c))", {}),
    ("a b c -> a (b c", {}),
    ("a b c -> a b c)", {}),
    ("a b 2 -> a b 2", {}),
    ("a b _c -> a b _c", {}),
    ("a b c -> ... a b c", {}),
    ("a (b ...) -> a b ...", {}),
    ("a (...) -> a ...", {}),
    ("a ... ... -> a ...", {}),
    ("a . c -> a . c", {}),
    ("a b c -> a b c", {"d": 2}),
    ("a b c -> a b c", {"c": 6.0}),
    ("a b, c -> a b c", {}),
]


@pytest.mark.parametrize(("pattern", "lengths"), MISTAKES, ids=[pattern for pattern, _ in MISTAKES])
def test_mistakes(pattern, lengths, real_torch_or_none):
    error = TypeError if pattern == "a b c -> a b c" and "c" in lengths else ValueError
    with pytest.raises(error):
        rearrange(numbers(torch, 2, 4, 6), pattern, **lengths)
    if real_torch_or_none is not None:
        with pytest.raises(error):
            real_torch_or_none.func.rearrange(numbers(real_torch_or_none, 2, 4, 6), pattern, **lengths)


@pytest.mark.parametrize(
    ("pattern", "lengths", "text"),
    [
        ("a (b c) d -> a b c d", {}, r"only one of \['b', 'c'\] may have a length that is not given"),
        ("a (b c) d -> a b c d", {"b": 3}, "a dimension of size 4 can not be split into b=3"),
        ("a (b c) d -> a b c d", {"b": 3, "c": 2}, r"a dimension of size 4 can not be split into b=3 \* c=2"),
        ("a b c -> a b c", {"b": 3}, "a dimension of size 4 can not be split into b=3"),
    ],
)
def test_lengths_that_do_not_fit(pattern, lengths, text):
    with pytest.raises(ValueError, match=text):
        rearrange(numbers(torch, 2, 4, 6), pattern, **lengths)
