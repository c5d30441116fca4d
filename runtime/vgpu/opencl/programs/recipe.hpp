// How the application made a program from OpenCL C, so that it can be made once more, from rewritten sources
// (docs/SLICING.md).
#pragma once

#include <CL/cl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/vgpu/opencl/handles.hpp"
#include "runtime/vgpu/opencl/programs/include_files.hpp"

namespace fairgv::vgpu::opencl {

using SourceText = std::shared_ptr<const std::string>;

struct Recipe {
  enum class Step { build, compile, link };
  struct Header {
    std::string name;
    SourceText source;
  };

  Step step = Step::build;
  SourceText source{};                                  // of build and compile
  std::vector<Header> headers{};                        // of compile
  std::vector<std::shared_ptr<const Recipe>> inputs{};  // of link
  std::vector<cl_device_id> devices{};                  // empty: all of the context's
  std::string options{};
  std::shared_ptr<const IncludeFiles> includes{};  // null: none
  std::size_t steps = 1;  // of it and of all its inputs: they may share theirs, so it may be beyond counting
};

/// A program that takes more steps has no recipe: all of them are repeated.
inline constexpr std::size_t kMostSteps = 1000;

/// Why launches of the program must run whole, as far as its sources show.
std::optional<std::string_view> why_not_sliceable(const Recipe& recipe);

/// The program for parts of launches in so many dimensions; empty if the driver does not make it. For the
/// slow lane.
ProgramHandle make_sliceable(const Recipe& recipe, cl_context context, std::uint32_t dimensions);

/// `options` without this one, wherever it stands by itself.
std::string without_option(std::string_view options, std::string_view option);

}  // namespace fairgv::vgpu::opencl
