#include "runtime/vgpu/opencl/programs/recipe.hpp"

#include "slicing/opencl_c.hpp"
#include "slicing/program_variables.hpp"

namespace fairgv::vgpu::opencl {
namespace {

ProgramHandle with_source(cl_context context, const std::string& source) {
  const char* text = source.data();
  const std::size_t length = source.size();
  cl_int error = CL_SUCCESS;
  return ProgramHandle(clCreateProgramWithSource(context, 1, &text, &length, &error));
}

/// -w would hide that the prelude and the program's own macros are at odds.
std::string build_options(const Recipe& recipe, const IncludeFolder& folder) {
  return without_option(folder.options(recipe.options), "-w");
}

cl_uint device_count(const Recipe& recipe) {
  return static_cast<cl_uint>(recipe.devices.size());
}

const cl_device_id* device_list(const Recipe& recipe) {
  return recipe.devices.empty() ? nullptr : recipe.devices.data();
}

ProgramHandle compile(const Recipe& recipe, cl_context context, std::uint32_t dimensions) {
  ProgramHandle program = with_source(context, slicing::sliceable_source(*recipe.source, dimensions));
  if (!program) return program;
  std::vector<ProgramHandle> headers;
  std::vector<cl_program> handles;
  std::vector<const char*> names;
  for (const Recipe::Header& header : recipe.headers) {
    handles.push_back(headers.emplace_back(with_source(context, *header.source)).get());
    names.push_back(header.name.c_str());
  }
  const IncludeFolder folder(recipe.includes);
  const cl_int error = clCompileProgram(
      program.get(), device_count(recipe), device_list(recipe), build_options(recipe, folder).c_str(),
      static_cast<cl_uint>(handles.size()), handles.empty() ? nullptr : handles.data(),
      names.empty() ? nullptr : names.data(), nullptr, nullptr);
  return error == CL_SUCCESS ? std::move(program) : ProgramHandle();
}

ProgramHandle build(const Recipe& recipe, cl_context context, std::uint32_t dimensions) {
  ProgramHandle program = with_source(context, slicing::sliceable_source(*recipe.source, dimensions));
  if (!program) return program;
  const IncludeFolder folder(recipe.includes);
  const cl_int error = clBuildProgram(program.get(), device_count(recipe), device_list(recipe),
                                      build_options(recipe, folder).c_str(), nullptr, nullptr);
  return error == CL_SUCCESS ? std::move(program) : ProgramHandle();
}

ProgramHandle link(const Recipe& recipe, cl_context context, std::uint32_t dimensions) {
  std::vector<ProgramHandle> inputs;
  std::vector<cl_program> handles;
  for (const auto& input : recipe.inputs) {
    handles.push_back(inputs.emplace_back(make_sliceable(*input, context, dimensions)).get());
    if (handles.back() == nullptr) return {};
  }
  cl_int error = CL_SUCCESS;
  ProgramHandle program(clLinkProgram(context, device_count(recipe), device_list(recipe),
                                      recipe.options.c_str(), static_cast<cl_uint>(handles.size()),
                                      handles.data(), nullptr, nullptr, &error));
  return error == CL_SUCCESS ? std::move(program) : ProgramHandle();
}

}  // namespace

std::optional<std::string_view> why_not_sliceable(const Recipe& recipe) {
  std::optional<std::string_view> why;
  const bool variables = slicing::may_have_program_variables(recipe.options);
  const auto look_for_variables = [&](std::string_view text) {
    if (!why && variables && slicing::may_define_variables(text)) {
      why = "its program may have variables outside its functions";
    }
  };
  const auto look_at = [&](const std::string& source) {
    if (!why) why = slicing::why_not_sliceable(source);
    look_for_variables(source);
  };
  if (recipe.source) look_at(*recipe.source);
  for (const Recipe::Header& header : recipe.headers) look_at(*header.source);
  // Some of these may not be included at all. Their other effects show in the build of the rewritten program.
  if (recipe.includes) {
    for (const std::string_view text : recipe.includes->texts()) look_for_variables(text);
  }
  for (const auto& input : recipe.inputs) {
    if (!why) why = why_not_sliceable(*input);
  }
  return why;
}

ProgramHandle make_sliceable(const Recipe& recipe, cl_context context, std::uint32_t dimensions) {
  switch (recipe.step) {
    case Recipe::Step::build:
      return build(recipe, context, dimensions);
    case Recipe::Step::compile:
      return compile(recipe, context, dimensions);
    case Recipe::Step::link:
      return link(recipe, context, dimensions);
  }
  return {};
}

std::string without_option(std::string_view options, std::string_view option) {
  std::string kept;
  bool quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= options.size(); ++i) {
    if (i < options.size() && options[i] == '"') quoted = !quoted;
    const bool ends = i == options.size() || (options[i] == ' ' && !quoted);
    if (!ends) continue;
    const std::string_view word = options.substr(begin, i - begin);
    begin = i + 1;
    if (word == option) continue;
    if (!kept.empty()) kept += ' ';
    kept += word;
  }
  return kept;
}

}  // namespace fairgv::vgpu::opencl
