"""Short names of dtypes, for the text of graphs: ``f32[2, 3]``.

Mirrors: torch/utils/_dtype_abbrs.py
Leaves out: dtypes that do not exist here.
"""

from __future__ import annotations

from reftorch import _C

dtype_abbrs = {
    _C.bfloat16: "bf16",
    _C.float64: "f64",
    _C.float32: "f32",
    _C.float16: "f16",
    _C.int8: "i8",
    _C.int16: "i16",
    _C.int32: "i32",
    _C.int64: "i64",
    _C.bool: "b8",
    _C.uint8: "u8",
}
