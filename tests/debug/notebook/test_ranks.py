"""``%%ranks``: what the ranks of a cell see, what they leave, and that none waits for another that has failed.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: how a browser draws the table; a breakpoint that JupyterLab sets.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time

import pytest

from tests.debug.kernel import Notebook, state_of

RING = """%%ranks 4
print("here is", rank, "of", world_size)
tensor = torch.ones(2) * rank
dist.all_reduce(tensor)
tensor"""
LEFT = (
    "import threading, sys, reftorch\n"
    "[each.name for each in threading.enumerate() if each.name.startswith('rank ')], type(sys.stdout).__name__, "
    "torch.distributed.is_initialized()"
)


def columns_of(text: str) -> list[list[str]]:
    """The cells of each line of a row of columns."""
    return [[cell.strip() for cell in line.split(" | ")] for line in text.splitlines()]


@pytest.fixture(autouse=True)
def _leaves_nothing(notebook: Notebook) -> object:
    yield
    assert notebook.run(LEFT).text == "([], 'OutStream', False)"


def test_outputs_stand_side_by_side(notebook: Notebook) -> None:
    cell = notebook.run(RING)
    assert not cell.error and not cell.stdout
    assert columns_of(cell.text) == [
        [f"rank {rank}" for rank in range(4)],
        ["-" * 25] * 4,
        [f"here is {rank} of 4" for rank in range(4)],
        ["tensor([6., 6.])"] * 4,
    ]
    assert cell.html.count("<th") == cell.html.count("<td") == 4
    assert "max-width:1000px" in cell.html and "pre-wrap" in cell.html


def test_the_output_is_the_same_again(notebook: Notebook) -> None:
    failing = f"{RING}\nif rank == 2:\n    {{}}[rank]\ndist.barrier()"
    first, second = (notebook.run(failing) for _ in range(2))
    assert first.text == second.text and first.html == second.html


def test_each_rank_has_its_own_variables_and_sees_those_of_the_notebook(notebook: Notebook) -> None:
    assert not notebook.run("x, shared = 10, []").error
    cell = notebook.run("%%ranks 3\nshared.append(rank)\nx = x + rank\ndef f():\n    return x\nf() * 2")
    assert not cell.error
    assert notebook.run("x, sorted(shared), [each.x for each in ranks], [each.value for each in ranks]").text == (
        "(10, [0, 1, 2], [10, 11, 12], [20, 22, 24])"
    )
    assert notebook.run("[sorted(each.names) for each in ranks]").text == "[['f', 'x'], ['f', 'x'], ['f', 'x']]"
    assert not notebook.run("%%ranks 3\ny = ranks[rank].x").error
    assert notebook.run("[each.y for each in ranks]").text == "[10, 11, 12]"
    assert "rank 1 assigned no variable 'z'. Hint: it has ['y']" in notebook.run("ranks[1].z").error
    assert "NameError" in notebook.run("rank").error


def test_what_a_rank_displays_stands_in_its_column(notebook: Notebook) -> None:
    assert not notebook.run("from IPython.display import HTML, display").error
    cell = notebook.run("%%ranks 2\nprint(1, end='')\ndisplay(HTML(f'<b>{rank}</b>'))\nprint(2)\n3;")
    assert len(cell.displayed) == 1 and cell.html.index("<b>0</b>") < cell.html.index("<b>1</b>")
    assert cell.html.count(">1</pre>") == cell.html.count(">2\n</pre>") == 2 and ">3" not in cell.html
    assert notebook.run("[each.output for each in ranks]").text == "['12\\n', '12\\n']"


def test_output_of_other_threads_and_of_backward(notebook: Notebook) -> None:
    source = (
        "%%ranks 2\nimport threading\nthread = threading.Thread(target=print, args=('elsewhere',))\nthread.start()\n"
        "thread.join()\nx = torch.ones(1, requires_grad=True)\nx.register_hook(lambda grad: print('hook of', rank))\n"
        "(x * 2).sum().backward()"
    )
    cell = notebook.run(source)
    assert cell.stdout == "elsewhere\n" * 2
    assert columns_of(cell.text)[2:] == [["hook of 0", "hook of 1"]]


def test_a_rank_that_fails_ends_the_others(notebook: Notebook) -> None:
    begin = time.monotonic()
    cell = notebook.run("%%ranks 2 --timeout 60\nif rank == 1:\n    raise OSError('no disk')\ndist.barrier()")
    assert time.monotonic() - begin < 30
    assert cell.error.strip() == "rank 1 raised OSError; rank 0 raised DistBackendError (above)."
    first, *_ = columns_of(cell.text)[2:]
    assert first[0] == "ended in line 4, `dist.barrier()`, because rank 1"
    assert "File \"&lt;cell&gt;\", line 3, in &lt;module&gt;\n    raise OSError('no disk')" in cell.html
    assert "connection closed by peer: rank 1 has ended" in notebook.run("str(ranks[0].error)").text
    assert "ranks.py" not in cell.html and not re.search(r"ipykernel_\d", cell.html)


def test_a_failure_that_is_meant_is_kept(notebook: Notebook) -> None:
    cell = notebook.run("%%ranks 2 --may-fail\nt = torch.ones(2 + rank)\ndist.all_reduce(t)")
    assert not cell.error and cell.html.count("the ranks make different calls") == 2
    assert notebook.run("{type(each.error).__name__ for each in ranks}").text == "{'DistBackendError'}"


def test_a_rank_that_runs_on_after_another_failed_is_ended(notebook: Notebook) -> None:
    cell = notebook.run("%%ranks 2 --timeout 0.5\nif rank == 0:\n    while True:\n        pass\n1 / 0")
    assert cell.error.strip() == "rank 1 raised ZeroDivisionError; rank 0 raised RankEnded (above)."
    assert re.search(r"ended in line [34], `.*`: rank 1 failed 0.5 s ago", cell.html)


def test_ranks_that_wait_for_each_other_say_where(notebook: Notebook) -> None:
    cell = notebook.run("%%ranks 2 --timeout 0.5\nif rank:\n    dist.recv(torch.ones(1), 0)\ndist.barrier()")
    text = " ".join(each for line in columns_of(cell.text) for each in line[:1])
    assert "rank 0 raised DistBackendError" in cell.error
    assert "rank 1 has called no collective (after 500 ms)" in text


def test_under_a_debugger_there_are_no_time_outs(notebook: Notebook) -> None:
    slow = "%%ranks 2 --timeout 0.3\nimport time\nif rank:\n    time.sleep(1.5)\ndist.barrier()"
    assert "rank 0 raised DistBackendError" in notebook.run(slow).error
    attach = "kept, debugpy.is_client_connected = debugpy.is_client_connected, lambda: True"
    assert not notebook.run(f"import debugpy\n{attach}").error
    try:
        assert not notebook.run(slow).error
    finally:
        notebook.run("debugpy.is_client_connected = kept")


def test_an_interrupt_ends_all_ranks(notebook: Notebook) -> None:
    request = notebook.send("%%ranks 3\nif rank:\n    dist.barrier()\nwhile True:\n    pass")
    interrupt = threading.Timer(1.0, os.kill, (notebook.pid, signal.SIGINT))
    interrupt.start()
    cell = notebook.result(request, timeout=30)
    interrupt.join()
    assert "KeyboardInterrupt" in cell.error
    assert cell.html.count("ended in line 3, `dist.barrier()`: the cell was interrupted") == 2
    assert re.search(r"ended in line [45], `.*`: the cell was interrupted", cell.html)
    assert state_of(notebook.pid) in "SR"


def test_a_cell_is_the_file_that_a_debugger_knows(notebook: Notebook) -> None:
    source = "%%ranks 2\nimport sys\nframe = sys._getframe()\nplace = frame.f_code.co_filename, frame.f_lineno\n"
    assert not notebook.run(source).error
    asked = f"from ipykernel.compiler import get_file_name\nranks[1].place == (get_file_name({source!r}), 4)"
    assert notebook.run(asked).text == "True"


def test_what_is_not_python_and_what_is_no_number(notebook: Notebook) -> None:
    assert notebook.run("%%ranks 2\nx = (").error.startswith('  File "<cell>", line 2\n    x = (')
    assert "0 is not a number from 1 on" in notebook.run("%%ranks 0\nx").stdout
    assert "-1 is not a number of seconds above 0" in notebook.run("%%ranks 2 --timeout=-1\nx").stdout


def test_more_ranks_than_fit_take_a_second_row(notebook: Notebook) -> None:
    cell = notebook.run("%%ranks 6\nrank")
    assert columns_of(cell.text) == [
        ["rank 0", "rank 1", "rank 2"],
        ["-" * 34] * 3,
        ["0", "1", "2"],
        [""],
        ["rank 3", "rank 4", "rank 5"],
        ["-" * 34] * 3,
        ["3", "4", "5"],
    ]
