#include "cuda-shim/softcuda/driver/code/text_linker.hpp"

#include <elf.h>

#include <cstring>
#include <string_view>
#include <utility>
#include <variant>

#include "cuda-shim/softcuda/driver/device/limits.hpp"
#include "cuda-shim/softcuda/link/containers.hpp"
#include "runtime/fatbin/fatbin.hpp"
#include "slicing/ptx/parser.hpp"
#include "slicing/ptx/printer.hpp"

namespace fairgv::cuda::soft {
namespace {

using softcuda::link::Inclusion;
using softcuda::link::Messages;

bool is_elf(ImageBytes bytes) {
  return bytes.size() >= SELFMAG && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0;
}

CUresult refuse(LoadLog& log, CUresult code, const std::string& name, const std::string& reason) {
  log.error += (log.error.empty() ? "" : "\n") + name + ": " + reason;
  return code;
}

CUresult refuse(LoadLog& log, const Messages& messages) {
  for (const std::string& each : messages) log.error += (log.error.empty() ? "" : "\n") + each;
  return CUDA_ERROR_INVALID_SOURCE;
}

std::string without_padding(ImageBytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return std::string(text.substr(0, text.find('\0')));
}

constexpr const char* kMachineCode = "machine code only, and the soft device runs PTX";

}  // namespace

CUresult TextLinker::add(CUjitInputType type, ImageBytes input, const std::string& name, LoadLog& log) {
  CUresult code = CUDA_SUCCESS;
  switch (type) {
    case CU_JIT_INPUT_CUBIN:
      if (is_elf(input)) return refuse(log, CUDA_ERROR_NO_BINARY_FOR_GPU, name, kMachineCode);
      [[fallthrough]];  // compilers hand out PTX in place of machine code (cuda-shim/jit)
    case CU_JIT_INPUT_PTX:
      code = add_text(without_padding(input), name, Inclusion::kWhole, log);
      break;
    case CU_JIT_INPUT_FATBINARY:
      code = add_fatbin(input, name, Inclusion::kWhole, log);
      break;
    case CU_JIT_INPUT_OBJECT:
      code = is_elf(input) ? add_object(input, name, Inclusion::kWhole, log)
                           : add_fatbin(input, name, Inclusion::kWhole, log);
      break;
    case CU_JIT_INPUT_LIBRARY:
      code = add_library(input, name, log);
      break;
    default:
      return refuse(
          log,
          type < 0 || type >= CU_JIT_NUM_INPUT_TYPES ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_SUPPORTED,
          name, "inputs of this type cannot be linked on the soft device");
  }
  if (code == CUDA_SUCCESS) ++inputs_;
  return code;
}

CUresult TextLinker::add_text(std::string text, const std::string& name, Inclusion inclusion, LoadLog& log) {
  auto parsed = slicing::ptx::parse(text);
  if (const auto* error = std::get_if<slicing::ptx::ParseError>(&parsed)) {
    return refuse(log, CUDA_ERROR_INVALID_PTX, name,
                  "PTX line " + std::to_string(error->line) + ": " + error->message);
  }
  const Messages messages = linker_.add(
      softcuda::link::make_unit(name, std::move(std::get<slicing::ptx::Module>(parsed)), inclusion));
  if (!messages.empty()) return refuse(log, messages);
  if (++texts_ == 1) first_text_ = std::move(text);
  return CUDA_SUCCESS;
}

CUresult TextLinker::add_fatbin(ImageBytes fatbin, const std::string& name, Inclusion inclusion,
                                LoadLog& log) {
  const auto entries = fatbin::read_fatbin(fatbin);
  if (!entries) return refuse(log, CUDA_ERROR_INVALID_IMAGE, name, entries.error().message);
  if (entries.value().empty()) return CUDA_SUCCESS;
  auto found = fatbin::ptx_of_fatbin(fatbin, kComputeCapability);
  if (!found) return refuse(log, CUDA_ERROR_INVALID_IMAGE, name, found.error().message);
  if (!found.value().text) return refuse(log, CUDA_ERROR_NO_BINARY_FOR_GPU, name, kMachineCode);
  return add_text(std::move(*found.value().text), name, inclusion, log);
}

CUresult TextLinker::add_object(ImageBytes object, const std::string& name, Inclusion inclusion,
                                LoadLog& log) {
  const auto fatbins = softcuda::link::fatbins_of_object(object);
  if (!fatbins) return refuse(log, CUDA_ERROR_INVALID_IMAGE, name, fatbins.error().message);
  for (const ImageBytes each : fatbins.value()) {
    const CUresult code = add_fatbin(each, name, inclusion, log);
    if (code != CUDA_SUCCESS) return code;
  }
  return CUDA_SUCCESS;
}

CUresult TextLinker::add_library(ImageBytes archive, const std::string& name, LoadLog& log) {
  const auto members = softcuda::link::members_of_archive(archive);
  if (!members) return refuse(log, CUDA_ERROR_INVALID_IMAGE, name, members.error().message);
  for (const softcuda::link::Member& member : members.value()) {
    if (!is_elf(member.bytes)) continue;
    const std::string member_name = name + ":" + member.name;
    LoadLog of_member;
    const CUresult code = add_object(member.bytes, member_name, Inclusion::kMember, of_member);
    // It is missed only if something needs it.
    if (code == CUDA_ERROR_NO_BINARY_FOR_GPU) {
      linker_.add_remark(std::move(of_member.error));
    } else if (code != CUDA_SUCCESS) {
      log.error += (log.error.empty() ? "" : "\n") + of_member.error;
      return code;
    }
  }
  return CUDA_SUCCESS;
}

CUresult TextLinker::link(std::string& ptx, LoadLog& log) {
  Messages errors;
  const slicing::ptx::Module module = linker_.link(errors);
  if (!errors.empty()) return refuse(log, errors);
  ptx = texts_ == 1 ? first_text_ : slicing::ptx::print(module);
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda::soft
