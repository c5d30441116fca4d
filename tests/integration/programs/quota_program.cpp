// A program that allocates device memory as its arguments say, for the tests of quotas; on the visible
// platform. Each line of its output is a JSON object.
//
//   quota_program info                      the device's queries about its memory
//   quota_program hold BYTES...             allocates these one by one, prints each result, and stays
//   quota_program grow BYTES                allocates pieces of so many bytes, tries again when refused, and
//                                           stays
//   quota_program storm SEED THREADS ROUNDS allocates and frees at random in several threads, and ends
//   quota_program transfer                  writes, reads and compares the largest buffer, and ends
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Device {
  cl_device_id id = nullptr;
  cl_context context = nullptr;

  Device() {
    cl_platform_id platform = nullptr;
    clGetPlatformIDs(1, &platform, nullptr);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr);
    context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr);
  }
  cl_ulong number(cl_device_info param) const {
    cl_ulong value = 0;
    clGetDeviceInfo(id, param, sizeof(value), &value, nullptr);
    return value;
  }
};

[[gnu::format(printf, 1, 2)]] void say(const char* format, ...) {
  va_list values;
  va_start(values, format);
  std::vprintf(format, values);
  va_end(values);
  std::fflush(stdout);
}

int info(const Device& device) {
  say("{\"global\":%lu,\"max_allocation\":%lu}\n", device.number(CL_DEVICE_GLOBAL_MEM_SIZE),
      device.number(CL_DEVICE_MAX_MEM_ALLOC_SIZE));
  return 0;
}

cl_int allocate(const Device& device, std::uint64_t bytes) {
  cl_int error = CL_SUCCESS;
  clCreateBuffer(device.context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
  return error;
}

/// Writes and reads the largest possible buffer, whole and at once, and makes one from contents.
int transfer(const Device& device) {
  const std::uint64_t bytes = device.number(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  std::vector<std::uint32_t> sent(bytes / sizeof(std::uint32_t));
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::uint32_t>(i * 2654435761U);
  cl_int error = CL_SUCCESS;
  int wrong = 0;
  const cl_command_queue queue =
      clCreateCommandQueueWithProperties(device.context, device.id, nullptr, &error);
  for (const cl_mem_flags flags : {cl_mem_flags{CL_MEM_READ_WRITE}, cl_mem_flags{CL_MEM_COPY_HOST_PTR}}) {
    const bool copies = flags == CL_MEM_COPY_HOST_PTR;
    const cl_mem buffer =
        clCreateBuffer(device.context, flags, bytes, copies ? sent.data() : nullptr, &error);
    if (error == CL_SUCCESS && !copies) {
      error = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, sent.data(), 0, nullptr, nullptr);
    }
    std::vector<std::uint32_t> received(copies ? 1024 : sent.size());
    if (error == CL_SUCCESS) {
      error = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, received.size() * sizeof(received[0]),
                                  received.data(), 0, nullptr, nullptr);
    }
    if (error != CL_SUCCESS) break;
    wrong += std::memcmp(received.data(), sent.data(), received.size() * sizeof(received[0])) != 0 ? 1 : 0;
    clReleaseMemObject(buffer);
    clFinish(queue);
  }
  say("{\"bytes\":%lu,\"error\":%d,\"wrong\":%d}\n", bytes, error, wrong);
  return 0;
}

[[noreturn]] void stay() {
  for (;;) ::pause();
}

int hold(const Device& device, const std::vector<std::uint64_t>& sizes) {
  for (const std::uint64_t bytes : sizes) {
    say("{\"bytes\":%lu,\"error\":%d}\n", bytes, allocate(device, bytes));
  }
  say("{\"done\":true}\n");
  stay();
}

int grow(const Device& device, std::uint64_t bytes) {
  for (std::uint64_t held = 0;;) {
    const cl_int error = allocate(device, bytes);
    if (error == CL_SUCCESS) held += bytes;
    say("{\"held\":%lu,\"error\":%d}\n", held, error);
    ::usleep(20'000);
  }
}

/// The counts of a storm's threads.
struct Counts {
  std::atomic<int> granted{0}, refused{0}, wrong{0};
};

/// Allocates something and returns a call that frees it, or none if it was refused. Any other error is a
/// failure.
std::function<void()> allocate_something(const Device& device, std::uint64_t bytes, unsigned path,
                                         Counts& counts) {
  cl_int error = CL_SUCCESS;
  std::function<void()> free;
  if (path == 0) {
    void* const pointer = clSVMAlloc(device.context, CL_MEM_READ_WRITE, bytes, 0);
    if (pointer == nullptr) error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    free = [&device, pointer] { clSVMFree(device.context, pointer); };
  } else {
    cl_mem object = nullptr;
    if (path == 1) {
      const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
      cl_image_desc shape{};
      shape.image_type = CL_MEM_OBJECT_IMAGE2D;
      shape.image_width = 256;
      shape.image_height = bytes / 1024 + 1;
      object = clCreateImage(device.context, CL_MEM_READ_WRITE, &format, &shape, nullptr, &error);
    } else {
      object = clCreateBuffer(device.context, CL_MEM_READ_WRITE, bytes, nullptr, &error);
    }
    free = [object] { clReleaseMemObject(object); };
  }
  if (error == CL_SUCCESS) {
    ++counts.granted;
    return free;
  }
  ++(error == CL_MEM_OBJECT_ALLOCATION_FAILURE ? counts.refused : counts.wrong);
  return {};
}

void storm_thread(const Device& device, std::uint64_t seed, int rounds, Counts& counts) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::uint64_t most) {
    return std::uniform_int_distribution<std::uint64_t>(0, most)(random);
  };
  std::vector<std::function<void()>> held;
  for (int round = 0; round < rounds; ++round) {
    if (!held.empty() && up_to(2) == 0) {
      const auto place = held.begin() + static_cast<std::ptrdiff_t>(up_to(held.size() - 1));
      (*place)();
      held.erase(place);
      continue;
    }
    const std::uint64_t bytes = 1 + up_to(up_to(1) == 0 ? 100'000 : 4'000'000);
    if (auto free = allocate_something(device, bytes, static_cast<unsigned>(up_to(5)), counts)) {
      held.push_back(std::move(free));
    }
  }
  for (const auto& free : held) free();
}

int storm(const Device& device, std::uint64_t seed, int threads, int rounds) {
  Counts counts;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back(
        [&, i] { storm_thread(device, seed + static_cast<std::uint64_t>(i), rounds, counts); });
  }
  for (std::thread& thread : running) thread.join();
  say("{\"granted\":%d,\"refused\":%d,\"wrong\":%d}\n", counts.granted.load(), counts.refused.load(),
      counts.wrong.load());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  const std::string command = words.empty() ? "" : words[0];
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 1; i < words.size(); ++i) numbers.push_back(std::stoull(words[i]));
  const Device device;
  if (device.context == nullptr) return 1;
  if (command == "info") return info(device);
  if (command == "transfer") return transfer(device);
  if (command == "hold") return hold(device, numbers);
  if (command == "grow" && numbers.size() == 1) return grow(device, numbers[0]);
  if (command == "storm" && numbers.size() == 3) {
    return storm(device, numbers[0], static_cast<int>(numbers[1]), static_cast<int>(numbers[2]));
  }
  return 2;
}
