#include "cuda-shim/direct/describe.hpp"

#include <CL/cl_ext.h>
#include <dlfcn.h>
#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <string>

#include "cuda-shim/direct/cuda.hpp"
#include "cuda-shim/direct/driver.hpp"

namespace fairgv::cuda::direct {
namespace {

/// The OpenCL functions that the software driver uses: a program over NVIDIA's has none.
struct OpenCl {
  decltype(&::clGetDeviceInfo) device = nullptr;
  decltype(&::clGetPlatformInfo) platform = nullptr;
  void* (*beneath)(CUdevice device) = nullptr;  // cuFairgvOpenclDevice
};

OpenCl opencl_of(void* driver) {
  const auto find = [driver](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(driver, name));
  };
  OpenCl opencl;
  find(opencl.beneath, "cuFairgvOpenclDevice");
  if (opencl.beneath == nullptr) return opencl;
  find(opencl.device, "clGetDeviceInfo");
  find(opencl.platform, "clGetPlatformInfo");
  return opencl;
}

template <class Value>
Value value_of(const OpenCl& opencl, cl_device_id device, cl_device_info what) {
  Value value{};
  opencl.device(device, what, sizeof(value), &value, nullptr);
  return value;
}

template <class Ask>
std::string text_of(const Ask& ask) {
  std::size_t size = 0;
  if (ask(0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  ask(size, text.data(), nullptr);
  text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
  return text;
}

std::string hexadecimal(const unsigned char* bytes, std::size_t count) {
  std::string text;
  for (std::size_t at = 0; at < count; ++at) text += fmt::format("{:02x}", bytes[at]);
  return text;
}

std::string id_of(const OpenCl& opencl, cl_device_id device) {
  std::array<cl_uchar, CL_UUID_SIZE_KHR> uuid{};
  if (opencl.device(device, CL_DEVICE_UUID_KHR, sizeof(uuid), uuid.data(), nullptr) == CL_SUCCESS)
    return "uuid " + hexadecimal(uuid.data(), uuid.size());
  cl_device_pci_bus_info_khr pci{};
  if (opencl.device(device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(pci), &pci, nullptr) != CL_SUCCESS) return {};
  return fmt::format("pci {:04x}:{:02x}:{:02x}.{:x}", pci.pci_domain, pci.pci_bus, pci.pci_device,
                     pci.pci_function);
}

/// The OpenCL device beneath a device of the software driver, as a worker has it in its list.
session::DeviceDescription description(const OpenCl& opencl, cl_device_id device) {
  const auto platform = value_of<cl_platform_id>(opencl, device, CL_DEVICE_PLATFORM);
  const auto units = value_of<cl_uint>(opencl, device, CL_DEVICE_MAX_COMPUTE_UNITS);
  const auto megahertz = value_of<cl_uint>(opencl, device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  return {text_of([&](std::size_t size, void* value, std::size_t* needed) {
            return opencl.platform(platform, CL_PLATFORM_NAME, size, value, needed);
          }),
          text_of([&](std::size_t size, void* value, std::size_t* needed) {
            return opencl.device(device, CL_DEVICE_NAME, size, value, needed);
          }),
          value_of<cl_device_type>(opencl, device, CL_DEVICE_TYPE),
          value_of<cl_ulong>(opencl, device, CL_DEVICE_GLOBAL_MEM_SIZE),
          id_of(opencl, device),
          std::uint64_t{units} * megahertz};
}

std::uint64_t attribute(CUdevice device, CUdevice_attribute which) {
  int value = 0;
  const bool told = FAIRGV_DRIVER(cuDeviceGetAttribute)(&value, which, device) == CUDA_SUCCESS;
  return told && value > 0 ? static_cast<std::uint64_t>(value) : 0;
}

/// A device of NVIDIA's driver: as the worker's back end for CUDA has it (runtime/vgpu/cuda/driver.cpp).
session::DeviceDescription description(CUdevice device) {
  session::DeviceDescription its{"CUDA", {}, CL_DEVICE_TYPE_GPU};
  std::array<char, 256> name{};
  if (FAIRGV_DRIVER(cuDeviceGetName)(name.data(), name.size() - 1, device) == CUDA_SUCCESS)
    its.name = name.data();
  std::size_t bytes = 0;
  if (FAIRGV_DRIVER(cuDeviceTotalMem_v2)(&bytes, device) == CUDA_SUCCESS) its.memory = bytes;
  CUuuid uuid{};
  if (FAIRGV_DRIVER(cuDeviceGetUuid)(&uuid, device) == CUDA_SUCCESS) {
    std::array<unsigned char, sizeof(uuid.bytes)> plain{};
    for (std::size_t at = 0; at < plain.size(); ++at) plain[at] = static_cast<unsigned char>(uuid.bytes[at]);
    its.id = "uuid " + hexadecimal(plain.data(), plain.size());
  }
  constexpr std::uint64_t kKilohertz = 1'000;
  its.speed = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
              (attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / kKilohertz);
  return its;
}

}  // namespace

bool is_software(void* driver) {
  return ::dlsym(driver, "cuFairgvOpenclDevice") != nullptr;
}

DescribedDevices describe_devices(void* driver) {
  DescribedDevices all;
  const OpenCl opencl = opencl_of(driver);
  int count = 0;
  if (FAIRGV_DRIVER(cuDeviceGetCount)(&count) != CUDA_SUCCESS) return all;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    void* const beneath = opencl.beneath != nullptr ? opencl.beneath(ordinal) : nullptr;
    if (beneath != nullptr && opencl.device != nullptr && opencl.platform != nullptr) {
      all.devices.push_back(description(opencl, static_cast<cl_device_id>(beneath)));
      all.on_host = all.on_host || (all.devices.back().type & CL_DEVICE_TYPE_CPU) != 0;
    } else {
      all.devices.push_back(description(ordinal));
    }
  }
  return all;
}

}  // namespace fairgv::cuda::direct
