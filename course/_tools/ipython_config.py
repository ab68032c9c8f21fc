"""Settings of the kernels and of the IPython of `.venv`; `make lab` copies this file into the environment.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: settings of JupyterLab, which are in jupyterlab.json, and of its server, which are in lab_config.py.
"""

c = get_config()  # type: ignore[name-defined]  # noqa: F821  # IPython defines it

# Milliseconds. The first `torch.` makes jedi read the stubs, which takes one or two seconds. The names that jedi has
# not classified by then are shown without their kinds.
c.IPCompleter.jedi_compute_type_timeout = 8000
