#include "icd/masks.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/wire/extension_signatures.hpp"

namespace fairgv::icd {
namespace {

/// 0 on devices that do not share memory with the host.
constexpr std::string_view kSvm = "the worker cannot reach all of the program's memory";
constexpr std::string_view kDeviceQueues = "queues on the device cannot be scheduled";
constexpr std::string_view kNative = "the worker cannot call a function of the program";
constexpr std::string_view kExtensions = "passed on if all functions of an extension are served";
constexpr std::string_view kFeatures = "features of device queues are not served yet";

#define FAIRGV_MASK(param, action, bits, reason)    \
  Mask {                                            \
    param, #param, MaskAction::action, bits, reason \
  }

constexpr std::array kDeviceMasks = {
    FAIRGV_MASK(CL_DEVICE_SVM_CAPABILITIES, keep_bits,
                CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS,
                kSvm),
    FAIRGV_MASK(CL_DEVICE_DEVICE_ENQUEUE_CAPABILITIES, zero, 0, kDeviceQueues),
    FAIRGV_MASK(CL_DEVICE_QUEUE_ON_DEVICE_PROPERTIES, zero, 0, kDeviceQueues),
    FAIRGV_MASK(CL_DEVICE_QUEUE_ON_DEVICE_PREFERRED_SIZE, zero, 0, kDeviceQueues),
    FAIRGV_MASK(CL_DEVICE_QUEUE_ON_DEVICE_MAX_SIZE, zero, 0, kDeviceQueues),
    FAIRGV_MASK(CL_DEVICE_MAX_ON_DEVICE_QUEUES, zero, 0, kDeviceQueues),
    FAIRGV_MASK(CL_DEVICE_MAX_ON_DEVICE_EVENTS, zero, 0, kDeviceQueues),
    FAIRGV_MASK(CL_DEVICE_EXECUTION_CAPABILITIES, keep_bits, CL_EXEC_KERNEL, kNative),
    FAIRGV_MASK(CL_DEVICE_EXTENSIONS, keep_names, 0, kExtensions),
    FAIRGV_MASK(CL_DEVICE_EXTENSIONS_WITH_VERSION, keep_names, 0, kExtensions),
    FAIRGV_MASK(CL_DEVICE_OPENCL_C_FEATURES, keep_names, 0, kFeatures),
};

#undef FAIRGV_MASK

/// The OpenCL C features of the masks above (OpenCL C 3.0, 6.2.1).
constexpr std::string_view kUnservedFeatures[] = {
    "__opencl_c_device_enqueue",
};

bool name_is_served(std::string_view name) {
  if (name.starts_with("__opencl_c_")) {
    return std::find(std::begin(kUnservedFeatures), std::end(kUnservedFeatures), name) ==
           std::end(kUnservedFeatures);
  }
  return wire::is_passed_on(name);
}

void replace_string(wire::InfoReply& reply, std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  reply.value.assign(first, first + text.size());
  reply.value.push_back(std::byte{0});
}

std::string_view as_string(const wire::InfoReply& reply) {
  const auto* text = reinterpret_cast<const char*>(reply.value.data());
  return {text, strnlen(text, reply.value.size())};
}

void keep_bits(std::uint64_t bits, wire::InfoReply& reply) {
  std::uint64_t answer = 0;
  const std::size_t size = std::min(sizeof(answer), reply.value.size());
  std::memcpy(&answer, reply.value.data(), size);
  answer &= bits;
  std::memcpy(reply.value.data(), &answer, size);
}

}  // namespace

std::span<const Mask> device_masks() {
  return kDeviceMasks;
}

std::string served_extensions(std::string_view all) {
  std::string served;
  while (!all.empty()) {
    const std::size_t end = std::min(all.find(' '), all.size());
    const std::string_view name = all.substr(0, end);
    all.remove_prefix(std::min(end + 1, all.size()));
    if (!wire::is_passed_on(name)) continue;
    if (!served.empty()) served += ' ';
    served += name;
  }
  return served;
}

void keep_served_versions(wire::InfoReply& reply) {
  std::vector<std::byte> kept;
  for (std::size_t at = 0; at + sizeof(cl_name_version) <= reply.value.size();
       at += sizeof(cl_name_version)) {
    cl_name_version entry;
    std::memcpy(&entry, reply.value.data() + at, sizeof(entry));
    const std::string_view name(entry.name, strnlen(entry.name, sizeof(entry.name)));
    if (!name_is_served(name)) continue;
    const std::byte* first = reply.value.data() + at;
    kept.insert(kept.end(), first, first + sizeof(entry));
  }
  reply.value = std::move(kept);
}

void mask_device_info(cl_device_info param, wire::InfoReply& reply) {
  const auto mask = std::find_if(kDeviceMasks.begin(), kDeviceMasks.end(),
                                 [param](const Mask& candidate) { return candidate.param == param; });
  if (mask == kDeviceMasks.end()) return;
  if (reply.error != CL_SUCCESS) return;
  switch (mask->action) {
    case MaskAction::zero:
      std::fill(reply.value.begin(), reply.value.end(), std::byte{0});
      break;
    case MaskAction::keep_bits:
      keep_bits(mask->bits, reply);
      break;
    case MaskAction::keep_names:
      if (param == CL_DEVICE_EXTENSIONS) {
        replace_string(reply, served_extensions(as_string(reply)));
      } else {
        keep_served_versions(reply);
      }
      break;
  }
}

}  // namespace fairgv::icd
