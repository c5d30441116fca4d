#include "icd/program.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

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

}  // namespace

Program::Program(Context& context, std::string source)
    : context_(context),
      id_(context.session().new_object()),
      devices_(context.devices().begin(), context.devices().end()),
      source_(std::move(source)),
      from_source_(true),
      builds_(devices_.size()) {
  // A kernel that prints by way of an included file is not known to: its output comes as well, if a little
  // later.
  if (source_.find("printf") != std::string::npos) context.session().kernel_output().expect();
  connection().send(wire::CreateProgramWithSource{id_, context.id(), source_});
}

Program::Program(Context& context, wire::ObjectId id, std::vector<Device*> devices)
    : context_(context),
      id_(id),
      devices_(std::move(devices)),
      from_source_(false),
      builds_(devices_.size()) {}

Program::~Program() {
  for (auto callback = release_callbacks_.rbegin(); callback != release_callbacks_.rend(); ++callback) {
    (*callback)(handle());
  }
  context_->session().release_object(id_);
}

bool Program::has_device(const Device& device) const {
  return std::find(devices_.begin(), devices_.end(), &device) != devices_.end();
}

void Program::add_release_callback(std::function<void(cl_program)> callback) {
  const std::lock_guard lock(mutex_);
  release_callbacks_.push_back(std::move(callback));
}

// ---- building
// --------------------------------------------------------------------------------------------------

cl_int Program::start_build(std::span<Device* const> devices, const std::string& options) {
  if (attached_kernels_.load(std::memory_order_relaxed) != 0) return CL_INVALID_OPERATION;
  const std::lock_guard lock(mutex_);
  const auto selected = [&](std::size_t i) {
    return std::find(devices.begin(), devices.end(), devices_[i]) != devices.end();
  };
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (selected(i) && builds_[i].status == CL_BUILD_IN_PROGRESS) return CL_INVALID_OPERATION;
  }
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (selected(i)) builds_[i] = {CL_BUILD_IN_PROGRESS, options};
  }
  kernels_.reset();
  return CL_SUCCESS;
}

cl_int Program::end_build(std::span<Device* const> devices, std::int32_t status) {
  const std::lock_guard lock(mutex_);
  for (const Device* device : devices) {
    const auto i =
        static_cast<std::size_t>(std::find(devices_.begin(), devices_.end(), device) - devices_.begin());
    builds_[i].status = status == CL_COMPLETE ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
  }
  return status == CL_COMPLETE ? CL_SUCCESS : status;
}

cl_int Program::build(std::span<Device* const> devices, std::string options, std::function<void()> notify) {
  if (devices.empty()) devices = devices_;
  if (const cl_int error = start_build(devices, options)) return error;
  const Ref<Event> end = Event::make_internal(connection());
  if (!end) return end_build(devices, CL_OUT_OF_RESOURCES);
  const std::vector<wire::DeviceIndex> indices = indices_of(devices);
  const std::string directory = working_directory();
  if (!connection().send(wire::BuildProgram{id_, indices, options, directory, end->id()})) {
    return end_build(devices, CL_OUT_OF_RESOURCES);
  }
  if (!notify) {
    const std::int32_t status = end->wait();
    return end_build(devices, connection().session().lost() ? CL_OUT_OF_RESOURCES : status);
  }
  const auto ended = [self = Ref<Program>(*this),
                      built = std::vector<Device*>(devices.begin(), devices.end()),
                      notify = std::move(notify)](std::int32_t status) {
    self->end_build(built, status);
    notify();
  };
  return connection().callbacks().add(*end, CL_COMPLETE, ended) ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

Program::Build Program::build_of(const Device& device) const {
  const std::lock_guard lock(mutex_);
  const auto found = std::find(devices_.begin(), devices_.end(), &device);
  return builds_[static_cast<std::size_t>(found - devices_.begin())];
}

bool Program::is_built_for(const Device& device) const {
  return has_device(device) && build_of(device).status == CL_BUILD_SUCCESS;
}

bool Program::is_built() const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [this](const Device* device) { return is_built_for(*device); });
}

bool Program::allows_non_uniform_groups() const {
  const std::lock_guard lock(mutex_);
  return std::all_of(builds_.begin(), builds_.end(), [](const Build& build) {
    const std::size_t standard = build.options.find("-cl-std=CL");
    return standard != std::string::npos &&
           build.options[std::min(standard + 10, build.options.size())] >= '2' &&
           build.options.find("-cl-uniform-work-group-size") == std::string::npos;
  });
}

