"""Wrong programs, which mypy must flag: where it does not, the comment that expects it is unused, which is an error.

Mirrors: test/typing/fail/creation_ops.py, test/typing/fail/bitwise_ops.py

Read by mypy, never run: `make lint` and test_typing.py.
"""

import reftorch as torch
from reftorch import Tensor


def wrong(x: Tensor) -> None:
    torch.add(x)  # type: ignore[call-arg]
    torch.add(x, "one")  # type: ignore[arg-type]
    torch.add(x, x, beta=2)  # type: ignore[call-arg]
    torch.zeros("two")  # type: ignore[call-overload]
    torch.ones(2, dtype="float32")  # type: ignore[call-overload]
    torch.sum(x, dim="rows")  # type: ignore[call-overload]
    torch.add_up(x)  # type: ignore[attr-defined]
    x.size("rows")  # type: ignore[call-overload]
    x.sine()  # type: ignore[attr-defined]
    x + "one"  # type: ignore[operator]
    y: int = torch.add(x, x)  # type: ignore[assignment]
    torch.max(x, dim=0).value  # type: ignore[attr-defined]  # noqa: B018
    torch.Size("ab")  # type: ignore[arg-type]
    torch.device(1.5)  # type: ignore[call-overload]
    print(y)
