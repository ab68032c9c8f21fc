"""Runs inside gdb, at a stop in mul_kernel: every printer with garbage. Prints what went wrong, and `fuzzed N` at last.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: what the compiler optimized away, which gdb tells itself before it asks a printer.

The garbage is what a stopped process may really show: bytes of anything in place of an object, a live object with some
bytes changed, memory that cannot be read and null.
"""

import os
import random

import gdb
from reftorch_gdb import graph, printers, values, view

ROUNDS = int(os.environ.get("REFTORCH_ROUNDS", "6"))
LONGEST = 20_000  # characters that one value may take on the screen
AUTOGRAD = "reftorch::torch::autograd::"
OTHERS = [
    "reftorch::c10::ArrayRef<long>",
    "reftorch::c10::ArrayRef<reftorch::at::Tensor>",
    "reftorch::c10::SmallVector<long, 5>",
    "reftorch::c10::SmallVector<reftorch::at::OperandInfo, 4>",
    "reftorch::c10::intrusive_ptr<reftorch::c10::TensorImpl>",
    "reftorch::c10::intrusive_ptr<reftorch::c10::StorageImpl>",
    "std::optional<reftorch::at::Tensor>",
    *(f"reftorch::c10::{name}" for name in printers.ENUMS),
    *(AUTOGRAD + name for name in ("Node", "FormulaNode", "AccumulateGrad")),
    *(f"std::{pointer}<{AUTOGRAD}Node>" for pointer in ("shared_ptr", "weak_ptr")),
]
# A live object of a type, to change bytes of.
LIVE = {
    "reftorch::at::Tensor": "self",
    "reftorch::c10::TensorImpl": "*self.impl_.target_",
    "reftorch::c10::Storage": "self.impl_.target_.storage_",
    "reftorch::c10::StorageImpl": "*self.impl_.target_.storage_.storage_impl_.target_",
    "reftorch::at::TensorIterator": "iter",
    AUTOGRAD + "FormulaNode": "*(reftorch::torch::autograd::FormulaNode*)$node",
}
failed: list = []
tried = 0


def attempt(what, function):
    global tried
    tried += 1
    try:
        shown = function() or ""
        if "Python Exception" in shown or "Traceback" in shown or "internal-error" in shown:
            failed.append(f"{what}: {shown[:300]}")
        elif len(shown) > LONGEST:
            failed.append(f"{what}: {len(shown)} characters")
    except gdb.GdbError:
        pass  # what a command says of it
    except gdb.MemoryError:
        if "as gdb prints it" not in what:  # gdb itself reads a structure before it asks a printer
            failed.append(f"{what}: raises")
    except Exception as error:
        failed.append(f"{what}: {type(error).__name__}: {error}")


def execute(command):
    try:
        return gdb.execute(command, to_string=True)
    except gdb.MemoryError as error:  # gdb itself, before it asks a printer
        return str(error)
    except gdb.error as error:
        return str(error)


def every_way(what, value, kept=None, expression="$garbage"):
    attempt(what, lambda: printers.text(value))
    attempt(what + " at a stop", lambda: view.shown(Symbol(value), None))
    attempt(what + " as gdb prints it", lambda: value.format_string(max_elements=8))
    gdb.set_convenience_variable("garbage", value if kept is None else kept)
    for command in ("output", "rt-tensor", "rt-graph"):
        attempt(f"{command} {what}", lambda command=command: execute(f"{command} {expression}"))


class Symbol:
    """What view.shown() takes."""

    def __init__(self, value):
        self.value = lambda frame: value


def known(names):
    for name in names:
        try:
            yield name, gdb.lookup_type(name).strip_typedefs()
        except gdb.error:
            failed.append(f"no type is called {name}")


def bytes_of(source, size):
    if isinstance(source, bytes):
        changed = bytearray(source)
        for _ in range(source_random.choice((1, 1, 2, 8))):
            changed[source_random.randrange(size)] = source_random.choice(
                (0, 1, 0x7F, 0xFF, source_random.randrange(256))
            )
        return bytes(changed)
    if source == "words":  # small numbers and addresses of this process, as stacks hold them
        here = int(gdb.parse_and_eval("$sp"))
        words = [
            source_random.choice((0, 1, 2, 5, -1, here, here + 64, int(gdb.parse_and_eval("$pc"))))
            for _ in range(size // 8 + 1)
        ]
        return b"".join((word % (1 << 64)).to_bytes(8, "little") for word in words)[:size]
    return bytes(source_random.randrange(256) for _ in range(size))


source_random = random.Random(0)
gdb.execute("frame function reftorch::at::native::mul_out", to_string=True)
meta = graph.owned_by(gdb.parse_and_eval("self.impl_.target_.autograd_meta_"))
gdb.set_convenience_variable("node", graph.pointer_of(meta["grad_fn_"]))
for name, kind in known([*printers.PRINTERS, *OTHERS]):
    sources = ["random", "words"]
    if name in LIVE:
        live = LIVE[name]
        in_kernel = live == "iter"
        if in_kernel:
            gdb.execute("frame 0", to_string=True)
        value = values.raw(gdb.parse_and_eval(live))
        sources.append(bytes(gdb.selected_inferior().read_memory(int(value.address), kind.sizeof)))
        gdb.execute("frame function reftorch::at::native::mul_out", to_string=True)
    for source in sources:
        for number in range(ROUNDS):
            garbage = gdb.Value(bytes_of(source, kind.sizeof), kind)
            every_way(f"{name} of {source if isinstance(source, str) else 'changed'} bytes, {number}", garbage)
    for address in (0, 8, 1 << 63, int(gdb.parse_and_eval("$pc")), int(gdb.parse_and_eval("$sp"))):
        pointer = gdb.Value(address).cast(kind.pointer())
        every_way(f"({name}*){address:#x}", pointer)
        every_way(f"*({name}*){address:#x}", pointer.dereference(), pointer, "*$garbage")
print("\n".join(failed[:20]))
print(f"{len(failed)} failed, fuzzed {tried}")
