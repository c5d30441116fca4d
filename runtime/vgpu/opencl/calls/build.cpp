// Building, compiling and linking programs: on the slow lane, one after the other.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/vgpu/opencl/handlers.hpp"

namespace fairgv::vgpu::opencl {
namespace {

/// The common part of all three. Handles are taken on the loop thread, which owns the programs.
struct Job {
  std::vector<std::shared_ptr<Program>> programs;  // that are used, kept alive
  cl_int error = CL_SUCCESS;                       // of the first poisoned one
  std::vector<cl_device_id> devices;
  std::string options;
  std::shared_ptr<const IncludeFiles> includes;
  std::shared_ptr<IncludeFailure> include_failure;

  cl_program use(std::shared_ptr<Program> program) {
    if (error == CL_SUCCESS) error = program->error;
    return programs.emplace_back(std::move(program))->handle.get();
  }
  cl_uint device_count() const { return static_cast<cl_uint>(devices.size()); }
  const cl_device_id* device_list() const { return devices.empty() ? nullptr : devices.data(); }

  /// Takes the files that were sent for this build of `program`.
  Result<void> take_includes(Program& program, std::string_view directory) {
    program.include_failure.reset();
    if (program.includes == nullptr) return {};
    if (auto complete = program.includes->complete(directory, options); !complete) return complete;
    includes = std::move(program.includes);
    include_failure = program.include_failure = std::make_shared<IncludeFailure>(0);
    return {};
  }
};

/// The front end wants to know arguments' types, and some drivers keep them only if asked. `refusal` is what
/// such a driver says that does not know the option.
template <class Function>
cl_int with_argument_info(const std::string& options, cl_int refusal, Function function) {
  const cl_int error = function((options + " -cl-kernel-arg-info").c_str());
  return error == refusal ? function(options.c_str()) : error;
}

/// A program cannot be built while it has kernels. The front end has seen to it that the application has
/// released them, but a command that has just ended may keep one for a moment, here or in the driver.
constexpr auto kKernelsLinger = std::chrono::seconds(1);
constexpr auto kLookAgain = std::chrono::microseconds(100);

/// In drivers kernels hold their program.
bool has_kernels(cl_program program) {
  cl_uint references = 0;
  const cl_int error =
      clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(references), &references, nullptr);
  return error == CL_SUCCESS && references > 1;
}

template <class Function>
cl_int once_kernels_are_gone(cl_program program, Function function) {
  const auto patience_ends = std::chrono::steady_clock::now() + kKernelsLinger;
  for (;;) {
    // Looked at before: the last one may go while the driver answers.
    const bool kernels = has_kernels(program);
    const cl_int error = function();
    const bool wait = error == CL_INVALID_OPERATION && kernels;
    if (!wait || std::chrono::steady_clock::now() >= patience_ends) return error;
    std::this_thread::sleep_for(kLookAgain);
  }
}

struct Build : Job {
  cl_program program = nullptr;

  cl_int operator()() const {
    if (error != CL_SUCCESS) return error;
    const IncludeFolder folder(includes, include_failure.get());
    return once_kernels_are_gone(program, [&] {
      return with_argument_info(folder.options(options), CL_INVALID_BUILD_OPTIONS, [this](const char* with) {
        return clBuildProgram(program, device_count(), device_list(), with, nullptr, nullptr);
      });
    });
  }
};

struct Compile : Job {
  cl_program program = nullptr;
  std::vector<cl_program> headers;
  std::vector<std::string> header_names;

  cl_int operator()() const {
    if (error != CL_SUCCESS) return error;
    std::vector<const char*> names;
    for (const std::string& name : header_names) names.push_back(name.c_str());
    const IncludeFolder folder(includes, include_failure.get());
    return once_kernels_are_gone(program, [&] {
      return with_argument_info(folder.options(options), CL_INVALID_COMPILER_OPTIONS, [&](const char* with) {
        return clCompileProgram(program, device_count(), device_list(), with,
                                static_cast<cl_uint>(headers.size()),
                                headers.empty() ? nullptr : headers.data(),
                                names.empty() ? nullptr : names.data(), nullptr, nullptr);
      });
    });
  }
};

struct Link : Job {
  std::shared_ptr<Context> context;
  std::vector<cl_program> inputs;
  std::shared_ptr<Linked> result;

  cl_int operator()() const {
    cl_int ended = error != CL_SUCCESS ? error : context->error;
    if (ended == CL_SUCCESS) {
      // Without options a driver has no reason to withhold the arguments' types.
      result->handle = ProgramHandle(clLinkProgram(
          context->handle.get(), device_count(), device_list(), options.empty() ? nullptr : options.c_str(),
          static_cast<cl_uint>(inputs.size()), inputs.data(), nullptr, nullptr, &ended));
    }
    // A program that did not link has a log.
    result->error = result->handle ? CL_SUCCESS : ended;
    result->done.store(true, std::memory_order_release);
    return ended;
  }
};

}  // namespace

