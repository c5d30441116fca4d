#include "tests/cuda/ptx/device.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace fairgv::ptx_test {
namespace {

using softcuda::KernelInfo;
using softcuda::PrintfRecord;
using softcuda::RuntimeBlock;

void check(cl_int code, const std::string& what) {
  if (code != CL_SUCCESS) throw std::runtime_error(what + ": OpenCL error " + std::to_string(code));
}

constexpr std::size_t kRingBytes = 1 << 16;

softcuda::TranslatedModule translated_or_throw(std::string_view ptx) {
  softcuda::Translation translation = softcuda::translate(ptx);
  if (!translation) throw std::runtime_error(translation.error().text());
  return std::move(translation.value());
}

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t bytes = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(bytes, '\0');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, bytes, log.data(), nullptr);
  return log;
}

template <class T>
T take(const std::byte*& at) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  at += (sizeof(T) - address % sizeof(T)) % sizeof(T);
  T value;
  std::memcpy(&value, at, sizeof(T));
  at += sizeof(T);
  return value;
}

std::string formatted(const char* format, const std::byte* arguments) {
  std::string text;
  for (; *format != '\0'; ++format) {
    if (*format != '%') {
      text += *format;
      continue;
    }
    bool wide = false;
    while (*++format == 'l') wide = true;
    if (*format == 'd')
      text += wide ? std::to_string(take<std::int64_t>(arguments))
                   : std::to_string(take<std::int32_t>(arguments));
    if (*format == 'u') text += std::to_string(take<std::uint32_t>(arguments));
    if (*format == 'c') text += static_cast<char>(take<std::uint32_t>(arguments));
    if (*format == 'f') text += std::to_string(take<double>(arguments));
    if (*format == 's') text += reinterpret_cast<const char*>(take<std::uint64_t>(arguments));
    if (*format == '%') text += '%';
  }
  return text;
}

}  // namespace

Device& Device::get() {
  static Device device;
  return device;
}

Device::Device() {
  cl_platform_id platform = nullptr;
  check(clGetPlatformIDs(1, &platform, nullptr), "clGetPlatformIDs");
  check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id_, nullptr), "clGetDeviceIDs");
  cl_int code = CL_SUCCESS;
  context_ = clCreateContext(nullptr, 1, &id_, nullptr, nullptr, &code);
  check(code, "clCreateContext");
  queue_ = clCreateCommandQueueWithProperties(context_, id_, nullptr, &code);
  check(code, "clCreateCommandQueueWithProperties");
  cl_uint units = 1;
  check(clGetDeviceInfo(id_, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr), "clGetDeviceInfo");
  units_ = units;
}

Module::Module(std::string_view ptx) : translated_(translated_or_throw(ptx)) {
  const Device& device = Device::get();
  const std::string text = translated_.source();
  const char* source = text.c_str();
  cl_int code = CL_SUCCESS;
  program_ = clCreateProgramWithSource(device.context(), 1, &source, nullptr, &code);
  check(code, "clCreateProgramWithSource");
  const cl_device_id id = device.id();
  if (clBuildProgram(program_, 1, &id, translated_.build_options.c_str(), nullptr, nullptr) != CL_SUCCESS) {
    throw std::runtime_error("the translation does not compile:\n" + build_log(program_, id));
  }
  for (const KernelInfo& info : translated_.kernels) {
    kernels_[info.name] = clCreateKernel(program_, info.function.c_str(), &code);
    check(code, "clCreateKernel " + info.function);
  }
  data_ = std::make_unique<Memory<std::byte>>(translated_.data.size() + 16);
  std::copy(translated_.data.begin(), translated_.data.end(), data_->begin());
  for (const softcuda::Relocation& relocation : translated_.relocations) {
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(variable(relocation.symbol)) +
                                  static_cast<std::uint64_t>(relocation.addend);
    std::memcpy(&(*data_)[relocation.offset], &address, sizeof address);
  }
  runtime_ = std::make_unique<Memory<RuntimeBlock>>(1);
  ring_ = std::make_unique<Memory<std::byte>>(kRingBytes);
}

Module::~Module() {
  for (const auto& [name, kernel] : kernels_) clReleaseKernel(kernel);
  if (program_ != nullptr) clReleaseProgram(program_);
}

std::byte* Module::variable(const std::string& name) {
  for (const softcuda::VariableInfo& each : translated_.variables) {
    if (each.name == name) return &(*data_)[each.offset];
  }
  throw std::runtime_error("no variable " + name);
}

