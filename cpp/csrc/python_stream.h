// Mirrors: torch/csrc/Stream.h, torch/csrc/Event.h, torch/csrc/DeviceAccelerator.h
//
// Adds the classes Stream and Event, and the functions that torch.accelerator calls.
#pragma once

struct _object;
using PyObject = _object;

namespace reftorch::torch {

void initStream(PyObject* module);

} // namespace reftorch::torch
