#include "slicing/opencl_c.hpp"

#include <algorithm>
#include <array>

#include "slicing/prelude_text.hpp"
#include "slicing/source_words.hpp"

namespace fairgv::slicing {
namespace {

constexpr std::array<std::string_view, 7> kRewritten = {
    "get_work_dim", "get_global_size",   "get_global_id",        "get_num_groups",
    "get_group_id", "get_global_offset", "get_global_linear_id",
};

constexpr std::array<std::string_view, 2> kDeviceQueue = {"enqueue_kernel", "enqueue_marker"};

constexpr std::array<std::string_view, 3> kAssembly = {"asm", "__asm", "__asm__"};

// Compilers' own names for the values of the work-item functions.
constexpr std::array<std::string_view, 7> kBeneathOpenClC = {"__builtin_amdgcn_workgroup_id_",
                                                             "__builtin_amdgcn_grid_size_",
                                                             "__builtin_amdgcn_dispatch_ptr",
                                                             "__builtin_amdgcn_implicitarg_ptr",
                                                             "__nvvm_read_ptx_sreg_",
                                                             "__ockl_get_",
                                                             "__spirv_"};

template <std::size_t size>
bool contains(const std::array<std::string_view, size>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string prelude(std::uint32_t dimensions) {
  const std::string number = std::to_string(dimensions);
  return "#ifndef __FAIRGV_DIMENSIONS\n#define __FAIRGV_DIMENSIONS " + number + "\n#endif\n" +
         std::string(kPreludeText) + "#line 1\n";
}

std::string sliceable_source(std::string_view source, std::uint32_t dimensions) {
  return prelude(dimensions).append(source);
}

std::optional<std::string_view> why_not_sliceable(std::string_view source) {
  SourceWords words(source);
  std::string_view before;
  while (const auto word = words.next()) {
    if (contains(kDeviceQueue, *word)) return "it enqueues kernels on the device";
    // read_pipe, work_group_commit_write_pipe, and similar names.
    if (word->ends_with("read_pipe") || word->ends_with("write_pipe")) return "it uses pipes";
    if (contains(kAssembly, *word)) return "it has inline assembly";
    const bool names_macro = before == "define" || before == "undef";
    if (names_macro && contains(kRewritten, *word)) return "it redefines a work-item function";
    const auto begins_word = [&](std::string_view prefix) { return word->starts_with(prefix); };
    if (std::any_of(kBeneathOpenClC.begin(), kBeneathOpenClC.end(), begins_word)) {
      return "it reads work-group numbers past OpenCL C";
    }
    before = *word;
  }
  return std::nullopt;
}

}  // namespace fairgv::slicing
