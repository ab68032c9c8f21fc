"""The small types: Size, dtype, device, layout and memory format answer as torch's do.

Mirrors: test/test_torch.py (test_size*, test_device*), test/test_type_info.py
"""

import copy
import pickle
import re
from types import ModuleType

import pytest

import reftorch

CALLS = """
S(); S([1, 2]); S((1, 2)) + (3,); (3,) + S((1, 2)); S((1,)) + S((2,)); S((1, 2)) + [3]; S((1, 2)) * 2; 2 * S((1, 2))
S([1, 2])[0]; S([1, 2])[:1]; S([1, 2])[5]; S([1, 2, 3])[::-1]; S(["a"]); S([1.5]); S(3); S([torch.tensor(2)]); S([True])
S(iter([1, 2])); S([1, 2]) == (1, 2); S([1, 2]) == [1, 2]; S([1, 2]) < (1, 3); hash(S([1, 2])) == hash((1, 2))
S([1, 2]).numel(); S([]).numel(); S([2, 0]).numel(); repr(S([])); S([1, 2]).__add__(3); type((1,) + S([1, 2])).__name__
again(S([1, 2])); copy.copy(S([1, 2])); torch.ones(2, 3).shape[1:]; torch.ones(2, 3).size()
torch.float32; torch.float is torch.float32; torch.float32.is_signed, torch.uint8.is_signed, torch.bool.is_signed
torch.float32.itemsize, torch.bool.itemsize; torch.float32.abbr, torch.bool.abbr
torch.uint8.abbr, torch.bfloat16.abbr, torch.int64.abbr; torch.float32.to_real(); torch.bool.to_real()
torch.float32 == "float32"
torch.float32 < torch.float64; again(torch.float16) is torch.float16; copy.copy(torch.int8) is torch.int8
setattr(torch.float32, "x", 1); torch.dtype("float32"); torch.dtype(); torch.layout(); torch.memory_format()
again(torch.strided) is torch.strided; again(torch.channels_last) is torch.channels_last
d("cpu"); d("cuda"); d("cuda:1"); d("cuda", 1); d("cpu", 0); d(type="cuda", index=2); d("cuda:-1"); d("cuda:a")
d("cuda:"); d("cuda:01"); d("cuda:1:2"); d(""); d(":1"); d("cuda", -1); d("cuda", "a"); d("cuda:1", 1); d(d("cpu"))
d(d("cpu"), 1); str(d("cuda:1")); d("cuda:1").index, d("cpu").index; d("cpu") == "cpu"; d("cpu") != d("cpu:0")
d("cuda:0") == d("cuda"); hash(d("cpu")) == hash(d("cpu")); again(d("cuda:1")); d(" cpu"); d("foo"); d(None); d(1.5)
d()
setattr(d("cpu"), "type", "x"); {d("cpu"): 1}[d("cpu")]; torch.ones(1).type(torch.IntTensor); torch.ones(1).type(int)
torch.ones(1).type("torch.LongTensor"); torch.ones(1).type("foo"); torch.typename(torch.FloatTensor); torch.FloatTensor
"""


def answer(torch: ModuleType, call: str) -> str:
    def again(obj: object) -> object:
        return pickle.loads(pickle.dumps(obj))

    try:
        result = eval(call, {"torch": torch, "S": torch.Size, "d": torch.device, "again": again, "copy": copy})
    except Exception as error:
        return f"{type(error).__name__}: {str(error).replace('reftorch', 'torch')}"
    return f"{type(result).__name__} {result!r}".replace("reftorch", "torch")


@pytest.mark.parametrize("call", [call.strip() for call in CALLS.replace("\n", ";").split(";") if call.strip()])
def test_as_in_torch(call: str, real_torch: ModuleType) -> None:
    ours, theirs = answer(reftorch, call), answer(real_torch, call)
    if call in ("d()", "d(None)", "d(1.5)"):  # their parser words them all alike
        assert ours.startswith("TypeError: device()") and theirs.startswith("TypeError: device()")
    elif call == 'd("foo")':  # they know more devices
        names = r"cpu, cuda, [\w, ]*\bmeta\b[\w, ]*"
        pattern = rf"RuntimeError: Expected one of {names} device type at start of device string: foo"
        assert re.fullmatch(pattern, ours) and re.fullmatch(pattern, theirs)
    else:
        assert ours == theirs


@pytest.mark.filterwarnings("ignore:.*set_default_tensor_type")
def test_the_default_tensor_type(real_torch: ModuleType) -> None:
    for torch in (reftorch, real_torch):
        torch.set_default_tensor_type(torch.DoubleTensor)
        try:
            assert torch.tensor(1.5).dtype is torch.float64
        finally:
            torch.set_default_tensor_type("torch.FloatTensor")
        with pytest.raises(TypeError, match="only floating-point types"):
            torch.set_default_tensor_type(torch.IntTensor)
