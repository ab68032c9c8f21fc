// Mirrors: c10/test/core/impl/InlineDeviceGuard_test.cpp, c10/test/core/impl/InlineStreamGuard_test.cpp
// Device and stream guards over a device that notes what it is told.
#include "impl/FakeGuardImpl.h"

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>

#include <doctest/doctest.h>

using namespace reftorch::c10;
using impl::FakeGuardImpl;
using Log = std::vector<std::string>;

TEST_CASE("a device guard makes a device current and then the former one") {
  const FakeGuardImpl::Scope fake;
  {
    DeviceGuard guard(Device(kCUDA, 1));
    CHECK(FakeGuardImpl::current_device == 1);
    CHECK(guard.original_device() == Device(kCUDA, 0));
    guard.set_index(0);
    CHECK(FakeGuardImpl::current_device == 0);
    guard.set_index(1);
    CHECK_THROWS(guard.reset_device(Device(kCPU)));
  }
  CHECK(FakeGuardImpl::current_device == 0);
  CHECK_THROWS(DeviceGuard(Device(kCUDA, 7)));
  CHECK(FakeGuardImpl::current_device == 0);
}

TEST_CASE("a guard for a device without an index, or for the CPU, changes nothing") {
  const FakeGuardImpl::Scope fake;
  const DeviceGuard one(Device(kCUDA, 1));
  const DeviceGuard any{Device(kCUDA)};
  CHECK(any.current_device() == Device(kCUDA, 1));
  const DeviceGuard cpu{Device(kCPU)};
  const OptionalDeviceGuard none, optional_cpu{Device(kCPU)};
  CHECK(FakeGuardImpl::current_device == 1);
  CHECK_FALSE(optional_cpu.current_device().has_value());
}

TEST_CASE("the index of a device is normalized to the current one") {
  CHECK_THROWS(ensure_has_index(Device(kCUDA)));
  const FakeGuardImpl::Scope fake;
  const OptionalDeviceGuard guard{Device(kCUDA, 1)};
  CHECK(ensure_has_index(Device(kCUDA)) == Device(kCUDA, 1));
  CHECK(ensure_has_index(Device(kCUDA, 0)) == Device(kCUDA, 0));
  CHECK(ensure_has_index(Device(kCPU)) == Device(kCPU));
}

TEST_CASE("a stream guard restores stream and device") {
  const FakeGuardImpl::Scope fake;
  const auto* device = impl::getDeviceGuardImpl(kCUDA);
  {
    const StreamGuard guard(FakeGuardImpl::stream(1, 5));
    CHECK(FakeGuardImpl::current_device == 1);
    CHECK(device->getStream(Device(kCUDA)) == FakeGuardImpl::stream(1, 5));
    CHECK(guard.original_stream() == FakeGuardImpl::stream(1, 0));
    OptionalStreamGuard inner(FakeGuardImpl::stream(1, 6));
    inner.reset_stream(FakeGuardImpl::stream(0, 7));
    CHECK(device->getStream(Device(kCUDA, 1)) == FakeGuardImpl::stream(1, 5));
    CHECK(device->getStream(Device(kCUDA, 0)) == FakeGuardImpl::stream(0, 7));
  }
  CHECK(FakeGuardImpl::current_device == 0);
  CHECK(device->getStream(Device(kCUDA, 0)) == FakeGuardImpl::stream(0, 0));
  CHECK(device->getStream(Device(kCUDA, 1)) == FakeGuardImpl::stream(1, 0));
}

TEST_CASE("an event is made at the first record, and orders streams") {
  const FakeGuardImpl::Scope fake;
  Event event(kCUDA);
  event.block(FakeGuardImpl::stream(0, 2)); // never recorded: nothing to wait for
  CHECK(event.query());
  event.record(FakeGuardImpl::stream(1, 3));
  event.recordOnce(FakeGuardImpl::stream(1, 4));
  FakeGuardImpl::stream(0, 2).wait(event);
  CHECK(FakeGuardImpl::take_log() == Log{"record 1/3", "0/2 waits for 1/3"});
  CHECK(event.device() == Device(kCUDA, 1));
  CHECK_THROWS(event.record(FakeGuardImpl::stream(0, 2)));
  const Event moved = std::move(event);
  CHECK(moved.was_marked_for_recording());
  CHECK_FALSE(event.was_marked_for_recording());
  CHECK_THROWS(moved.elapsedTime(moved)); // the event keeps no time
}

TEST_CASE("the CPU has one stream, whose work is done at once, and no events") {
  const Stream stream(Stream::DEFAULT, Device(kCPU));
  CHECK(stream.query());
  stream.synchronize();
  CHECK(impl::getDeviceGuardImpl(kCPU)->getStream(Device(kCPU)) == stream);
  CHECK_THROWS(Event(kCPU).record(stream));
}