template <class Job>
Result<void> Handlers::run_build(wire::EventId completion, Job job) {
  FAIRGV_TRY(node, executor_.begin_host_work(completion));
  slow_lane_.run([this, node = std::move(node).value(), job = std::move(job)] {
    executor_.end_host_work(*node, job());
  });
  return {};
}

std::shared_ptr<SlicedProgram> Handlers::sliced_program(const Program& program) {
  if (!program.recipe) return nullptr;
  return std::make_shared<SlicedProgram>(program.context, program.recipe, [this](std::function<void()> job) {
    slow_lane_.run([this, job = std::move(job)] {
      job();
      executor_.reconsider();
    });
  });
}

Result<void> Handlers::handle(const wire::ProvideIncludes& call) {
  FAIRGV_TRY(program, this->program(call.program));
  auto& includes = program.value()->includes;
  if (includes == nullptr) includes = std::make_shared<IncludeFiles>();
  return includes->add(call);
}

Result<void> Handlers::handle(const wire::BuildProgram& call) {
  FAIRGV_TRY(program, this->program(call.program));
  FAIRGV_TRY(ids, driver_.ids(call.devices));
  Build build;
  build.program = build.use(std::move(program).value());
  build.devices = std::move(ids).value();
  build.options = call.options;
  Program& built = *build.programs.front();
  if (auto taken = build.take_includes(built, call.directory); !taken) return taken;
  built.recipe = built.source ? std::make_shared<const Recipe>(Recipe{.step = Recipe::Step::build,
                                                                      .source = built.source,
                                                                      .devices = build.devices,
                                                                      .options = build.options,
                                                                      .includes = build.includes})
                              : nullptr;
  built.sliced = sliced_program(built);
  return run_build(call.completion, std::move(build));
}

Result<void> Handlers::handle(const wire::CompileProgram& call) {
  FAIRGV_TRY(program, this->program(call.program));
  FAIRGV_TRY(ids, driver_.ids(call.devices));
  Compile compile;
  compile.program = compile.use(std::move(program).value());
  compile.devices = std::move(ids).value();
  compile.options = call.options;
  if (auto taken = compile.take_includes(*compile.programs.front(), call.directory); !taken) return taken;
  Recipe recipe{.step = Recipe::Step::compile,
                .source = compile.programs.front()->source,
                .devices = compile.devices,
                .options = compile.options,
                .includes = compile.includes};
  bool repeatable = recipe.source != nullptr;
  for (const wire::Header& header : call.headers) {
    FAIRGV_TRY(source, this->program(header.program));
    recipe.headers.push_back({header.name, source.value()->source});
    repeatable = repeatable && source.value()->source;
    compile.headers.push_back(compile.use(std::move(source).value()));
    compile.header_names.push_back(header.name);
  }
  compile.programs.front()->recipe = repeatable ? std::make_shared<const Recipe>(std::move(recipe)) : nullptr;
  return run_build(call.completion, std::move(compile));
}

Result<void> Handlers::handle(const wire::LinkProgram& call) {
  FAIRGV_TRY(context, objects_.get<Context>(call.context));
  FAIRGV_TRY(ids, driver_.ids(call.devices));
  if (call.inputs.empty()) return Error{"a link of nothing"};
  Link link;
  link.devices = std::move(ids).value();
  link.options = call.options;
  Recipe recipe{.step = Recipe::Step::link, .devices = link.devices, .options = link.options};
  for (const wire::ObjectId id : call.inputs) {
    FAIRGV_TRY(input, this->program(id));
    if (input.value()->recipe) recipe.steps += input.value()->recipe->steps;
    recipe.inputs.push_back(input.value()->recipe);
    link.inputs.push_back(link.use(std::move(input).value()));
  }
  link.context = std::move(context).value();
  link.result = std::make_shared<Linked>();

  auto made = std::make_shared<Program>();
  made->context = link.context;
  made->error = CL_INVALID_PROGRAM_EXECUTABLE;  // until it is linked
  made->linking = link.result;
  const auto unknown = std::find(recipe.inputs.begin(), recipe.inputs.end(), nullptr);
  const bool repeatable = unknown == recipe.inputs.end() && recipe.steps <= kMostSteps;
  if (repeatable) made->recipe = std::make_shared<const Recipe>(std::move(recipe));
  made->sliced = sliced_program(*made);
  if (auto inserted = objects_.insert(call.id, std::move(made)); !inserted) return inserted;
  return run_build(call.completion, std::move(link));
}

}  // namespace fairgv::vgpu::opencl
