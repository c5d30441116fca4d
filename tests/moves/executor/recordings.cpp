#include "tests/moves/executor/expect.hpp"
#include "tests/moves/executor/steps.hpp"

namespace fairgv::moves {
namespace {

/// One clCommand*KHR call, as the action says which.
class CommandRecorder {
 public:
  CommandRecorder(Objects& objects, cl_command_buffer_khr recording)
      : objects_(objects), recording_(recording) {}

  cl_int add(const RecordedCommand& command) {
    waits_.clear();
    for (const std::size_t each : command.waits) waits_.push_back(points_.at(each));
    cl_sync_point_khr point = 0;
    const cl_int error =
        std::visit([&](const auto& action) { return recorded(action, point); }, command.action);
    points_.push_back(point);
    return error;
  }

 private:
  cl_int recorded(const Launch& a, cl_sync_point_khr& point) const {
    return objects_.recording_functions.launch(recording_, nullptr, nullptr, objects_.kernels.at(a.kernel),
                                               a.dimensions, a.has_offset ? a.offset.data() : nullptr,
                                               a.global.data(), a.local.data(), count(), waits(), &point,
                                               nullptr);
  }
  cl_int recorded(const CopyBuffer& a, cl_sync_point_khr& point) const {
    return objects_.recording_functions.copy_buffer(recording_, nullptr, objects_.memories.at(a.from),
                                                    objects_.memories.at(a.to), a.from_offset, a.to_offset,
                                                    a.bytes, count(), waits(), &point, nullptr);
  }
  cl_int recorded(const FillBuffer& a, cl_sync_point_khr& point) const {
    const HostMemory pattern(a.pattern);
    return objects_.recording_functions.fill_buffer(recording_, nullptr, objects_.memories.at(a.memory),
                                                    pattern.get(), pattern.bytes(), a.offset, a.bytes,
                                                    count(), waits(), &point, nullptr);
  }
  template <class Other>
  cl_int recorded(const Other&, cl_sync_point_khr&) const {
    throw Unexpected("a recording with a command that plans do not record");
  }

  cl_uint count() const { return static_cast<cl_uint>(waits_.size()); }
  const cl_sync_point_khr* waits() const { return waits_.empty() ? nullptr : waits_.data(); }

  Objects& objects_;
  cl_command_buffer_khr recording_;
  std::vector<cl_sync_point_khr> points_;  // of all commands so far
  std::vector<cl_sync_point_khr> waits_;   // of the command that is recorded
};

}  // namespace

void carry_out(Objects& objects, const Record& step) {
  const cl_command_buffer_properties_khr properties[] = {CL_COMMAND_BUFFER_FLAGS_KHR,
                                                         CL_COMMAND_BUFFER_SIMULTANEOUS_USE_KHR, 0};
  const cl_command_queue queue = objects.queues.at(step.queue);
  cl_int error = CL_SUCCESS;
  const cl_command_buffer_khr recording =
      objects.recording_functions.create(1, &queue, step.simultaneous ? properties : nullptr, &error);
  expect(error, "clCreateCommandBufferKHR");
  objects.recordings[step.recording] = recording;
  CommandRecorder recorder(objects, recording);
  for (const RecordedCommand& each : step.commands) expect(recorder.add(each), "a clCommand function");
  expect(objects.recording_functions.finalize(recording), "clFinalizeCommandBufferKHR");
}

}  // namespace fairgv::moves
