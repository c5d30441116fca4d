#include <chrono>

#include "tests/moves/executor/expect.hpp"
#include "tests/moves/executor/steps.hpp"

namespace fairgv::moves {
namespace {

cl_ulong time_of(cl_event event, cl_profiling_info what) {
  cl_ulong time = 0;
  expect(clGetEventProfilingInfo(event, what, sizeof(time), &time, nullptr), "clGetEventProfilingInfo");
  return time;
}

}  // namespace

void carry_out(Objects& objects, const Flush& step) {
  expect(clFlush(objects.queues.at(step.queue)), "clFlush");
}

void carry_out(Objects& objects, const Finish& step) {
  expect(clFinish(objects.queues.at(step.queue)), "clFinish");
}

void carry_out(Objects& objects, const WaitForEvents& step) {
  std::vector<cl_event> events;
  for (const Number each : step.events) events.push_back(objects.events.at(each));
  expect(clWaitForEvents(static_cast<cl_uint>(events.size()), events.data()), "clWaitForEvents");
}

void carry_out(Objects& objects, const MakeUserEvent& step) {
  cl_int error = CL_SUCCESS;
  objects.events[step.event] = clCreateUserEvent(objects.contexts.at(step.context), &error);
  expect(error, "clCreateUserEvent");
}

void carry_out(Objects& objects, const EndUserEvent& step) {
  const cl_event event = objects.events.at(step.event);
  if (step.microseconds == 0) {
    expect(clSetUserEventStatus(event, CL_COMPLETE), "clSetUserEventStatus");
  } else {
    objects.late_events.set(event, CL_COMPLETE, std::chrono::microseconds(step.microseconds));
  }
}

void carry_out(Objects& objects, const AddCallback& step) {
  objects.callbacks.add(objects.events.at(step.event), step.status, step.event);
}

void carry_out(Objects& objects, const LookAtEvent& step) {
  const cl_event event = objects.events.at(step.event);
  cl_int status = 0;
  cl_command_type type = 0;
  expect(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status), &status, nullptr),
         "clGetEventInfo");
  expect(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, nullptr), "clGetEventInfo");
  objects.results.add_value(status);
  objects.results.add_value(type);
  if (!step.has_times) return;
  const cl_ulong queued = time_of(event, CL_PROFILING_COMMAND_QUEUED);
  const cl_ulong submitted = time_of(event, CL_PROFILING_COMMAND_SUBMIT);
  const cl_ulong started = time_of(event, CL_PROFILING_COMMAND_START);
  const cl_ulong ended = time_of(event, CL_PROFILING_COMMAND_END);
  if (queued > submitted || submitted > started || started > ended)
    throw Unexpected("the times of event " + std::to_string(step.event) +
                     " are out of order: " + std::to_string(queued) + ", " + std::to_string(submitted) +
                     ", " + std::to_string(started) + ", " + std::to_string(ended));
}

void carry_out(Objects& objects, const TouchMapping& step) {
  const Mapping& mapping = objects.mappings.at(step.mapping);
  for (std::size_t z = 0; z < mapping.region[2]; ++z) {
    for (std::size_t y = 0; y < mapping.region[1]; ++y) {
      std::uint8_t* const row = mapping.start + z * mapping.slice + y * mapping.row;
      if (step.reads) objects.results.add(row, mapping.region[0]);
      if (step.writes) fill_with(step.seed + z * mapping.region[1] + y, row, mapping.region[0]);
    }
  }
}

void carry_out(Objects& objects, const Check&) {
  for (const auto& [number, array] : objects.arrays) objects.results.add(array.get(), array.bytes());
  objects.arrays.clear();
  objects.data.clear();
  objects.results.add_value(objects.callbacks.all_called());
  objects.results.print_check();
}

}  // namespace fairgv::moves
