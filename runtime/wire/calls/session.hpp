// The null call, the release of any object, and the objects that all others need: contexts and queues.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

/// Does nothing and answers: the null call of the benchmarks, and a fence for tests.
struct Ping {
  FAIRGV_CALL(Ping, 0x0001, Empty)
  std::uint64_t value = 0;
  FAIRGV_FIELDS(value)
};

/// The front end's reference count of the object reached zero. The worker drops its reference; commands under
/// way keep what they need.
struct ReleaseObject {
  FAIRGV_CALL(ReleaseObject, 0x0005, void)
  ObjectId id;
  FAIRGV_FIELDS(id)
};

struct CreateContext {
  FAIRGV_CALL(CreateContext, 0x0100, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  std::span<const DeviceIndex> devices;  // all of one platform, at least one
  FAIRGV_FIELDS(id, devices)
};

struct CreateQueue {
  FAIRGV_CALL(CreateQueue, 0x0200, void)
  FAIRGV_LASTS(makes, id)
  ObjectId id;
  ObjectId context;
  DeviceIndex device = 0;
  std::uint64_t properties = 0;  // cl_command_queue_properties
  FAIRGV_FIELDS(id, context, device, properties)
};

/// Whether the driver makes such a queue. Asked for properties that the device does not name: some drivers
/// take them, Mesa's by one of its two functions only.
struct CheckQueue {
  FAIRGV_CALL(CheckQueue, 0x0202, StatusReply)
  ObjectId context;
  DeviceIndex device = 0;
  std::uint64_t properties = 0;  // cl_command_queue_properties
  std::uint8_t in_a_list = 0;    // 1: given to clCreateCommandQueueWithProperties
  FAIRGV_FIELDS(context, device, properties, in_a_list)
};

/// Hands everything enqueued so far to the device as soon as it may run.
struct FlushQueue {
  FAIRGV_CALL(FlushQueue, 0x0201, void)
  ObjectId queue;
  FAIRGV_FIELDS(queue)
};

using SessionCalls = TypeList<Ping, ReleaseObject, CreateContext, CreateQueue, CheckQueue, FlushQueue>;

}  // namespace fairgv::wire
