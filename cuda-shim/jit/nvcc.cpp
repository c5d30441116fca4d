#include "cuda-shim/jit/nvcc.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "cuda-shim/jit/device.hpp"
#include "cuda-shim/redirect/say.hpp"

namespace fairgv::jit {
namespace {

/// The value of an option that is written as two words or with "=" in between; moves `at` to its last word.
std::optional<std::string> value_of(const std::vector<std::string>& arguments, std::size_t& at,
                                    std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const std::string& word = arguments[at];
    if (word == name && at + 1 < arguments.size()) return arguments[++at];
    if (word.starts_with(std::string(name) + "=")) return word.substr(name.size() + 1);
  }
  return std::nullopt;
}

/// nvcc names its output after its input, in the current folder.
std::string output_for(const std::string& input) {
  const std::string name = input.substr(input.find_last_of('/') + 1);
  return name.substr(0, name.find_last_of('.')) + ".cubin";
}

}  // namespace

std::optional<NvccCall> ptx_call(const std::vector<std::string>& arguments) {
  NvccCall call;
  bool makes_machine_code = false;
  std::vector<std::string> inputs;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (i > 0 && (word == "-cubin" || word == "--cubin")) {
      makes_machine_code = true;
      call.arguments.emplace_back("--ptx");
      continue;
    }
    const std::size_t first = i;
    if (auto output = value_of(arguments, i, {"-o", "--output-file"})) {
      call.output = std::move(*output);
    } else if (i > 0 && !word.starts_with("-") && word.ends_with(".cu")) {
      inputs.push_back(word);
    }
    call.arguments.insert(call.arguments.end(), arguments.begin() + static_cast<std::ptrdiff_t>(first),
                          arguments.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
  if (!makes_machine_code || inputs.size() != 1) return std::nullopt;
  if (call.output.empty()) {
    call.output = output_for(inputs[0]);
    call.arguments.insert(call.arguments.end(), {"-o", call.output});
  }
  return call;
}

void run_nvcc(const std::vector<std::string>& arguments) {
  const auto call = ptx_call(arguments);
  if (!call || !is_software_device()) return;
  std::vector<char*> words;
  for (const std::string& word : call->arguments) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::array<char, 4096> program{};
  if (::readlink("/proc/self/exe", program.data(), program.size() - 1) <= 0) return;
  pid_t child = -1;
  if (const int code = ::posix_spawn(&child, program.data(), nullptr, nullptr, words.data(), environ);
      code != 0) {
    redirect::say(std::string("nvcc cannot be started to make PTX for the software device: ") +
                  std::strerror(code));
    return;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status)) ::_exit(1);
  // A program that takes it for machine code loads it as it is, and PTX in memory ends with a zero.
  if (WEXITSTATUS(status) == 0 && !(std::ofstream(call->output, std::ios::binary | std::ios::app) << '\0'))
    ::_exit(1);
  ::_exit(WEXITSTATUS(status));
}

}  // namespace fairgv::jit
