#include "runtime/vgpu/cuda/driver.hpp"

#include <CL/cl_ext.h>
#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace fairgv::vgpu::cuda {
namespace {

enum class Need { required, optional };

#define FAIRGV_NAME_OF(name) #name
#define FAIRGV_EXPANDED_NAME_OF(name) FAIRGV_NAME_OF(name)

/// The first required function that the library does not have, or nothing.
std::string find_functions(void* library, Functions& functions) {
  std::string missing;
  const auto find = [&](auto& function, const char* name, Need need) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    if (function == nullptr && need == Need::required && missing.empty()) missing = name;
  };
#define FAIRGV_DRIVER_FUNCTION(name, need) find(functions.name, FAIRGV_EXPANDED_NAME_OF(name), Need::need);
#include "runtime/vgpu/cuda/functions.def"
#undef FAIRGV_DRIVER_FUNCTION
  find(functions.create_context, "cuCtxCreate_v2", Need::required);
  return missing;
}

bool has_uuid(cl_device_id device, const CUuuid& uuid) {
  std::array<cl_uchar, CL_UUID_SIZE_KHR> its{};
  static_assert(sizeof(its) == sizeof(uuid.bytes));
  return clGetDeviceInfo(device, CL_DEVICE_UUID_KHR, sizeof(its), its.data(), nullptr) == CL_SUCCESS &&
         std::memcmp(its.data(), uuid.bytes, sizeof(its)) == 0;
}

/// "domain:bus:device.function" as CUDA writes it.
bool is_at(cl_device_id device, const std::string& pci_bus_id) {
  cl_device_pci_bus_info_khr its{};
  if (clGetDeviceInfo(device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(its), &its, nullptr) != CL_SUCCESS) {
    return false;
  }
  const std::string text = fmt::format("{:04X}:{:02X}:{:02X}.0", its.pci_domain, its.pci_bus, its.pci_device);
  return std::equal(text.begin(), text.end(), pci_bus_id.begin(), pci_bus_id.end(),
                    [](char a, char b) { return std::toupper(a) == std::toupper(b); });
}

wire::cuda::DeviceFacts facts_of(const Functions& driver, CUdevice device) {
  wire::cuda::DeviceFacts facts;
  std::array<char, 256> text{};
  if (driver.cuDeviceGetName(text.data(), text.size(), device) == CUDA_SUCCESS) facts.name = text.data();
  if (driver.cuDeviceGetPCIBusId(text.data(), text.size(), device) == CUDA_SUCCESS) {
    facts.pci_bus_id = text.data();
  }
  CUuuid uuid{};
  if (driver.cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS) {
    std::memcpy(facts.uuid.data(), uuid.bytes, facts.uuid.size());
  }
  unsigned node_mask = 0;
  char luid[8] = {};
  if (driver.cuDeviceGetLuid != nullptr && driver.cuDeviceGetLuid(luid, &node_mask, device) == CUDA_SUCCESS) {
    std::memcpy(facts.luid.data(), luid, facts.luid.size());
  }
  std::size_t bytes = 0;
  if (driver.cuDeviceTotalMem(&bytes, device) == CUDA_SUCCESS) facts.memory = bytes;
  facts.attributes.resize(CU_DEVICE_ATTRIBUTE_MAX);
  for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; ++i) {
    int value = 0;
    if (driver.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(i), device) == CUDA_SUCCESS) {
      facts.attributes[static_cast<std::size_t>(i)] = value;
    }
  }
  if (!has_virtual_memory(driver))
    facts.attributes[CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED] = 0;
  return facts;
}

/// Multiprocessors times their clock in MHz; 0: the driver does not say.
std::uint64_t speed_of(const Device& device) {
  const auto attribute = [&device](CUdevice_attribute which) -> std::uint64_t {
    return static_cast<std::uint64_t>(std::max(device.attribute(which), 0));
  };
  constexpr std::uint64_t kKilohertz = 1'000;
  return attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) *
         (attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / kKilohertz);
}

}  // namespace

std::int32_t Device::attribute(CUdevice_attribute which) const {
  const auto at = static_cast<std::size_t>(which);
  return at < facts.attributes.size() ? facts.attributes[at] : 0;
}

