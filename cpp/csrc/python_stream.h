// Mirrors: torch/csrc/Stream.h, torch/csrc/Event.h, torch/csrc/DeviceAccelerator.h
//
// Streams and events as objects of Python, and what torch.accelerator asks.
#pragma once

struct _object;
using PyObject = _object;

namespace reftorch::torch {

void initStream(PyObject* module);

} // namespace reftorch::torch
