#include "cuda-shim/jit/device.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace fairgv::jit {
namespace {

// The beginning of the software device's name (cuda-shim/softcuda/driver/device/device.cpp).
constexpr std::string_view kSoftwareDevice = "FairGV soft device";

/// The library that a program gets which opens the driver by its name. It is never closed.
void* driver() {
  static void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  return library;
}

/// Calls the driver's function of this name. -1 if there is none; else its CUresult.
template <typename... Arguments>
int call(const char* name, Arguments... arguments) {
  void* const found = driver() != nullptr ? ::dlsym(driver(), name) : nullptr;
  return found != nullptr ? reinterpret_cast<int (*)(Arguments...)>(found)(arguments...) : -1;
}

enum class Answer { kUnknown, kNo, kYes };

Answer ask() {
  int count = 0;
  if (call("cuDeviceGetCount", &count) != 0 &&
      (call("cuInit", 0U) != 0 || call("cuDeviceGetCount", &count) != 0))
    return Answer::kUnknown;
  for (int i = 0; i < count; ++i) {
    int device = 0;
    std::array<char, 256> name{};
    if (call("cuDeviceGet", &device, i) != 0 ||
        call("cuDeviceGetName", name.data(), static_cast<int>(name.size()), device) != 0)
      return Answer::kUnknown;
    if (std::string_view(name.data()).starts_with(kSoftwareDevice)) return Answer::kYes;
  }
  return count > 0 ? Answer::kNo : Answer::kUnknown;
}

// cuda.h, CUjit_option.
constexpr int kErrorLogBuffer = 5;
constexpr int kErrorLogBufferSize = 6;

}  // namespace

bool is_software_device() {
  // Guards nothing else: threads that ask at the same time get the same answer.
  static std::atomic<Answer> known{Answer::kUnknown};
  Answer answer = known.load(std::memory_order_relaxed);
  if (answer == Answer::kUnknown) {
    answer = ask();
    known.store(answer, std::memory_order_relaxed);
  }
  return answer == Answer::kYes;
}

std::optional<std::string> link_by_driver(const std::vector<LinkInput>& inputs, std::string& error) {
  std::array<char, 4096> log{};
  std::array<int, 2> options{kErrorLogBuffer, kErrorLogBufferSize};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(std::uintptr_t{log.size() - 1})};
  void* linking = nullptr;
  int code =
      call("cuLinkCreate_v2", static_cast<unsigned>(options.size()), options.data(), values.data(), &linking);
  if (code != 0) {
    error = "the driver cannot link (error " + std::to_string(code) + ")";
    return std::nullopt;
  }
  for (const LinkInput& input : inputs) {
    if (code != 0) break;
    // PTX is a text that ends with a zero.
    const std::size_t size = input.bytes.size() + (input.type == kPtxInput ? 1 : 0);
    code = call("cuLinkAddData_v2", linking, input.type, const_cast<char*>(input.bytes.data()), size,
                input.name.c_str(), 0U, static_cast<int*>(nullptr), static_cast<void**>(nullptr));
  }
  void* image = nullptr;
  std::size_t size = 0;
  if (code == 0) code = call("cuLinkComplete", linking, &image, &size);
  std::optional<std::string> linked;
  if (code == 0) {
    linked.emplace(static_cast<const char*>(image), size);
  } else {
    error = log[0] != '\0' ? log.data() : "the driver cannot link it (error " + std::to_string(code) + ")";
    std::replace(error.begin(), error.end(), '\n', ' ');
  }
  (void)call("cuLinkDestroy", linking);
  return linked;
}

}  // namespace fairgv::jit
