#include "icd/programs/program.hpp"

#include <algorithm>
#include <cstring>

namespace fairgv::icd {
namespace {

/// The source as it is sent to the worker: see wire::kIncludeRoot.
std::string as_sent(const Context& context, const std::string& source) {
  if (!context.session().facts().takes_includes) return source;
  const includes::Directives directives = includes::find_directives(source);
  return includes::names_absolute_path(directives)
             ? includes::with_paths_below(wire::kIncludeRoot, source, directives)
             : source;
}

}  // namespace

Program::Program(Context& context, std::string source)
    : context_(context),
      id_(context.session().new_object()),
      devices_(context.devices().begin(), context.devices().end()),
      origin_(ProgramOrigin::source),
      source_(std::move(source)) {
  if (source_.find("printf") != std::string::npos) context.session().kernel_output().expect();
  const std::string sent = as_sent(context, source_);
  connection().send(wire::CreateProgramWithSource{id_, context.id(), sent});
  fetch_devices();
}

Program::Program(Context& context, wire::ObjectId id, std::span<Device* const> devices, ProgramOrigin origin,
                 std::string intermediate)
    : context_(context),
      id_(id),
      devices_(devices.begin(), devices.end()),
      origin_(origin),
      source_(std::move(intermediate)) {
  fetch_devices();
}

Program::~Program() {
  for (auto callback = release_callbacks_.rbegin(); callback != release_callbacks_.rend(); ++callback) {
    (*callback)(handle());
  }
  context_->session().release_object(id_);
}

/// A driver may make a program for the whole devices instead of their sub-devices.
void Program::fetch_devices() {
  const auto is_root = [](const Device* device) { return device->parent() == nullptr; };
  // A link's devices are the requested devices.
  if (origin_ != ProgramOrigin::link && !std::all_of(devices_.begin(), devices_.end(), is_root)) {
    const auto reply = connection().call(wire::GetProgramDevices{id_});
    if (reply && reply->error == CL_SUCCESS) {
      std::vector<Device*> found;
      for (const wire::DeviceIndex index : reply->devices) {
        for (Device* device : devices_) {
          while (device != nullptr && device->index() != index) device = device->parent();
          if (device == nullptr) continue;
          found.push_back(device);
          break;
        }
      }
      if (!found.empty()) devices_ = std::move(found);
    }
  }
  held_devices_ = holds_on(devices_);
  builds_.resize(devices_.size());
}

std::optional<std::size_t> Program::position_of(const Device& device) const {
  for (const Device* whole = &device; whole != nullptr; whole = whole->parent()) {
    const auto found = std::find(devices_.begin(), devices_.end(), whole);
    if (found != devices_.end()) return static_cast<std::size_t>(found - devices_.begin());
  }
  return std::nullopt;
}

void Program::add_release_callback(std::function<void(cl_program)> callback) {
  const std::lock_guard lock(mutex_);
  release_callbacks_.push_back(std::move(callback));
}

// ---- results of builds

Program::Build Program::build_of(const Device& device) const {
  const auto position = position_of(device);
  const std::lock_guard lock(mutex_);
  return position ? builds_[*position] : Build{};
}

bool Program::is_built_for(const Device& device) const {
  if (!has_device(device)) return false;
  const Build build = build_of(device);
  // Built-in kernels need no build. A driver that wants one refuses kernels by itself.
  if (origin_ == ProgramOrigin::built_in_kernels && build.status == CL_BUILD_NONE) return true;
  return build.status == CL_BUILD_SUCCESS && build.executable;
}

bool Program::is_built() const {
  return std::any_of(devices_.begin(), devices_.end(),
                     [this](const Device* device) { return is_built_for(*device); });
}

bool Program::describes_arguments() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(builds_.begin(), builds_.end(),
                     [](const Build& build) { return build.describes_arguments; });
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
  await_builds();
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

cl_int Program::worker_info(cl_program_info param, InfoSink sink) {
  await_builds();
  const auto reply = connection().call(wire::GetProgramInfo{id_, param});
  return reply ? sink.reply(*reply) : kSessionLost;
}

cl_int Program::kernel_names(InfoSink sink) {
  const auto table = kernels();
  if (table == nullptr) return CL_INVALID_PROGRAM_EXECUTABLE;
  std::string names;
  for (const wire::KernelDescription& kernel : *table) {
    if (!names.empty()) names += ';';
    names += kernel.name;
  }
  return sink.string(names);
}

cl_int Program::binaries(InfoSink sink) {
  const std::size_t pointers = devices_.size() * sizeof(unsigned char*);
  if (sink.size_ret != nullptr) *sink.size_ret = pointers;
  if (sink.value == nullptr) return CL_SUCCESS;
  if (sink.size < pointers) return CL_INVALID_VALUE;
  await_builds();
  const auto sizes = connection().call(wire::GetProgramInfo{id_, CL_PROGRAM_BINARY_SIZES});
  const auto all = connection().call(wire::GetProgramInfo{id_, CL_PROGRAM_BINARIES});
  if (!sizes || !all) return kSessionLost;
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

cl_int Program::info(cl_program_info param, InfoSink sink) {
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
      return origin_ == ProgramOrigin::source ? sink.string(source_) : worker_info(param, sink);
    case CL_PROGRAM_IL:
      return origin_ == ProgramOrigin::intermediate ? sink.bytes(source_.data(), source_.size())
                                                    : sink.bytes(nullptr, 0);
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

cl_int Program::build_info(const Device& device, cl_program_build_info param, InfoSink sink) {
  await_builds();
  const Build build = build_of(device);
  switch (param) {
    case CL_PROGRAM_BUILD_STATUS:
      return sink.scalar(build.status);
    case CL_PROGRAM_BUILD_OPTIONS:
      return sink.string(build.options);
    default: {
      auto reply = connection().call(wire::GetProgramBuildInfo{id_, device.index(), param});
      if (!reply) return kSessionLost;
      if (param == CL_PROGRAM_BUILD_LOG && reply->error == CL_SUCCESS) {
        const auto remark = std::as_bytes(std::span(build.remark));
        reply->value.insert(reply->value.begin(), remark.begin(), remark.end());
      }
      return sink.reply(*reply);
    }
  }
}

}  // namespace fairgv::icd
