"""The events of a profile, their averages, and tables of them.

Mirrors: torch/autograd/profiler_util.py
Leaves out: the events of Python functions, remote events, metadata of collectives.

PyTorch has all of it in one file. Here ``events.py`` has an event and the average of events, ``event_list.py`` a list
of them, which is made from what ``_C`` recorded, and ``table.py`` the text of a list.
"""

from reftorch import _places
from reftorch.autograd.profiler_util.event_list import EventList
from reftorch.autograd.profiler_util.events import DeviceType, FunctionEvent, FunctionEventAvg, Interval, Kernel

__all__ = ["DeviceType", "EventList", "FunctionEvent", "FunctionEventAvg", "Interval", "Kernel"]

_places.split(__name__)
