// The OpenCL objects of a running plan, by the plan's numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tests/moves/executor/callbacks.hpp"
#include "tests/moves/executor/host_memory.hpp"
#include "tests/moves/executor/late_events.hpp"
#include "tests/moves/executor/results.hpp"
#include "tests/moves/plan/plan.hpp"

namespace fairgv::moves {

/// The functions of cl_khr_command_buffer; null without it.
struct RecordingFunctions {
  explicit RecordingFunctions(cl_platform_id platform);
  clCreateCommandBufferKHR_fn create = nullptr;
  clRetainCommandBufferKHR_fn retain = nullptr;
  clReleaseCommandBufferKHR_fn release = nullptr;
  clFinalizeCommandBufferKHR_fn finalize = nullptr;
  clEnqueueCommandBufferKHR_fn enqueue = nullptr;
  clGetCommandBufferInfoKHR_fn info = nullptr;
  clCommandCopyBufferKHR_fn copy_buffer = nullptr;
  clCommandFillBufferKHR_fn fill_buffer = nullptr;
  clCommandNDRangeKernelKHR_fn launch = nullptr;
};

/// An object that must be there: plans name none that they have not made.
template <class T>
using Table = std::unordered_map<Number, T>;

struct ImageDescription {
  cl_mem_object_type type = 0;
  std::size_t pixel = 0;
};

/// The memory that a mapping shows.
struct Mapping {
  cl_mem memory = nullptr;  // null: shared virtual memory
  std::uint8_t* start = nullptr;
  std::size_t row = 0, slice = 0;
  Triple region{};  // in bytes, rows, slices
};

struct Objects {
  Objects(cl_platform_id platform, std::vector<cl_device_id> all_devices, bool details)
      : devices(std::move(all_devices)), recording_functions(platform), results(details) {}

  const std::vector<cl_device_id> devices;
  const RecordingFunctions recording_functions;
  bool is_bare_driver = false;  // not FairGV: some of its known faults are stepped around

  Table<cl_context> contexts;
  Table<cl_device_id> context_devices;
  Table<cl_command_queue> queues;
  Table<cl_mem> memories;
  Table<ImageDescription> images;  // those of `memories` that are images
  Table<cl_sampler> samplers;
  Table<cl_program> programs;
  Table<cl_kernel> kernels;
  Table<cl_event> events;
  Table<cl_command_buffer_khr> recordings;
  Table<std::uint8_t*> svm;
  Table<cl_context> svm_contexts;
  Table<Mapping> mappings;

  /// Until the next check.
  std::map<Number, HostMemory> arrays;  // that commands fill
  std::list<HostMemory> data;           // that commands read
  /// Of buffers that use the program's memory: until the end.
  std::list<HostMemory> used;

  Results results;
  Callbacks callbacks;
  LateEvents late_events;  // last: its thread uses events
};

}  // namespace fairgv::moves
