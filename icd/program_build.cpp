// Building, compiling and linking: each a message to the worker's slow lane, and an event that shows its end.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <numeric>

#include "icd/program.hpp"

namespace fairgv::icd {
namespace {

std::string working_directory() {
  std::array<char, PATH_MAX> path{};
  return ::getcwd(path.data(), path.size()) == nullptr ? std::string() : std::string(path.data());
}

std::vector<wire::DeviceIndex> indices_of(std::span<Device* const> devices) {
  std::vector<wire::DeviceIndex> indices;
  for (const Device* device : devices) indices.push_back(device->index());
  return indices;
}

/// Whether the option stands in the list by itself.
bool has_option(std::string_view options, std::string_view option) {
  for (std::size_t at = options.find(option); at != std::string_view::npos;
       at = options.find(option, at + 1)) {
    const std::size_t end = at + option.size();
    if ((at == 0 || options[at - 1] == ' ') && (end == options.size() || options[end] == ' ')) return true;
  }
  return false;
}

}  // namespace

cl_int Program::start_build(const std::vector<std::size_t>& positions, const Build& build, Ref<Event>& end) {
  for (;;) {
    if (attached_kernels_.load(std::memory_order_relaxed) != 0) return CL_INVALID_OPERATION;
    await_builds();
    const std::lock_guard lock(mutex_);
    if (!under_way_.empty()) continue;  // another thread was faster
    end = Event::make_internal(connection());
    if (!end) return CL_OUT_OF_RESOURCES;
    under_way_.push_back({end, positions});
    for (const std::size_t position : positions) builds_[position] = build;
    kernels_.reset();
    return CL_SUCCESS;
  }
}

cl_int Program::end_build(const Event& end, std::int32_t status) {
  const std::lock_guard lock(mutex_);
  const auto ended = std::find_if(under_way_.begin(), under_way_.end(),
                                  [&](const BuildUnderWay& build) { return build.end.get() == &end; });
  if (ended != under_way_.end()) {
    for (const std::size_t position : ended->positions) {
      builds_[position].status = status == CL_COMPLETE ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    }
    under_way_.erase(ended);
  }
  return status == CL_COMPLETE ? CL_SUCCESS : status;
}

bool Program::await_build_under_way() {
  Ref<Event> end;
  {
    const std::lock_guard lock(mutex_);
    if (under_way_.empty()) return false;
    end = under_way_.front().end;
  }
  end_build(*end, end->wait());
  return true;
}

void Program::await_builds() {
  while (await_build_under_way()) {
  }
}

template <class Call>
cl_int Program::run(BuildStep step, std::span<Device* const> devices, const char* options, Call& call,
                    std::function<void()> notify) {
  Build build{CL_BUILD_IN_PROGRESS, options == nullptr ? "" : options};
  build.executable =
      step == BuildStep::build || (step == BuildStep::link && !has_option(build.options, "-create-library"));
  // Where no options at all are given, drivers tell what they know.
  build.describes_arguments = options == nullptr || has_option(build.options, "-cl-kernel-arg-info");

  std::vector<std::size_t> positions;
  for (const Device* device : devices) positions.push_back(*position_of(*device));
  if (devices.empty()) {
    positions.resize(devices_.size());
    std::iota(positions.begin(), positions.end(), std::size_t{0});
  }
  const std::vector<wire::DeviceIndex> indices = indices_of(devices);
  Ref<Event> end;
  if (const cl_int error = start_build(positions, build, end)) return error;
  call.devices = indices;
  call.options = build.options;
  call.completion = end->id();
  if (!connection().send(call)) return end_build(*end, kSessionLost);
  if (!notify) {
    const std::int32_t status = end->wait();
    return end_build(*end, connection().session().lost() ? kSessionLost : status);
  }
  const auto ended = [self = Ref<Program>(*this), end, notify = std::move(notify)](std::int32_t status) {
    self->end_build(*end, status);
    notify();
  };
  return connection().callbacks().add(*end, CL_COMPLETE, ended) ? CL_SUCCESS : end_build(*end, kSessionLost);
}

cl_int Program::build(std::span<Device* const> devices, const char* options, std::function<void()> notify) {
  const std::string directory = working_directory();
  wire::BuildProgram call;
  call.program = id_;
  call.directory = directory;
  return run(BuildStep::build, devices, options, call, std::move(notify));
}

cl_int Program::compile(std::span<Device* const> devices, const char* options,
                        std::vector<wire::Header> headers, std::function<void()> notify) {
  if (!has_source()) return CL_INVALID_OPERATION;
  const std::string directory = working_directory();
  wire::CompileProgram call;
  call.program = id_;
  call.directory = directory;
  call.headers = std::move(headers);
  return run(BuildStep::compile, devices, options, call, std::move(notify));
}

cl_int Program::link(std::span<Device* const> devices, const char* options, std::span<Program* const> inputs,
                     std::function<void()> notify) {
  std::vector<wire::ObjectId> ids;
  for (const Program* input : inputs) ids.push_back(input->id());
  wire::LinkProgram call;
  call.id = id_;
  call.context = context_->id();
  call.inputs = ids;
  return run(BuildStep::link, devices, options, call, std::move(notify));
}

bool Program::is_linkable() {
  return std::any_of(devices_.begin(), devices_.end(), [this](const Device* device) {
    cl_program_binary_type type = CL_PROGRAM_BINARY_TYPE_NONE;
    build_info(*device, CL_PROGRAM_BINARY_TYPE, {sizeof(type), &type, nullptr});
    return type == CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT || type == CL_PROGRAM_BINARY_TYPE_LIBRARY;
  });
}

bool Program::is_unmade() {
  cl_uint count = 0;
  return worker_info(CL_PROGRAM_NUM_DEVICES, {sizeof(count), &count, nullptr}) != CL_SUCCESS;
}

}  // namespace fairgv::icd
