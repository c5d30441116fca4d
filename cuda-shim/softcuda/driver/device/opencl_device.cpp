#include "cuda-shim/softcuda/driver/device/opencl_device.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "cuda-shim/api/of_thread.hpp"
#include "cuda-shim/softcuda/driver/device/address_window.hpp"
#include "runtime/base/page.hpp"

namespace fairgv::cuda::soft {
namespace {

constexpr std::size_t kAlignment = 512;

template <typename Value>
Value number(cl_device_id device, cl_device_info what) {
  Value value{};
  clGetDeviceInfo(device, what, sizeof value, &value, nullptr);
  return value;
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) text.pop_back();
  return text;
}

std::string text_of(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS) return {};
  std::string text(size, '\0');
  clGetDeviceInfo(device, what, size, text.data(), nullptr);
  return trimmed(text);
}

std::string text_of(cl_platform_id platform, cl_platform_info what) {
  std::size_t size = 0;
  if (clGetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS) return {};
  std::string text(size, '\0');
  clGetPlatformInfo(platform, what, size, text.data(), nullptr);
  return trimmed(text);
}

bool suitable(cl_device_id device) {
  constexpr cl_device_svm_capabilities kNeeded = CL_DEVICE_SVM_FINE_GRAIN_BUFFER | CL_DEVICE_SVM_ATOMICS;
  return (number<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0 &&
         (number<cl_device_svm_capabilities>(device, CL_DEVICE_SVM_CAPABILITIES) & kNeeded) == kNeeded &&
         number<cl_bool>(device, CL_DEVICE_AVAILABLE) == CL_TRUE &&
         number<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) == CL_TRUE &&
         number<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE) == CL_TRUE &&
         number<cl_uint>(device, CL_DEVICE_ADDRESS_BITS) == 64;
}

// Reaches every memory of a block through one kind of pointer, as CUDA's generic addresses require.
constexpr const char* kProbe = R"(
kernel void fairgv_probe(ulong address, local ulong* block) {
  ulong own[2];
  own[1] = ((global ulong*)address)[0];
  *(ulong*)(ulong)block = *(ulong*)(ulong)(own + 1);
  barrier(CLK_LOCAL_MEM_FENCE);
  *(ulong*)(address + 8) = block[0] + 1;
})";

bool run_probe(const OpenClDevice& device, cl_program program, cl_kernel kernel) {
  const DeviceMemory memory = device.allocate(2 * sizeof(std::uint64_t));
  if (!memory) return false;
  const std::uint64_t asked[2] = {0x1234'5678'9abc'def0U, 0};
  std::memcpy(memory.data(), asked, sizeof asked);
  const cl_ulong address = memory.address();
  const std::size_t one = 1;
  const cl_command_queue queue = device.queue();
  const bool ran =
      program != nullptr && queue != nullptr &&
      clSetKernelArg(kernel, 0, sizeof address, &address) == CL_SUCCESS &&
      clSetKernelArg(kernel, 1, 64, nullptr) == CL_SUCCESS &&
      clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr) == CL_SUCCESS &&
      clFinish(queue) == CL_SUCCESS;
  std::uint64_t answered[2] = {};
  std::memcpy(answered, memory.data(), sizeof answered);
  return ran && answered[1] == asked[0] + 1;
}

bool address_space_is_flat(const OpenClDevice& device) {
  const auto program = build_program(device, kProbe, "-cl-std=CL1.2");
  if (!program) return false;
  cl_int status = CL_SUCCESS;
  const cl_kernel kernel = clCreateKernel(program.value().get(), "fairgv_probe", &status);
  if (status != CL_SUCCESS) return false;
  const bool flat = run_probe(device, program.value().get(), kernel);
  clReleaseKernel(kernel);
  return flat;
}

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_platform_id> found(count);
  clGetPlatformIDs(count, found.data(), nullptr);
  return found;
}

bool wanted(cl_platform_id platform, const char* asked) {
  const std::string name = text_of(platform, CL_PLATFORM_NAME);
  if (asked != nullptr && *asked != '\0') return name.find(asked) != std::string::npos;
  return name.find("FairGV") == std::string::npos;
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_device_id> found(count);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, count, found.data(), nullptr);
  return found;
}

/// Stored with release by abandon_queues(), loaded with acquire where a thread ends.
std::atomic<bool> g_abandoned{false};

/// The queue of one thread; released when the thread ends. Not in a forked child, which does not have
/// OpenCL's threads.
struct ThreadQueue {
  pid_t process = 0;
  const OpenClDevice* device = nullptr;
  cl_command_queue queue = nullptr;
  ThreadQueue() = default;
  ThreadQueue(const ThreadQueue&) = delete;
  ThreadQueue& operator=(const ThreadQueue&) = delete;
  ~ThreadQueue() {
    const bool kept = g_abandoned.load(std::memory_order_acquire) || process != getpid();
    if (queue != nullptr && !kept) clReleaseCommandQueue(queue);
  }
};

}  // namespace