std::shared_ptr<const KernelTable> Program::kernels() {
  if (!is_built()) return nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (kernels_ != nullptr) return kernels_;
  }
  auto reply = connection().call(wire::DescribeKernels{id_});
  if (!reply || reply->error != CL_SUCCESS) return nullptr;
  auto table = std::make_shared<const KernelTable>(std::move(reply->kernels));
  const std::lock_guard lock(mutex_);
  kernels_ = table;
  return table;
}

// ---- queries
// ---------------------------------------------------------------------------------------------------

cl_int Program::worker_info(cl_program_info param, const InfoSink& sink) {
  const auto reply = connection().call(wire::GetProgramInfo{id_, param});
  return reply ? sink.reply(*reply) : CL_OUT_OF_RESOURCES;
}

cl_int Program::kernel_names(const InfoSink& sink) {
  const auto table = kernels();
  if (table == nullptr) return CL_INVALID_PROGRAM_EXECUTABLE;
  std::string names;
  for (const wire::KernelDescription& kernel : *table) {
    if (!names.empty()) names += ';';
    names += kernel.name;
  }
  return sink.string(names);
}

cl_int Program::binaries(const InfoSink& sink) {
  const std::size_t pointers = devices_.size() * sizeof(unsigned char*);
  if (sink.size_ret != nullptr) *sink.size_ret = pointers;
  if (sink.value == nullptr) return CL_SUCCESS;
  if (sink.size < pointers) return CL_INVALID_VALUE;
  const auto sizes = connection().call(wire::GetProgramInfo{id_, CL_PROGRAM_BINARY_SIZES});
  const auto all = connection().call(wire::GetProgramInfo{id_, CL_PROGRAM_BINARIES});
  if (!sizes || !all) return CL_OUT_OF_RESOURCES;
  if (sizes->error != CL_SUCCESS) return sizes->error;
  if (all->error != CL_SUCCESS) return all->error;
  auto* const* const destinations = static_cast<unsigned char**>(sink.value);
  std::size_t at = 0;
  for (std::size_t i = 0; i < devices_.size() && (i + 1) * sizeof(size_t) <= sizes->value.size(); ++i) {
    size_t bytes = 0;
    std::memcpy(&bytes, sizes->value.data() + i * sizeof(size_t), sizeof(bytes));
    if (bytes > all->value.size() - at) break;
    if (destinations[i] != nullptr && bytes != 0) std::memcpy(destinations[i], all->value.data() + at, bytes);
    at += bytes;
  }
  return CL_SUCCESS;
}

cl_int Program::info(cl_program_info param, const InfoSink& sink) {
  switch (param) {
    case CL_PROGRAM_REFERENCE_COUNT:
      return sink.scalar(cl_uint{references()});
    case CL_PROGRAM_CONTEXT:
      return sink.scalar(context_->handle());
    case CL_PROGRAM_NUM_DEVICES:
      return sink.scalar(static_cast<cl_uint>(devices_.size()));
    case CL_PROGRAM_DEVICES: {
      std::vector<cl_device_id> handles;
      for (Device* device : devices_) handles.push_back(device->handle());
      return sink.array(std::span<const cl_device_id>(handles));
    }
    case CL_PROGRAM_SOURCE:
      return from_source_ ? sink.string(source_) : worker_info(param, sink);
    case CL_PROGRAM_IL:
      return sink.bytes(nullptr, 0);
    case CL_PROGRAM_BINARIES:
      return binaries(sink);
    case CL_PROGRAM_NUM_KERNELS: {
      const auto table = kernels();
      return table == nullptr ? CL_INVALID_PROGRAM_EXECUTABLE : sink.scalar(size_t{table->size()});
    }
    case CL_PROGRAM_KERNEL_NAMES:
      return kernel_names(sink);
    default:
      return worker_info(param, sink);
  }
}

cl_int Program::build_info(const Device& device, cl_program_build_info param, const InfoSink& sink) {
  const Build build = build_of(device);
  switch (param) {
    case CL_PROGRAM_BUILD_STATUS:
      return sink.scalar(build.status);
    case CL_PROGRAM_BUILD_OPTIONS:
      return sink.string(build.options);
    default: {
      // The worker is still busy with the program: nothing to tell yet.
      if (build.status == CL_BUILD_IN_PROGRESS && param == CL_PROGRAM_BUILD_LOG) return sink.string("");
      const auto reply = connection().call(wire::GetProgramBuildInfo{id_, device.index(), param});
      return reply ? sink.reply(*reply) : CL_OUT_OF_RESOURCES;
    }
  }
}

}  // namespace fairgv::icd
