"""Kernels in the CUDA simulator: the CUDA thread at which gdb stopped, and where the other threads of its block wait.

At a stop inside a kernel, gdb prints the CUDA thread, and ``backtrace`` shows the simulator's own frames as a single
frame, the launch. ``cuda threads`` lists the threads of the block and what each waits for. ``cuda bt N`` prints the
stack of thread N.

Mirrors: nothing in PyTorch: cuda-gdb shows the threads of a GPU
Left out: switching to another thread (gdb stays in the thread that runs); ``cuda bt`` on processors other than x86-64.
"""

import itertools

import gdb
from gdb.FrameDecorator import FrameDecorator

STATES = ("not started", "running", "at __syncthreads", "at a warp operation", "ready", "left the kernel")
WAITING = (2, 3, 4)
REGISTERS = ("rbx", "rbp", "r12", "r13", "r14", "r15", "rsp", "rip")  # in the order of glibc's jump buffer


def coordinates(name):
    value = gdb.parse_and_eval(name)
    return "({},{},{})".format(*(int(value[c]) for c in "xyz"))


def is_call_of_kernel(frame):
    return (frame.name() or "").startswith("cudasim::KernelOf<")


def is_simulator(frame):
    name, place = frame.name(), frame.find_sal().symtab
    if name is None or name.startswith(("cudasim::", "std::", "start_thread", "clone", "void std::")):
        return True
    return place is not None and "c10/cuda/sim/" in place.filename


def frames_from(frame):
    for _ in range(100):
        if frame is None:
            return
        yield frame
        frame = frame.older()


def in_kernel():
    return any(map(is_call_of_kernel, frames_from(gdb.newest_frame())))


class LaunchFrame(FrameDecorator):
    """The simulator's frames between a kernel and the code that launched it."""

    def function(self):
        return f"launch<<<{coordinates('gridDim')}, {coordinates('blockDim')}>>>"

    def frame_args(self):
        return None

    def frame_locals(self):
        return None

    def address(self):
        return None

    def filename(self):
        return f"block {coordinates('blockIdx')}, thread {coordinates('threadIdx')}"

    def line(self):
        return None


class KernelStacks:
    """A frame filter that replaces the simulator's frames by one LaunchFrame."""

    def __init__(self):
        self.name, self.priority, self.enabled = "reftorch_cuda", 100, True

    def filter(self, frames):
        for frame in frames:
            if is_call_of_kernel(frame.inferior_frame()):
                yield LaunchFrame(frame)
                yield from itertools.dropwhile(lambda f: is_simulator(f.inferior_frame()), frames)
                return
            yield frame


def on_stop(event):
    """Print the coordinates of the CUDA thread at a stop inside a kernel."""
    try:
        if in_kernel():
            print(f"CUDA thread {coordinates('blockIdx')}/{coordinates('threadIdx')}")
    except gdb.error:
        pass  # the process has no simulator


def threads_of_block():
    """Return the simulator's records of the threads of the current block."""
    if gdb.selected_thread() is None:
        raise gdb.GdbError("cuda: no process is being debugged")
    for frame in frames_from(gdb.newest_frame()):
        if (frame.name() or "").endswith("Block::run_threads"):
            threads = frame.read_var("this")["threads_"]["_M_impl"]
            count = int(threads["_M_finish"] - threads["_M_start"])
            return [threads["_M_start"][i] for i in range(count)]
    raise gdb.GdbError("cuda: the process is not stopped in a kernel of the simulator")


def saved_registers(thread):
    """Return the registers with which the fiber of a waiting thread continues. glibc stores three of them encoded."""
    saved = [int(thread["fiber"]["at"][0]["__jmpbuf"][i]) & (2**64 - 1) for i in range(len(REGISTERS))]
    guard = int(gdb.parse_and_eval("*(unsigned long*)($fs_base + 0x30)"))

    def plain(x):
        return ((x >> 17 | x << 47) & (2**64 - 1)) ^ guard

    return {n: plain(x) if n in ("rbp", "rsp", "rip") else x for n, x in zip(REGISTERS, saved, strict=True)}


def backtrace(thread):
    if int(thread["state"]) not in WAITING:
        raise gdb.GdbError("cuda bt: this thread does not wait; `cuda threads` says which do")
    processor = gdb.selected_frame().architecture().name()
    if processor != "i386:x86-64":
        raise gdb.GdbError(f"cuda bt: reads the registers of x86-64, and this is {processor}")
    here = {n: int(gdb.parse_and_eval(f"(unsigned long)${n}")) for n in REGISTERS}
    try:
        for name, value in saved_registers(thread).items():
            gdb.execute(f"set ${name} = {value}", to_string=True)
        gdb.execute("backtrace -no-filters 6")
    finally:
        for name, value in here.items():
            gdb.execute(f"set ${name} = {value}", to_string=True)


class Cuda(gdb.Command):
    """cuda threads: print what each thread of the block waits for.  cuda bt N: print the stack of waiting thread N."""

    def __init__(self):
        super().__init__("cuda", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split()
        if len(words) == 2 and words[0] == "bt" and words[1].isdigit():
            threads = threads_of_block()
            if int(words[1]) >= len(threads):
                raise gdb.GdbError(f"cuda bt: the block has {len(threads)} threads")
            backtrace(threads[int(words[1])])
        elif words == ["threads"]:
            states = enumerate(int(thread["state"]) for thread in threads_of_block())
            for state, group in itertools.groupby(states, key=lambda pair: pair[1]):
                numbers = [i for i, _ in group]
                print(f"threads {numbers[0]}-{numbers[-1]}: {STATES[state]}")
        else:
            raise gdb.GdbError("cuda: expected `cuda threads` or `cuda bt N`")


def register():
    stacks = KernelStacks()
    gdb.frame_filters[stacks.name] = stacks
    gdb.events.stop.connect(on_stop)
    Cuda()
