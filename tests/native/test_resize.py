"""What happens to an out= tensor that has another shape.

Mirrors: test/test_torch.py (test_resize_output and its kin)
"""

import warnings

import pytest

import reftorch as torch


def test_resizing_a_full_out_warns_as_torch_does(real_torch_or_none):
    for lib in filter(None, (torch, real_torch_or_none)):
        a, out = lib.ones(3), lib.zeros(2)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            lib.add(a, a, out=out)
        assert [w.category for w in caught] == [UserWarning]
        assert str(caught[0].message).startswith("An output with one or more elements was resized")
        assert out.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.filterwarnings("error")
def test_no_warning_where_the_resize_is_meant():
    a = torch.ones(3)
    assert torch.add(a, a, out=torch.empty(0)).tolist() == [2.0, 2.0, 2.0]
    assert torch.add(a, a, out=torch.zeros(2).resize_(0)).tolist() == [2.0, 2.0, 2.0]


@pytest.mark.filterwarnings("error")
def test_a_warning_can_be_an_error():
    a, out = torch.ones(3), torch.zeros(2)
    with pytest.raises(UserWarning, match="was resized"):
        torch.add(a, a, out=out)
    assert out.tolist() == [0.0, 0.0]
