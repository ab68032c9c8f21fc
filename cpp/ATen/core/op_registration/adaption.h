// Mirrors: aten/src/ATen/core/op_registration/adaption.h
//
// Note [Device check]
// Problem: a kernel of one device that is given a tensor of another device reads memory that is not there, or, on the
// meta device, answers a call that a GPU refuses. PyTorch's generated code starts the CUDA kernel of each op with a
// check of all tensors (check_and_update_common_device). The check must cost nothing where all tensors are on the CPU,
// and an op must not have to call it.
// Trick: the check belongs to the row. A tensor of another device than the CPU brings its device's key, and the keys of
// the devices are above the CPU's; so a call with tensors on two devices always reaches the row of a device that is
// not the CPU. When such a row is filled with a kernel of the op (OperatorEntry::updateDispatchTable), it gets the
// kernel with the check in front. The row of the CPU holds the kernel alone.
// An op whose stubs all take a TensorIterator (or one tensor) has no check here, because the iterator makes it: an
// iterator lets a 0-dim CPU tensor stand beside tensors of a device, as PyTorch's ops with `device_check: NoCheck` do.
// An op that takes several devices for another reason says so at its registration, tags(Tag::no_device_check).
// Limits: an op that names no stub is made of other ops, and those are checked. Keyword-only tensors other than `out`
// are not checked, as in PyTorch. PyTorch's CPU kernels that are given a meta tensor, and its meta kernels, check in
// some ops only; here the meta device refuses what CUDA refuses, with one exception of PyTorch's: a CPU tensor called
// `index` may stand beside meta tensors, so that a model on the meta device can be given real indices. The method in
// the message is always named as PyTorch names it for a structured op, wrapper_CUDA_mm; other ops have a name with the
// overload in the middle there.
#pragma once

#include <ATen/core/dispatch/OperatorEntry.h>

namespace reftorch::at::impl {

// Whether `kernel`, which fills `row` of the op, needs the check.
bool needs_device_check(const OperatorEntry& entry, c10::DispatchKey row, const AnnotatedKernel& kernel);
// Returns a kernel that raises RuntimeError for tensors on several devices, and otherwise calls `kernel`.
KernelFunction with_device_check(const KernelFunction& kernel);

} // namespace reftorch::at::impl
