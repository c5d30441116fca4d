#include "runtime/vgpu/opencl/move/likeness.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/vgpu/opencl/driver/driver.hpp"
#include "runtime/wire/extension_signatures.hpp"

namespace fairgv::vgpu::opencl {
namespace {

enum class Rule {
  same,      // a program has been laid out for it
  as_much,   // a program may use it up
  as_small,  // a program keeps to it
  all_bits,
};

struct Limit {
  cl_device_info what;
  const char* name;
  std::size_t bytes;  // of each number of the answer
  Rule rule;
};

/// Without these nothing of a session could be on the other device.
constexpr std::array kFoundations{
    Limit{CL_DEVICE_ADDRESS_BITS, "address bits", 4, Rule::same},
    Limit{CL_DEVICE_ENDIAN_LITTLE, "byte order", 4, Rule::same},
    // Buffers of such a device lie in memory that the program touches itself.
    Limit{CL_DEVICE_HOST_UNIFIED_MEMORY, "memory shared with the host", 4, Rule::same},
};

constexpr std::array kLimits{
    Limit{CL_DEVICE_TYPE, "type", 8, Rule::same},
    Limit{CL_DEVICE_PARTITION_MAX_SUB_DEVICES, "sub-devices", 4, Rule::as_much},
    Limit{CL_DEVICE_MEM_BASE_ADDR_ALIGN, "alignment of sub-buffers", 4, Rule::as_small},
    Limit{CL_DEVICE_COMPILER_AVAILABLE, "compiler", 4, Rule::as_much},
    Limit{CL_DEVICE_LINKER_AVAILABLE, "linker", 4, Rule::as_much},
    Limit{CL_DEVICE_QUEUE_PROPERTIES, "kinds of queues", 8, Rule::all_bits},
    Limit{CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, "dimensions of a group", 4, Rule::as_much},
    Limit{CL_DEVICE_MAX_CONSTANT_ARGS, "arguments of constant memory", 4, Rule::as_much},
    Limit{CL_DEVICE_IMAGE_SUPPORT, "images", 4, Rule::as_much},
    Limit{CL_DEVICE_MAX_READ_IMAGE_ARGS, "images that a kernel reads", 4, Rule::as_much},
    Limit{CL_DEVICE_MAX_WRITE_IMAGE_ARGS, "images that a kernel writes", 4, Rule::as_much},
    Limit{CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, "images that a kernel reads and writes", 4, Rule::as_much},
    Limit{CL_DEVICE_MAX_SAMPLERS, "samplers of a kernel", 4, Rule::as_much},
    Limit{CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, "size of images of buffers", sizeof(std::size_t), Rule::as_much},
    Limit{CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, "size of arrays of images", sizeof(std::size_t), Rule::as_much},
    Limit{CL_DEVICE_MAX_WORK_GROUP_SIZE, "work-items of a group", sizeof(std::size_t), Rule::as_much},
    Limit{CL_DEVICE_MAX_WORK_ITEM_SIZES, "sizes of a group", sizeof(std::size_t), Rule::as_much},
    Limit{CL_DEVICE_MAX_PARAMETER_SIZE, "bytes of arguments", sizeof(std::size_t), Rule::as_much},
    Limit{CL_DEVICE_LOCAL_MEM_SIZE, "local memory", 8, Rule::as_much},
    Limit{CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, "constant memory", 8, Rule::as_much},
    Limit{CL_DEVICE_MAX_MEM_ALLOC_SIZE, "largest buffer", 8, Rule::as_much},
    Limit{CL_DEVICE_IMAGE2D_MAX_WIDTH, "width of images", sizeof(std::size_t), Rule::as_much},
    Limit{CL_DEVICE_IMAGE2D_MAX_HEIGHT, "height of images", sizeof(std::size_t), Rule::as_much},
    Limit{CL_DEVICE_IMAGE3D_MAX_WIDTH, "width of images in space", sizeof(std::size_t), Rule::as_much},
    Limit{CL_DEVICE_IMAGE3D_MAX_HEIGHT, "height of images in space", sizeof(std::size_t), Rule::as_much},
    Limit{CL_DEVICE_IMAGE3D_MAX_DEPTH, "depth of images", sizeof(std::size_t), Rule::as_much},
    Limit{CL_DEVICE_SINGLE_FP_CONFIG, "single precision", 8, Rule::all_bits},
    Limit{CL_DEVICE_DOUBLE_FP_CONFIG, "double precision", 8, Rule::all_bits},
    Limit{CL_DEVICE_SVM_CAPABILITIES, "shared virtual memory", 8, Rule::all_bits},
};

bool keeps(Rule rule, std::uint64_t before, std::uint64_t after) {
  switch (rule) {
    case Rule::same:
      return before == after;
    case Rule::as_much:
      return after >= before;
    case Rule::as_small:
      return after <= before;
    case Rule::all_bits:
      return (before & ~after) == 0;
  }
  return false;
}

std::vector<std::uint64_t> numbers_of(cl_device_id device, const Limit& limit) {
  const wire::InfoReply reply = get_info([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetDeviceInfo(device, limit.what, size, value, size_ret);
  });
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; at + limit.bytes <= reply.value.size(); at += limit.bytes) {
    std::uint64_t number = 0;  // little-endian, as all that FairGV runs on
    std::memcpy(&number, reply.value.data() + at, limit.bytes);
    numbers.push_back(number);
  }
  return numbers;
}

std::string text_of(cl_device_id device, cl_device_info what) {
  return get_string([&](std::size_t size, void* value, std::size_t* size_ret) {
    return clGetDeviceInfo(device, what, size, value, size_ret);
  });
}

/// The words of an answer, which end at spaces or semicolons.
std::set<std::string> words_of(cl_device_id device, cl_device_info what) {
  std::string text = text_of(device, what);
  std::replace(text.begin(), text.end(), ';', ' ');
  std::istringstream words(text);
  std::set<std::string> all;
  for (std::string word; words >> word;) all.insert(word);
  return all;
}

/// The number in "OpenCL 3.0 and what the driver adds" or "OpenCL C 1.2 ...".
double version_of(cl_device_id device, cl_device_info what) {
  const std::string text = text_of(device, what);
  const auto digit = text.find_first_of("0123456789");
  return digit == std::string::npos ? 0 : std::strtod(text.c_str() + digit, nullptr);
}

constexpr std::array<cl_device_info, 2> kVersions{CL_DEVICE_VERSION, CL_DEVICE_OPENCL_C_VERSION};

/// Lists of words, each of which a program may count on.
struct Words {
  cl_device_info what;
  const char* kind;
};
constexpr std::array kWords{Words{CL_DEVICE_EXTENSIONS, ""},
                            Words{CL_DEVICE_BUILT_IN_KERNELS, "built-in kernel "},
                            Words{CL_DEVICE_IL_VERSION, "intermediate language "}};

std::optional<std::string> broken(std::span<const Limit> limits, cl_device_id from, cl_device_id to) {
  for (const Limit& limit : limits) {
    const auto before = numbers_of(from, limit);
    const auto after = numbers_of(to, limit);
    if (before.size() > after.size()) return fmt::format("it has no {}", limit.name);
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (keeps(limit.rule, before[i], after[i])) continue;
      return fmt::format("its {} would be {} instead of {}", limit.name, after[i], before[i]);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<DeviceDifference> lacks(cl_device_id from, cl_device_id to) {
  if (const auto what = broken(kFoundations, from, to)) return DeviceDifference{*what, true};
  if (const auto what = broken(kLimits, from, to)) return DeviceDifference{*what};
  for (const cl_device_info what : kVersions) {
    if (version_of(to, what) < version_of(from, what))
      return DeviceDifference{fmt::format("it has {} instead of {}", text_of(to, what), text_of(from, what))};
  }
  for (const Words& words : kWords) {
    const auto there = words_of(to, words.what);
    for (const std::string& word : words_of(from, words.what)) {
      // The program does not see extensions that the front end does not pass on.
      if (words.what == CL_DEVICE_EXTENSIONS && !wire::is_passed_on(word)) continue;
      if (!there.contains(word)) return DeviceDifference{fmt::format("it has no {}{}", words.kind, word)};
    }
  }
  return std::nullopt;
}

}  // namespace fairgv::vgpu::opencl
