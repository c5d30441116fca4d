// Building, compiling and linking: each a message to the worker's slow lane, and an event that shows its end.
// Before a build or a compilation the worker is sent the files that it may include.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <numeric>

#include "icd/programs/program.hpp"

namespace fairgv::icd {
namespace {

/// The working folder; the root folder if the working folder has no path here any more.
std::string working_directory() {
  std::array<char, PATH_MAX> path{};
  const bool has_path = ::getcwd(path.data(), path.size()) != nullptr && path.front() == '/';
  return has_path ? std::string(path.data()) : "/";
}

/// The most bytes in one message, so that a small arena has room for each message.
constexpr std::size_t kMostIncludeBytes = std::size_t{256} << 10;

/// Hands ProvideIncludes messages one after the other to a function, until it returns false.
class IncludeMessages {
 public:
  explicit IncludeMessages(wire::ObjectId program) { message_.program = program; }

  template <class Send>
  bool add(wire::IncludePlace place, const Send& send) {
    message_.places.push_back(place);
    bytes_ += place.path.size() + place.contents.size();
    return bytes_ < kMostIncludeBytes || flush(send);
  }
  template <class Send>
  bool end(std::span<const std::uint32_t> absolute_options, bool names_root, const Send& send) {
    message_.absolute_options = absolute_options;
    message_.names_root = names_root ? 1 : 0;
    return flush(send);
  }

 private:
  template <class Send>
  bool flush(const Send& send) {
    const bool sent = send(message_);
    message_.places.clear();
    bytes_ = 0;
    return sent;
  }

  wire::ProvideIncludes message_;
  std::size_t bytes_ = 0;
};

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
                    std::function<void()> notify, const Includes& includes) {
  Build build{CL_BUILD_IN_PROGRESS, options == nullptr ? "" : options};
  build.remark = includes.found.remark;
  build.executable =
      step == BuildStep::build || (step == BuildStep::link && !has_option(build.options, "-create-library"));
  // Without any options, drivers report what they know.
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
  call.options = includes.found.files.empty() ? build.options : includes.sent_options;
  call.completion = end->id();
  if (!send_includes(includes) || !connection().send(call)) return end_build(*end, kSessionLost);
  if (!notify) {
    const std::int32_t status = end->wait();
    return end_build(*end, connection().session().lost() ? kSessionLost : status);
  }
  const auto ended = [self = Ref<Program>(*this), end, notify = std::move(notify)](std::int32_t status) {
    self->end_build(*end, status);
    notify();
  };
  if (connection().callbacks().add(*end, CL_COMPLETE, ended)) return CL_SUCCESS;
  return end_build(*end, CL_OUT_OF_RESOURCES);
}

Program::Includes Program::collect_includes(const char* options,
                                            std::span<const EmbeddedHeader> headers) const {
  Includes result;
  result.directory = working_directory();
  if (!connection().session().facts().takes_includes) return result;
  const std::string_view given = options == nullptr ? "" : options;
  result.options = includes::read_file_options(given);
  includes::Collector collector(result.directory, result.options);
  const auto add = [&](const Program& program) {
    if (program.origin_ == ProgramOrigin::source) collector.add_source(program.source_);
  };
  add(*this);
  for (const EmbeddedHeader& header : headers) add(*header.program);
  result.found = std::move(collector).collect();
  result.sent_options = includes::with_paths_below(wire::kIncludeRoot, given, result.found.path_macros,
                                                   result.options.absolute);
  if (result.found.may_print) connection().session().kernel_output().expect();
  return result;
}

bool Program::send_includes(const Includes& includes) {
  const includes::Collection& found = includes.found;
  if (found.files.empty()) return true;  // then the driver's search order does not matter
  IncludeMessages messages(id_);
  using Place = wire::IncludePlace;
  const auto send = [this](const wire::ProvideIncludes& message) { return connection().send(message); };
  for (const std::string& folder : found.ways.folders) {
    if (!messages.add(Place{Place::folder, folder, {}}, send)) return false;
  }
  for (const includes::File& file : found.files) {
    if (!messages.add(Place{Place::file, file.path, file.text}, send)) return false;
  }
  for (const auto& [path, end] : found.ways.links) {
    if (!messages.add(Place{Place::link, path, end}, send)) return false;
  }
  return messages.end(includes.options.absolute, found.names_absolute_path, send);
}

cl_int Program::build(std::span<Device* const> devices, const char* options, std::function<void()> notify) {
  const Includes includes = collect_includes(options, {});
  wire::BuildProgram call;
  call.program = id_;
  call.directory = includes.directory;
  return run(BuildStep::build, devices, options, call, std::move(notify), includes);
}

cl_int Program::compile(std::span<Device* const> devices, const char* options,
                        std::span<const EmbeddedHeader> headers, std::function<void()> notify) {
  if (!has_source()) return CL_INVALID_OPERATION;
  const Includes includes = collect_includes(options, headers);
  wire::CompileProgram call;
  call.program = id_;
  call.directory = includes.directory;
  for (const EmbeddedHeader& header : headers) call.headers.push_back({header.program->id(), header.name});
  return run(BuildStep::compile, devices, options, call, std::move(notify), includes);
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
