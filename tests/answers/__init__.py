"""What torch 2.13 answered in the tests, so that they can compare where torch is missing.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

A test asks for the fixture ``real_torch``, runs its calls here and there, and compares. Where torch is installed, that
is all. Where torch is missing, the fixture is reftorch itself, seen through ``Watched``: whatever the test learns from
the fixture (a shape, a dtype, strides, the numbers of a tensor, a printed text, the type and the message of an error)
goes into a ``Log``. The log must agree with the one that the same test left when the real torch answered. These logs
stand in ``torch-2.13.xz``; ``make answers`` makes the file, and needs torch for it. Where torch is, a few of the logs
are made anew in every run and compared with the file.

A test that runs one program with each library, and compares two plain values, needs no wall: ``asked(real_torch,
program)`` and the fixture ``noted`` note the value as a whole. These are the simple ways, and the ones for tests whose
programs hand objects of the library to other code: to graphs, to pickle, or to classes of the library.

- ``fingerprint.py``: what is kept of an answer, and when two are the same;
- ``watched.py``: the object in the place of a library that takes the notes;
- ``stored.py``: the file;
- ``record.py``: the command that makes the file;
- ``left_out.txt``: the tests that no stored answers can hold, each under its reason; ``left_out.py`` reads it.

Limits: of floating-point numbers weighted sums are kept and not the numbers, with wider tolerances than where torch is.
Warnings are not noted, and neither is what torch gives to code that torch calls, such as the ``forward`` of a test.
"""
