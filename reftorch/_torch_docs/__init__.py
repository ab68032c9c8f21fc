"""The docs of the ops: the texts that ``help(torch.add)``, Shift-Tab and hover show.

Mirrors: torch/_torch_docs.py, torch/_tensor_docs.py
Leaves out: texts for ``foo_`` and ``out=``, which are made from the text of ``foo``.

Each family of ops has a file, named after the file of ``cpp/ATen/native/`` that registers the ops. ``_describe``
imports all of these files when a program first asks for a docstring, so that ``import reftorch`` does not have to. This
package itself is imported with reftorch and stays empty: a loop over the names of ``reftorch`` that reads docstrings
must not add a name to the dictionary that it iterates over.
"""
