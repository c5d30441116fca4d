// Programs and kernels. Builds run on the slow lane.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include "runtime/vgpu/opencl/backend.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// The process' working directory is elsewhere while this lives. For the slow lane only: one at a time.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const std::string& path)
      : before_(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    // A directory that the worker may not enter only breaks relative includes, which the build log will say.
    moved_ = before_ && !path.empty() && ::chdir(path.c_str()) == 0;
  }
  ~WorkingDirectory() {
    if (moved_) [[maybe_unused]]
      const int result = ::fchdir(before_.get());
  }
  WorkingDirectory(const WorkingDirectory&) = delete;
  WorkingDirectory& operator=(const WorkingDirectory&) = delete;

 private:
  ring::UniqueFd before_;
  bool moved_ = false;
};

struct Build {
  std::shared_ptr<Program> program;
  std::vector<cl_device_id> devices;
  std::string options;
  std::string directory;

  cl_int run() const {
    if (program->error != CL_SUCCESS) return program->error;
    const WorkingDirectory directory_of_application(directory);
    // The front end answers clGetKernelArgInfo itself, and some drivers keep it only if asked.
    const cl_int error = build(options + " -cl-kernel-arg-info");
    return error == CL_INVALID_BUILD_OPTIONS ? build(options) : error;
  }

 private:
  cl_int build(const std::string& with) const {
    return clBuildProgram(program->handle.get(), static_cast<cl_uint>(devices.size()),
                          devices.empty() ? nullptr : devices.data(), with.c_str(), nullptr, nullptr);
  }
};

}  // namespace

Result<void> Backend::handle(const wire::CreateProgramWithSource& call) {
  auto context = objects_.get<Context>(call.context);
  if (!context) return context.error();
  auto program = std::make_shared<Program>();
  program->context = std::move(context).value();
  program->error = program->context->error;
  if (program->error == CL_SUCCESS) {
    const char* text = call.source.data();
    const std::size_t length = call.source.size();
    program->handle = ProgramHandle(
        clCreateProgramWithSource(program->context->handle.get(), 1, &text, &length, &program->error));
  }
  return objects_.insert(call.id, std::move(program));
}

Result<wire::BinaryReply> Backend::handle(const wire::CreateProgramWithBinary& call) {
  auto context = objects_.get<Context>(call.context);
  if (!context) return context.error();
  const auto ids = driver_.ids(call.devices);
  if (!ids) return ids.error();
  if (call.sizes.size() != call.devices.size()) return Error{"not one binary for each device"};

  std::vector<std::size_t> lengths;
  std::vector<const unsigned char*> binaries;
  std::span<const std::byte> rest = call.binaries;
  for (const std::uint64_t size : call.sizes) {
    if (size > rest.size()) return Error{"binaries that are longer than the message"};
    lengths.push_back(size);
    binaries.push_back(reinterpret_cast<const unsigned char*>(rest.data()));
    rest = rest.subspan(size);
  }

  auto program = std::make_shared<Program>();
  program->context = std::move(context).value();
  program->error = program->context->error;
  wire::BinaryReply reply;
  reply.statuses.resize(call.devices.size());
  if (program->error == CL_SUCCESS) {
    program->handle = ProgramHandle(clCreateProgramWithBinary(
        program->context->handle.get(), static_cast<cl_uint>(ids.value().size()), ids.value().data(),
        lengths.data(), binaries.data(), reply.statuses.data(), &program->error));
  }
  reply.error = program->error;
  if (auto inserted = objects_.insert(call.id, std::move(program)); !inserted) return inserted.error();
  return reply;
}

Result<void> Backend::handle(const wire::BuildProgram& call) {
  auto program = objects_.get<Program>(call.program);
  if (!program) return program.error();
  auto ids = driver_.ids(call.devices);
  if (!ids) return ids.error();
  auto node = executor_.begin_host_work(call.completion);
  if (!node) return node.error();
  slow_lane_.run(
      [this, node = std::move(node).value(),
       build = Build{std::move(program).value(), std::move(ids).value(), std::string(call.options),
                     std::string(call.directory)}] { executor_.end_host_work(*node, build.run()); });
  return {};
}

Result<void> Backend::handle(const wire::CreateKernel& call) {
  auto program = objects_.get<Program>(call.program);
  if (!program) return program.error();
  auto kernel = std::make_shared<Kernel>();
  kernel->program = std::move(program).value();
  kernel->error = kernel->program->error;
  if (kernel->error == CL_SUCCESS) {
    kernel->handle = KernelHandle(
        clCreateKernel(kernel->program->handle.get(), std::string(call.kernel).c_str(), &kernel->error));
  }
  if (kernel->error == CL_SUCCESS) {
    kernel->error = clGetKernelInfo(kernel->handle.get(), CL_KERNEL_NUM_ARGS, sizeof(kernel->argument_count),
                                    &kernel->argument_count, nullptr);
  }
  return objects_.insert(call.id, std::move(kernel));
}

}  // namespace fairgv::vgpu::opencl
