// A program object: its origin, its builds, and the table of its kernels.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "icd/includes/collector.hpp"
#include "icd/objects/context.hpp"
#include "icd/objects/event.hpp"
#include "icd/objects/info.hpp"
#include "icd/objects/object.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::icd {

/// The kernels of one build; shared by the kernel objects made from it.
using KernelTable = std::vector<wire::KernelDescription>;

/// The origin of a program.
enum class ProgramOrigin { source, binary, intermediate, built_in_kernels, link };

/// The work of the worker's slow lane on a program.
enum class BuildStep { build, compile, link };

class Program;

/// A program whose source other programs include by this name (clCompileProgram).
struct EmbeddedHeader {
  const Program* program;
  const char* name;
};

class Program : public Object<Program> {
 public:
  using Handle = cl_program;
  static constexpr Kind kKind = Kind::program;
  static constexpr bool kSurvivesFork = false;

  /// A program from source, for all devices of the context.
  Program(Context& context, std::string source);
  /// A program that the worker knows by `id`. `intermediate`: the code that it was made from, if any.
  Program(Context& context, wire::ObjectId id, std::span<Device* const> devices, ProgramOrigin origin,
          std::string intermediate = {});
  /// Calls the release callbacks, the latest first.
  ~Program();

  Context& context() const { return *context_; }
  Connection& connection() const { return context_->connection(); }
  wire::ObjectId id() const { return id_; }
  std::span<Device* const> devices() const { return devices_; }
  /// Whether the device, or the device that it is part of, is one of the program's devices.
  bool has_device(const Device& device) const { return position_of(device).has_value(); }
  /// Whether it was made from something that can be compiled.
  bool has_source() const {
    return origin_ == ProgramOrigin::source || origin_ == ProgramOrigin::intermediate;
  }

  // Building (program_build.cpp). Each is for some of the program's devices (none: all) and waits for the
  // end, unless `notify` is given, which is then called from the notice thread. `options` may be null. Calls
  // that depend on the result of a build wait for builds under way: with some drivers a build ends before the
  // call returns, callback or not, and programs rely on it.

  /// clBuildProgram.
  cl_int build(std::span<Device* const> devices, const char* options, std::function<void()> notify);
  /// clCompileProgram. The headers are alive.
  cl_int compile(std::span<Device* const> devices, const char* options,
                 std::span<const EmbeddedHeader> headers, std::function<void()> notify);
  /// clLinkProgram, for a program of ProgramOrigin::link; once.
  cl_int link(std::span<Device* const> devices, const char* options, std::span<Program* const> inputs,
              std::function<void()> notify);
  /// Whether the program can be linked, because it has been compiled or linked to a library. Asks the worker
  /// about binaries.
  bool is_linkable();
  /// Whether the driver made no program at all when it failed to link.
  bool is_unmade();

  /// Whether kernels can be made for the device.
  bool is_built_for(const Device& device) const;
  /// Whether kernels can be made for any device.
  bool is_built() const;
  /// Whether the application asked to keep the answers of clGetKernelArgInfo.
  bool describes_arguments() const;
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
  cl_int info(cl_program_info param, InfoSink sink);
  cl_int build_info(const Device& device, cl_program_build_info param, InfoSink sink);

 private:
  struct Build {
    cl_build_status status = CL_BUILD_NONE;
    std::string options;
    bool executable = false;  // once it succeeds: neither a compiled object nor a library
    bool describes_arguments = false;
    std::string remark{};  // of ours, before the driver's log
  };

  /// Files of the program that a build may include.
  struct Includes {
    std::string directory;  // the working folder
    includes::FileOptions options;
    std::string sent_options;
    includes::Collection found;
  };

  struct BuildUnderWay {
    Ref<Event> end;
    std::vector<std::size_t> positions;  // in builds_
  };

  std::optional<std::size_t> position_of(const Device& device) const;
  void fetch_devices();
  template <class Call>
  cl_int run(BuildStep step, std::span<Device* const> devices, const char* options, Call& call,
             std::function<void()> notify, const Includes& includes = {});
  /// Reads the files that this program's source and the headers' sources may include.
  Includes collect_includes(const char* options, std::span<const EmbeddedHeader> headers) const;
  bool send_includes(const Includes& includes);
  /// Waits until no build is under way, then claims the program for this build and makes the event of the
  /// build's end. The worker is told of this event, because it must know the event when it is released.
  cl_int start_build(const std::vector<std::size_t>& positions, const Build& build, Ref<Event>& end);
  /// Ends the build and returns its result. The first thread to know the result sets it; later calls change
  /// nothing.
  cl_int end_build(const Event& end, std::int32_t status);
  /// Returns once the builds under way have ended. Waits for the worker, not for the notice thread: callbacks
  /// may ask as well.
  void await_builds();
  bool await_build_under_way();
  Build build_of(const Device& device) const;
  cl_int kernel_names(InfoSink sink);
  cl_int binaries(InfoSink sink);
  cl_int worker_info(cl_program_info param, InfoSink sink);

  const Ref<Context> context_;
  const wire::ObjectId id_;
  std::vector<Device*> devices_;  // constant after construction, like the next
  std::vector<Ref<Device>> held_devices_;
  const ProgramOrigin origin_;
  const std::string source_;  // or intermediate code
  std::atomic<std::uint32_t> attached_kernels_{0};

  mutable std::mutex mutex_;   // guards the members below
  std::vector<Build> builds_;  // of devices_
  std::vector<BuildUnderWay> under_way_;
  std::shared_ptr<const KernelTable> kernels_;
  std::vector<std::function<void(cl_program)>> release_callbacks_;
};

}  // namespace fairgv::icd
