"""What a rank answers when another rank asks for its stack.

Mirrors: nothing in PyTorch, whose flight recorder keeps the stacks of calls, not those of now.
Left out: C++ frames; :func:`reftorch.debug.rank_stacks` adds them.

The question comes through the group's own connections, and a C++ thread reads it (``gloo/mailbox.h``). So a rank
answers also while it waits in a collective or stands at a breakpoint: neither holds the GIL.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading

DEEPEST = 200  # frames


def answer(thread: int, doing: str) -> str:
    """Return where a thread is, as JSON; a C++ thread calls this function.

    Args:
        thread: the thread's identity, :func:`threading.get_ident`.
        doing: what its rank does, in words.

    Returns:
        ``doing``, the host, process and thread (by the system's number), and the frames of Python, innermost first:
        function, file and line of each.

    Example:
        >>> import json, threading
        >>> from reftorch.distributed._stacks import answer
        >>> found = json.loads(answer(threading.get_ident(), "waits"))
        >>> found["doing"], found["frames"][0][0]
        ('waits', 'answer')
    """
    frame = sys._current_frames().get(thread)
    frames: list[tuple[str, str, int]] = []
    while frame is not None and len(frames) < DEEPEST:
        name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)  # Python 3.11
        frames.append((name, frame.f_code.co_filename, frame.f_lineno or 0))
        frame = frame.f_back
    native = next((each.native_id for each in threading.enumerate() if each.ident == thread), None)
    place = {"host": socket.gethostname(), "process": os.getpid(), "thread": native}
    return json.dumps({"doing": doing, "frames": frames, **place})