OpenClDevice::OpenClDevice(cl_platform_id platform, cl_device_id device, cl_context context)
    : device_(device), context_(context) {
  facts_.platform_name = text_of(platform, CL_PLATFORM_NAME);
  facts_.name = text_of(device, CL_DEVICE_NAME);
  facts_.version = text_of(device, CL_DEVICE_VERSION);
  facts_.driver_version = text_of(device, CL_DRIVER_VERSION);
  facts_.global_memory = number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  facts_.largest_allocation = number<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  facts_.local_memory = number<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  facts_.compute_units = number<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  facts_.clock_mhz = number<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY);
  facts_.largest_block = number<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  facts_.cache_bytes = number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
  facts_.has_native_kernels = (number<cl_device_exec_capabilities>(device, CL_DEVICE_EXECUTION_CAPABILITIES) &
                               CL_EXEC_NATIVE_KERNEL) != 0;
  struct Sides {
    std::size_t side[3];
  };
  const auto sides = number<Sides>(device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  for (std::size_t at = 0; at < 3; ++at) facts_.largest_block_side[at] = sides.side[at];
}

OpenClDevice::~OpenClDevice() {
  clReleaseContext(context_);
}

Result<std::unique_ptr<OpenClDevice>> OpenClDevice::open() {
  const char* const asked = std::getenv("FAIRGV_SOFTCUDA_PLATFORM");
  std::string seen;
  for (const cl_platform_id platform : platforms()) {
    if (!wanted(platform, asked)) continue;
    for (const cl_device_id device : devices_of(platform)) {
      const std::string name = text_of(device, CL_DEVICE_NAME);
      if (!suitable(device)) {
        seen += "; " + name + " has no fine-grained shared virtual memory";
        continue;
      }
      cl_int status = CL_SUCCESS;
      const cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
      if (status != CL_SUCCESS) continue;
      auto opened = std::make_unique<OpenClDevice>(platform, device, context);
      if (address_space_is_flat(*opened)) return opened;
      opened->release_queue();
      seen += "; " + name + " does not see one flat address space";
    }
  }
  const std::string where =
      asked != nullptr && *asked != '\0' ? "of a platform named '" + std::string(asked) + "'" : "at all";
  return Error{"no OpenCL CPU device " + where + " can be the soft CUDA device" + seen};
}

void OpenClDevice::abandon_queues() {
  g_abandoned.store(true, std::memory_order_release);
}

cl_command_queue OpenClDevice::queue() const {
  ThreadQueue& own = of_thread<ThreadQueue>();
  if (own.device != this) {
    if (own.queue != nullptr) clReleaseCommandQueue(own.queue);
    cl_int status = CL_SUCCESS;
    own.queue = clCreateCommandQueueWithProperties(context_, device_, nullptr, &status);
    if (status != CL_SUCCESS) own.queue = nullptr;
    own.device = this;
    own.process = getpid();
  }
  return own.queue;
}

/// The next device may lie at the same address.
void OpenClDevice::release_queue() const {
  ThreadQueue& own = of_thread<ThreadQueue>();
  if (own.device != this) return;
  if (own.queue != nullptr) clReleaseCommandQueue(own.queue);
  own.queue = nullptr;
  own.device = nullptr;
}

std::shared_ptr<void> OpenClDevice::make_queue() const {
  cl_int status = CL_SUCCESS;
  const cl_command_queue made = clCreateCommandQueueWithProperties(context_, device_, nullptr, &status);
  if (status != CL_SUCCESS) return nullptr;
  return {made, [process = getpid()](void* queue) {
            const bool kept = g_abandoned.load(std::memory_order_acquire) || process != getpid();
            if (!kept) clReleaseCommandQueue(static_cast<cl_command_queue>(queue));
          }};
}

DeviceMemory OpenClDevice::allocate(std::size_t size) const {
  // OpenCL promises the alignment of its largest type only.
  if (size > facts_.largest_allocation || facts_.largest_allocation - size < kAlignment) return {};
  void* const whole = clSVMAlloc(
      context_, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, size + kAlignment, 0);
  if (whole == nullptr) return {};
  const auto first = (reinterpret_cast<std::uintptr_t>(whole) + kAlignment - 1) / kAlignment * kAlignment;
  return {context_, whole, reinterpret_cast<std::byte*>(first)};
}

DeviceMemory OpenClDevice::allocate_for_programs(std::size_t size, bool in_own_pages) const {
  const std::uint64_t wanted = AddressWindow::take_next_place();
  if (size > facts_.largest_allocation || facts_.largest_allocation - size < kAlignment) return {};
  const bool fits = facts_.largest_allocation - size >= 2 * kPageBytes;
  const std::size_t pages = in_own_pages && fits ? round_up_to_page(size) : 0;
  const std::size_t bytes =
      std::max(pages, (std::max<std::size_t>(size, 1) + kAlignment - 1) / kAlignment * kAlignment);
  AddressWindow& window = AddressWindow::of_process();
  if (wanted != 0) {
    if (wanted % (pages != 0 ? kPageBytes : kAlignment) != 0 || !window.take_at(wanted, bytes)) return {};
    return {reinterpret_cast<std::byte*>(wanted), bytes, pages};
  }
  const std::uint64_t address = window.take(bytes, pages != 0 ? kPageBytes : kAlignment);
  if (address == 0) return allocate(size);  // where the process may not have the window's addresses
  return {reinterpret_cast<std::byte*>(address), bytes, pages};
}

}  // namespace fairgv::cuda::soft