const KernelInfo& Module::info(const std::string& kernel) const {
  const KernelInfo* found = nullptr;
  for (const KernelInfo& each : translated_.kernels) {
    if (each.name == kernel) return each;
    if (each.name.find(kernel) == std::string::npos) continue;
    if (found != nullptr) throw std::runtime_error("more than one kernel " + kernel);
    found = &each;
  }
  for (const softcuda::Refused& each : translated_.refused) {
    if (found == nullptr && each.name == kernel) throw std::runtime_error(each.error.text());
  }
  if (found == nullptr) throw std::runtime_error("no kernel " + kernel);
  return *found;
}

void Module::launch(const std::string& name, Extent grid, Extent block, const Parameters& parameters,
                    std::size_t dynamic_shared) {
  const KernelInfo& wanted = info(name);
  const Device& device = Device::get();
  RuntimeBlock& runtime = (*runtime_)[0];
  runtime = {};
  runtime.printf_address = ring_->address();
  runtime.printf_capacity = kRingBytes;
  runtime.dynamic_shared_bytes = dynamic_shared;
  if (heap_) runtime.heap = heap_->address();
  const std::size_t threads = block[0] * block[1] * block[2];
  if (wanted.stepped) {
    if (wanted.uses_stack) runtime.stack_bytes = stack_bytes_;
    const std::size_t per_thread = wanted.scratch_bytes_per_thread + runtime.stack_bytes;
    std::size_t bytes = wanted.scratch_bytes_fixed + threads * per_thread;
    std::size_t slots = device.units();
    if (wanted.cooperates) {
      slots = grid[0] * grid[1] * grid[2];
      bytes += wanted.shared_bytes(dynamic_shared) + 16;
      for (std::size_t d = 0; d < 3; ++d) runtime.grid[d] = static_cast<std::uint32_t>(grid[d]);
      runtime.cooperative = 1;
    }
    bytes = (bytes + 63) / 64 * 64;
    if (!scratch_ || scratch_->size() < bytes * slots) {
      scratch_ = std::make_unique<Memory<std::byte>>(bytes * slots);
    }
    flags_ = std::make_unique<Memory<std::uint32_t>>(slots);
    runtime.scratch_flags = flags_->address();
    runtime.scratch_address = scratch_->address();
    runtime.scratch_slot_bytes = bytes;
    runtime.scratch_slots = static_cast<std::uint32_t>(slots);
  }
  std::vector<std::byte> bytes(parameters.bytes());
  bytes.resize(std::max<std::size_t>(8, (wanted.parameter_bytes + 7) / 8 * 8));
  const cl_kernel kernel = kernels_.at(wanted.name);
  const std::size_t shared = wanted.shared_bytes(dynamic_shared);
  const cl_ulong data = data_->address();
  const cl_ulong runtime_address = runtime_->address();
  check(clSetKernelArg(kernel, 0, bytes.size(), bytes.data()), "argument 0");
  check(clSetKernelArg(kernel, 1, shared, nullptr), "argument 1");
  check(clSetKernelArg(kernel, 2, sizeof data, &data), "argument 2");
  check(clSetKernelArg(kernel, 3, sizeof runtime_address, &runtime_address), "argument 3");
  Extent global = {grid[0] * block[0], grid[1] * block[1], grid[2] * block[2]};
  if (wanted.cooperates) global = {device.units() * block[0], block[1], block[2]};
  check(clEnqueueNDRangeKernel(device.queue(), kernel, 3, nullptr, global.data(), block.data(), 0, nullptr,
                               nullptr),
        "clEnqueueNDRangeKernel " + wanted.name);
  check(clFinish(device.queue()), "clFinish");
  if (wanted.stepped && !wanted.cooperates) {
    for (const std::uint32_t flag : *flags_) {
      if (flag != 0) throw std::runtime_error("a scratch slot was not returned");
    }
  }
}

void Module::make_heap(std::size_t bytes) {
  heap_ = std::make_unique<Memory<std::byte>>(softcuda::heap_memory_bytes(bytes));
  softcuda::make_heap(&(*heap_)[0], bytes);
}

std::string Module::printed() {
  std::string text;
  const std::uint64_t used = std::min<std::uint64_t>(runtime().printf_used, kRingBytes);
  for (std::uint64_t at = 0; at < used;) {
    PrintfRecord record;
    std::memcpy(&record, &(*ring_)[at], sizeof record);
    if (record.complete != 1) throw std::runtime_error("an incomplete printf record");
    text += formatted(reinterpret_cast<const char*>(record.format), &(*ring_)[at] + sizeof record);
    at += (sizeof record + record.argument_bytes + 7) / 8 * 8;
  }
  return text;
}

}  // namespace fairgv::ptx_test
