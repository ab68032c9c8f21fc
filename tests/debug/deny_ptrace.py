"""A container without SYS_PTRACE, for one process and its children: ptrace is refused by a seccomp filter, as there.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: machines other than x86-64 and aarch64.

    python deny_ptrace.py PROGRAM ARGUMENT ...
"""

import ctypes
import os
import platform
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # of the kernel's packet filter: load a word, jump if equal, return
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | 1  # SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO with EPERM
PTRACE = {"x86_64": 101, "aarch64": 117}


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def deny_ptrace() -> None:
    number = PTRACE[platform.machine()]
    steps = [(LOAD, 0, 0, 0), (EQUAL, 0, 1, number), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    code = b"".join(struct.pack("HBBI", *step) for step in steps)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        PR_SET_SECCOMP, FILTER, ctypes.byref(Program(len(steps), code)), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "no seccomp here")


if __name__ == "__main__":
    deny_ptrace()
    os.execvp(sys.argv[1], sys.argv[1:])
