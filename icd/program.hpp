// A program object: its source or binaries, its builds, and the table of its kernels.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "icd/context.hpp"
#include "icd/event.hpp"
#include "icd/info.hpp"
#include "icd/object.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::icd {

/// The kernels of one build; shared by the kernel objects made from it.
using KernelTable = std::vector<wire::KernelDescription>;

class Program : public Object<Program> {
 public:
  using Handle = cl_program;
  static constexpr Kind kKind = Kind::program;
  static constexpr bool kSurvivesFork = false;

  /// A program from source, for all devices of the context.
  Program(Context& context, std::string source);
  /// A program from binaries that the worker has accepted under `id`.
  Program(Context& context, wire::ObjectId id, std::vector<Device*> devices);
  /// Calls the release callbacks, the latest first.
  ~Program();

  Context& context() const { return *context_; }
  Connection& connection() const { return context_->connection(); }
  wire::ObjectId id() const { return id_; }
  std::span<Device* const> devices() const { return devices_; }
  bool has_device(const Device& device) const;

  /// clBuildProgram for some of the program's devices (none: all). Waits for the end of the build, unless
  /// `notify` is given, which is then called from the notice thread.
  cl_int build(std::span<Device* const> devices, std::string options, std::function<void()> notify);

  /// Whether kernels can be made for the device.
  bool is_built_for(const Device& device) const;
  /// Whether the latest build succeeded for any device.
  bool is_built() const;
  /// Whether work-groups may be of different sizes: only programs of OpenCL C 2.0 and later that did not
  /// promise otherwise (OpenCL 3.0, 5.8).
  bool allows_non_uniform_groups() const;

  /// Kernels of the latest build; null if it failed, or the session is lost.
  std::shared_ptr<const KernelTable> kernels();

  // Kernel objects count themselves: a program with kernels cannot be built again.
  void attach_kernel() { attached_kernels_.fetch_add(1, std::memory_order_relaxed); }
  void detach_kernel() { attached_kernels_.fetch_sub(1, std::memory_order_relaxed); }

  void add_release_callback(std::function<void(cl_program)> callback);

  /// clGetProgramInfo and clGetProgramBuildInfo.
  cl_int info(cl_program_info param, const InfoSink& sink);
  cl_int build_info(const Device& device, cl_program_build_info param, const InfoSink& sink);

 private:
  struct Build {
    cl_build_status status = CL_BUILD_NONE;
    std::string options;
  };

  cl_int start_build(std::span<Device* const> devices, const std::string& options);
  cl_int end_build(std::span<Device* const> devices, std::int32_t status);
  Build build_of(const Device& device) const;
  cl_int kernel_names(const InfoSink& sink);
  cl_int binaries(const InfoSink& sink);
  cl_int worker_info(cl_program_info param, const InfoSink& sink);

  const Ref<Context> context_;
  const wire::ObjectId id_;
  const std::vector<Device*> devices_;
  const std::string source_;
  const bool from_source_;
  std::atomic<std::uint32_t> attached_kernels_{0};

  mutable std::mutex mutex_;   // guards what follows
  std::vector<Build> builds_;  // of devices_
  std::shared_ptr<const KernelTable> kernels_;
  std::vector<std::function<void(cl_program)>> release_callbacks_;
};

}  // namespace fairgv::icd