std::uint32_t Device::capability() const {
  return static_cast<std::uint32_t>(10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
                                    attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
}

bool has_virtual_memory(const Functions& functions) {
  return functions.cuMemAddressReserve != nullptr && functions.cuMemAddressFree != nullptr &&
         functions.cuMemGetAllocationGranularity != nullptr && functions.cuMemCreate != nullptr &&
         functions.cuMemRelease != nullptr && functions.cuMemMap != nullptr &&
         functions.cuMemUnmap != nullptr && functions.cuMemSetAccess != nullptr;
}

std::string describe(const Functions& functions, CUresult code) {
  const char* text = nullptr;
  if (functions.cuGetErrorString(code, &text) != CUDA_SUCCESS || text == nullptr) text = "unknown error";
  return fmt::format("{} ({})", text, static_cast<int>(code));
}

Result<Driver> Driver::open(const std::string& library, const opencl::Driver* opencl) {
  void* const handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) return Error{fmt::format("cannot load the CUDA driver: {}", ::dlerror())};
  Driver driver;
  if (const std::string missing = find_functions(handle, driver.functions_); !missing.empty()) {
    return Error{
        fmt::format("the CUDA driver {} has no {}: install one of CUDA 12.4 or newer", library, missing)};
  }
  const auto find_own = [handle](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(handle, name));
  };
  find_own("cuFairgvOpenclDevice", driver.opencl_device_);
  find_own("cuFairgvAddPromptCallback", driver.functions_.add_callback);
  find_own("cuFairgvHoldNextLaunch", driver.functions_.hold_next_launch);
  find_own("cuFairgvLetLaunchGo", driver.functions_.let_launch_go);
  find_own("cuFairgvPlaceNext", driver.functions_.place_next);
  find_own("cuFairgvModuleMemory", driver.functions_.module_memory);
  find_own("cuFairgvHeap", driver.functions_.heap);
  const CUresult ready = driver.functions_.cuInit(0);
  if (ready == CUDA_ERROR_NO_DEVICE) return driver;
  if (ready != CUDA_SUCCESS) {
    return Error{
        fmt::format("the CUDA driver {} does not start: {}", library, describe(driver.functions_, ready))};
  }
  FAIRGV_CHECK(driver.look_at_devices(opencl));
  return driver;
}

Result<void> Driver::look_at_devices(const opencl::Driver* opencl) {
  functions_.cuDriverGetVersion(&version_);
  int count = 0;
  if (const CUresult code = functions_.cuDeviceGetCount(&count); code != CUDA_SUCCESS) {
    return Error{"the CUDA driver does not say what devices it has: " + describe(functions_, code)};
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    Device device;
    if (functions_.cuDeviceGet(&device.handle, ordinal) != CUDA_SUCCESS) continue;
    device.facts = facts_of(functions_, device.handle);
    device.facts.sets_conditions = opencl_device_ != nullptr ? 1 : 0;
    device.facts.device = topology_index(device, opencl);
    devices_.push_back(std::move(device));
  }
  is_host_ = opencl_device_ != nullptr && opencl != nullptr && opencl->has_host_device();
  return {};
}

wire::DeviceIndex Driver::topology_index(const Device& device, const opencl::Driver* opencl) {
  CUuuid uuid{};
  std::memcpy(uuid.bytes, device.facts.uuid.data(), sizeof(uuid.bytes));
  const void* const beneath = opencl_device_ != nullptr ? opencl_device_(device.handle) : nullptr;
  wire::DeviceIndex index = 0;
  if (opencl != nullptr) {
    for (const opencl::Device& candidate : opencl->root_devices()) {
      const bool same = beneath != nullptr
                            ? candidate.id == beneath
                            : has_uuid(candidate.id, uuid) || is_at(candidate.id, device.facts.pci_bus_id);
      if (same) return index;
      ++index;
    }
  }
  // By its UUID, as a direct program describes it (cuda-shim/direct/describe.cpp).
  std::string id = "uuid ";
  for (const char byte : uuid.bytes) id += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  more_devices_.push_back(
      {"CUDA", device.facts.name, CL_DEVICE_TYPE_GPU, device.facts.memory, std::move(id), speed_of(device)});
  return index + static_cast<wire::DeviceIndex>(more_devices_.size() - 1);
}

}  // namespace fairgv::vgpu::cuda
