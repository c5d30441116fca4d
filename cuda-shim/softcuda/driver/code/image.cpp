#include <cstdio>
#include <cstring>

#include "cuda-shim/softcuda/driver/code/module.hpp"
#include "cuda-shim/softcuda/driver/code/text_linker.hpp"
#include "cuda-shim/softcuda/driver/device/limits.hpp"
#include "cuda-shim/softcuda/driver/engine.hpp"
#include "runtime/fatbin/fatbin.hpp"

namespace fairgv::cuda::soft {

using namespace softcuda;
using namespace fatbin;

namespace {

/// The record that a compiled program registers (fatbinary_section.h of the toolkit).
struct FatbinWrapper {
  std::uint32_t magic;
  std::uint32_t version;  // 1; 2: linked, with further fatbins
  const void* data;
  const void* const* more;  // version 2: the fatbins of the units, up to a null
};

constexpr char kElfMagic[4] = {'\x7f', 'E', 'L', 'F'};

std::span<const std::byte> bytes_of(const void* data, std::uint64_t size) {
  return {static_cast<const std::byte*>(data), size};
}

CUresult refuse(LoadLog& log, CUresult code, std::string reason) {
  log.error = std::move(reason);
  return code;
}

CUresult no_ptx(LoadLog& log) {
  return refuse(log, CUDA_ERROR_NO_BINARY_FOR_GPU,
                "the image holds machine code only, and the soft device runs PTX: compile with nvcc -gencode "
                "arch=compute_80,code=compute_80 (or -arch=sm_80, which keeps PTX too)");
}

CUresult take_fatbin(ImageBytes container, std::optional<std::string>& text, LoadLog& log) {
  auto found = ptx_of_fatbin(container, kComputeCapability);
  if (!found) return refuse(log, CUDA_ERROR_INVALID_IMAGE, found.error().message);
  text = std::move(found.value().text);
  return CUDA_SUCCESS;
}

CUresult fatbin_in_memory(const void* data, ImageBytes& fatbin, LoadLog& log) {
  const auto size = fatbin_bytes(bytes_of(data, kFatbinHeaderBytes));
  if (!size) return refuse(log, CUDA_ERROR_INVALID_IMAGE, "the wrapper leads to no fatbin");
  fatbin = bytes_of(data, *size);
  return CUDA_SUCCESS;
}

CUresult take_fatbin_in_memory(const void* data, std::optional<std::string>& text, LoadLog& log) {
  ImageBytes fatbin;
  const CUresult code = fatbin_in_memory(data, fatbin, log);
  return code == CUDA_SUCCESS ? take_fatbin(fatbin, text, log) : code;
}

/// The units of a linked program (nvcc -rdc=true), of whose link only machine code is left.
CUresult link_units(const void* const* units, std::optional<std::string>& text, LoadLog& log) {
  TextLinker linker;
  for (std::size_t number = 0; units[number] != nullptr; ++number) {
    ImageBytes fatbin;
    CUresult code = fatbin_in_memory(units[number], fatbin, log);
    if (code != CUDA_SUCCESS) return code;
    code = linker.add(CU_JIT_INPUT_FATBINARY, fatbin, "unit " + std::to_string(number + 1), log);
    if (code == CUDA_ERROR_NO_BINARY_FOR_GPU) return no_ptx(log);
    if (code != CUDA_SUCCESS) return code;
  }
  if (linker.is_empty()) return CUDA_SUCCESS;
  return linker.link(text.emplace(), log);
}

CUresult ptx_of_wrapper(const void* image, std::optional<std::string>& text, LoadLog& log) {
  FatbinWrapper wrapper{};
  std::memcpy(&wrapper, image, sizeof wrapper);
  if (wrapper.version != 1 && wrapper.version != 2) {
    return refuse(log, CUDA_ERROR_INVALID_IMAGE,
                  "a fatbin wrapper of version " + std::to_string(wrapper.version) + " is not known");
  }
  if (wrapper.data != nullptr) {
    if (const CUresult code = take_fatbin_in_memory(wrapper.data, text, log); code != CUDA_SUCCESS)
      return code;
  }
  const bool has_units = wrapper.version == 2 && wrapper.more != nullptr;
  return has_units && !text ? link_units(wrapper.more, text, log) : CUDA_SUCCESS;
}

bool starts_with(const void* image, std::optional<std::uint64_t> size, const void* magic,
                 std::size_t length) {
  if (size && *size < length) return false;
  // Compared byte by byte: a text may be shorter than the magic, but ends with a zero, which no magic
  // contains.
  const auto* at = static_cast<const char*>(image);
  const auto* wanted = static_cast<const char*>(magic);
  for (std::size_t index = 0; index < length; ++index) {
    if (at[index] != wanted[index]) return false;
  }
  return true;
}

std::string reason_of(const softcuda::Refused& refused) {
  return std::string(refused.kernel ? "kernel '" : "variable '") + refused.name +
         "' cannot be had on the soft device: " + refused.error.text();
}

}  // namespace

CUresult ptx_of_image(const void* image, std::optional<std::uint64_t> size, std::string& ptx, LoadLog& log) {
  if (starts_with(image, size, kElfMagic, sizeof kElfMagic)) return no_ptx(log);
  const bool fatbin = starts_with(image, size, &kFatbinMagic, sizeof kFatbinMagic);
  const bool wrapper = !size && starts_with(image, size, &kFatbinWrapperMagic, sizeof kFatbinWrapperMagic);
  if (!fatbin && !wrapper) {
    const auto* const text = static_cast<const char*>(image);
    ptx.assign(text, size ? strnlen(text, *size) : std::strlen(text));
    return CUDA_SUCCESS;
  }
  std::optional<std::string> text_found;
  CUresult code = CUDA_SUCCESS;
  if (wrapper) {
    code = ptx_of_wrapper(image, text_found, log);
  } else if (size) {
    code = take_fatbin(bytes_of(image, *size), text_found, log);
  } else {
    code = take_fatbin_in_memory(image, text_found, log);
  }
  if (code != CUDA_SUCCESS) return code;
  if (!text_found) return no_ptx(log);
  ptx = std::move(*text_found);
  return CUDA_SUCCESS;
}

namespace {

// The libraries of programs have thousands of kernels, of which a program uses a few: the OpenCL compiler
// would take minutes for all.
constexpr std::size_t kMostBuiltTogether = std::size_t{512} << 10U;

std::size_t kernel_text_bytes(const TranslatedModule& module) {
  std::size_t bytes = 0;
  for (const KernelInfo& each : module.kernels) bytes += each.source.size();
  return bytes;
}

/// A kernel that needs more registers than it may have keeps the rest in memory, as on any GPU. The program's
/// option is for kernels that say nothing themselves.
void bound_registers(KernelInfo& kernel, const JitOptions& options) {
  std::uint64_t most = kernel.most_registers;
  for (const JitNumber& each : options.numbers) {
    if (each.option == CU_JIT_MAX_REGISTERS && most == 0) most = static_cast<std::uint32_t>(each.value);
  }
  if (most == 0 || most > kMostRegistersPerThread) most = kMostRegistersPerThread;
  if (kernel.registers == 0 || kernel.registers > most) kernel.registers = static_cast<std::uint32_t>(most);
}

}  // namespace

std::shared_ptr<Image> Image::of_ptx(std::string_view ptx, const JitOptions& options, CUresult& code,
                                     LoadLog& log) {
  auto translation = translate(ptx);
  if (!translation) {
    code = CUDA_ERROR_INVALID_PTX;
    log.error = translation.error().text();
    return nullptr;
  }
  for (KernelInfo& each : translation.value().kernels) bound_registers(each, options);
  for (const softcuda::Refused& each : translation.value().refused)
    log.info += (log.info.empty() ? "" : "\n") + reason_of(each);
  return std::make_shared<Image>(std::move(translation.value()));
}

Image::Image(TranslatedModule translated) : translated_(std::move(translated)) {
  for (const KernelInfo& info : translated_.kernels) kernel_names_.push_back(info.name);
  for (const softcuda::Refused& each : translated_.refused) {
    if (each.kernel) kernel_names_.push_back(each.name);
  }
}

cl_program Image::program(const OpenClDevice& device, const KernelInfo& kernel) {
  const std::lock_guard guard(lock_);
  if (!tried_) {
    tried_ = true;
    if (kernel_text_bytes(translated_) <= kMostBuiltTogether) {
      if (auto built = build_program(device, translated_.source(), translated_.build_options))
        program_ = std::move(built).value();
    }
  }
  if (program_) return program_.get();
  // The module is large, or has a defect of the translation, which is the defect of one kernel: the others
  // are not lost.
  const auto [own, is_new] = programs_.try_emplace(kernel.name);
  if (is_new) {
    auto built = build_program(device, translated_.prelude + kernel.source, translated_.build_options);
    if (built) {
      own->second = std::move(built).value();
    } else {
      std::fprintf(stderr, "%s: kernel '%s': %s\n", kEngineName, kernel.name.c_str(),
                   built.error().message.c_str());
    }
  }
  return own->second.get();
}

bool Image::say_refusal(std::string_view name) {
  for (const softcuda::Refused& each : translated_.refused) {
    if (each.name != name) continue;
    const std::lock_guard guard(lock_);
    if (said_.emplace(name).second) std::fprintf(stderr, "%s: %s\n", kEngineName, reason_of(each).c_str());
    return true;
  }
  return false;
}

const KernelInfo* Image::kernel(std::string_view name) const {
  for (const KernelInfo& info : translated_.kernels) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

}  // namespace fairgv::cuda::soft
