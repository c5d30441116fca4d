// libfairgv-jit.so: the two functions by which the preloaded library reaches it
// (cuda-shim/redirect/compiler_functions.hpp).
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "cuda-shim/jit/nvcc.hpp"
#include "cuda-shim/jit/nvjitlink.hpp"
#include "cuda-shim/jit/nvrtc.hpp"
#include "cuda-shim/redirect/compiler_functions.hpp"

#define FAIRGV_JIT_EXPORT extern "C" __attribute__((visibility("default")))

FAIRGV_JIT_EXPORT void fairgv_jit_replace(fairgv::redirect::CompilerFunction* functions, std::size_t count) {
  const std::span all(functions, count);
  fairgv::jit::replace_nvrtc(all);
  fairgv::jit::replace_nvjitlink(all);
}

FAIRGV_JIT_EXPORT void fairgv_jit_nvcc(char** arguments) {
  std::vector<std::string> words;
  for (char** word = arguments; *word != nullptr; ++word) words.emplace_back(*word);
  fairgv::jit::run_nvcc(words);
}

static_assert(std::is_same_v<decltype(&fairgv_jit_replace), fairgv::redirect::ReplaceCompiler>);
static_assert(std::is_same_v<decltype(&fairgv_jit_nvcc), fairgv::redirect::RunNvcc>);
