// A command queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "icd/objects/context.hpp"
#include "icd/objects/device.hpp"
#include "icd/objects/info.hpp"
#include "icd/objects/object.hpp"

namespace fairgv::icd {

class Queue : public Object<Queue> {
 public:
  using Handle = cl_command_queue;
  static constexpr Kind kKind = Kind::queue;
  static constexpr bool kSurvivesFork = false;

  /// `property_list`: as given to clCreateCommandQueueWithProperties, with the final 0, or empty.
  Queue(Context& context, Device& device, cl_command_queue_properties properties,
        std::vector<cl_queue_properties> property_list);
  ~Queue();

  Context& context() const { return *context_; }
  Connection& connection() const { return context_->connection(); }
  Device& device() const { return *device_; }
  wire::ObjectId id() const { return id_; }
  cl_command_queue_properties properties() const { return properties_; }
  bool has_profiling() const { return (properties_ & CL_QUEUE_PROFILING_ENABLE) != 0; }

  /// Counts a command, after it was sent.
  void count_command() { sent_.fetch_add(1, std::memory_order_acq_rel); }
  std::uint64_t commands() const { return sent_.load(std::memory_order_acquire); }

  /// Whether every counted command has ended, as far as some call has waited for it.
  bool is_idle() const { return finished_.load(std::memory_order_acquire) >= commands(); }

  /// A command that was sent when commands() returned `before`, and has been counted since, has ended. In an
  /// in-order queue all commands before it have then ended, too.
  void note_ended(std::uint64_t before) {
    if ((properties_ & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0) note_finished(before + 1);
  }

  /// clFlush. Programs flush again and again; the worker is not told twice about the same commands.
  cl_int flush();

  /// clFinish: waits for every command sent before the call.
  cl_int finish();

  /// clGetCommandQueueInfo.
  cl_int info(cl_command_queue_info param, InfoSink sink);

 private:
  void note_finished(std::uint64_t count);

  const Ref<Context> context_;
  const Ref<Device> device_;
  const wire::ObjectId id_;
  const cl_command_queue_properties properties_;
  const std::vector<cl_queue_properties> property_list_;
  // A command is counted after it was sent, so a finish that read a count has everything counted before its
  // marker.
  std::atomic<std::uint64_t> sent_{0};
  std::atomic<std::uint64_t> flushed_{0};
  std::atomic<std::uint64_t> finished_{0};  // so many of them have ended for certain
};

}  // namespace fairgv::icd
