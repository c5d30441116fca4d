// direct_program MODE [ARGUMENT...]: a small CUDA program for the tests of direct sessions. Lines on standard
// output tell what it did; messages of the library come between them. Kernels are those of
// FAIRGV_TEST_FILES/kernels.ptx.
#include <cuda.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kValues = 1 << 20;

[[noreturn]] void leave(const char* what, CUresult code) {
  std::printf("%s: %d\n", what, static_cast<int>(code));
  std::exit(1);
}

#define CHECK(call)                                                                   \
  do {                                                                                \
    if (const CUresult result = (call); result != CUDA_SUCCESS) leave(#call, result); \
  } while (false)

/// A context with memory and a kernel.
struct Work {
  CUcontext context = nullptr;
  CUfunction increment = nullptr;
  CUdeviceptr values = 0;

  Work() {
    CHECK(cuInit(0));
    CUdevice device = 0;
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate(&context, nullptr, 0, device));
    CUmodule module = nullptr;
    CHECK(cuModuleLoad(&module, FAIRGV_TEST_FILES "/kernels.ptx"));
    CHECK(cuModuleGetFunction(&increment, module, "increment"));
    CHECK(cuMemAlloc(&values, kValues * sizeof(unsigned)));
    CHECK(cuMemsetD32(values, 0, kValues));
  }
  CUresult launch(CUstream stream = nullptr) {
    int count = kValues;
    void* arguments[] = {&values, &count, nullptr};
    return cuLaunchKernel(increment, kValues / 256, 1, 1, 256, 1, 1, 0, stream, arguments, nullptr);
  }
  unsigned first() {
    unsigned value = 0;
    CHECK(cuMemcpyDtoH(&value, values, sizeof(value)));
    return value;
  }
};

/// Launches so many kernels, and tells the sum that they made.
int count(int launches) {
  Work work;
  for (int i = 0; i < launches; ++i) CHECK(work.launch());
  std::printf("counted %u\n", work.first());
  return 0;
}

/// Keeps the device busy for so many milliseconds, and tells how much it did; with 0, for ever.
int busy(int milliseconds) {
  Work work;
  std::printf("busy\n");
  std::fflush(stdout);
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  unsigned launches = 0;
  while (milliseconds == 0 || Clock::now() < end) {
    for (int i = 0; i < 8; ++i, ++launches) CHECK(work.launch());
    CHECK(cuCtxSynchronize());
  }
  std::printf("did %u of %u\n", work.first(), launches);
  return 0;
}

/// Launches until that fails, and tells how.
int until_it_fails() {
  Work work;
  std::printf("busy\n");
  std::fflush(stdout);
  CUresult code = CUDA_SUCCESS;
  while (code == CUDA_SUCCESS) {
    code = work.launch();
    if (code == CUDA_SUCCESS) code = cuCtxSynchronize();
  }
  std::printf("failed: %d\n", static_cast<int>(code));
  return 0;
}

/// A child without cuInit is no tenant, and its end is not the parent's.
int fork_and_go_on() {
  Work work;
  CHECK(work.launch());
  CHECK(cuCtxSynchronize());
  for (int i = 0; i < 3; ++i) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(work.launch());
  }
  std::printf("counted %u\n", work.first());
  return 0;
}

/// A parent that has not begun yet may have children that are tenants each.
int fork_before(int children) {
  std::vector<pid_t> all;
  for (int i = 0; i < children; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      const int status = count(20);
      std::fflush(stdout);
      ::_exit(status);
    }
    all.push_back(child);
  }
  int bad = 0;
  for (const pid_t child : all) {
    int status = 0;
    ::waitpid(child, &status, 0);
    bad += status == 0 ? 0 : 1;
  }
  std::printf("%d of %d children failed\n", bad, children);
  return 0;
}

/// Becomes another program, with the device in use.
int become(const char* program) {
  Work work;
  for (int i = 0; i < 10; ++i) CHECK(work.launch());
  ::execl(program, program, nullptr);
  return 1;
}

/// Threads that allocate and free at random; never more than `limit` bytes in all.
int allocate(int threads, std::uint64_t limit, unsigned seed) {
  Work work;
  std::size_t free_before = 0, total = 0;
  CHECK(cuMemGetInfo(&free_before, &total));
  std::printf("total %zu free %zu\n", total, free_before);
  std::atomic<std::int64_t> held{0}, most{0}, refused{0}, granted{0};
  std::vector<std::thread> all;
  for (int thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] {
      CHECK(cuCtxSetCurrent(work.context));
      std::mt19937 random(seed + static_cast<unsigned>(thread));
      std::map<CUdeviceptr, std::int64_t> own;
      for (int i = 0; i < 200; ++i) {
        const auto bytes = static_cast<std::int64_t>(random() % (limit / 8) + 1);
        CUdeviceptr memory = 0;
        const int kind = static_cast<int>(random() % 2);
        const CUresult code =
            kind == 0 ? cuMemAlloc(&memory, static_cast<std::size_t>(bytes))
                      : cuMemAllocManaged(&memory, static_cast<std::size_t>(bytes), CU_MEM_ATTACH_GLOBAL);
        if (code == CUDA_SUCCESS) {
          ++granted;
          own[memory] = bytes;
          const std::int64_t now = held += bytes;
          std::int64_t before = most;
          while (now > before && !most.compare_exchange_weak(before, now)) {
          }
        } else if (code == CUDA_ERROR_OUT_OF_MEMORY) {
          ++refused;
        } else {
          leave("an allocation", code);
        }
        if (!own.empty() && (code != CUDA_SUCCESS || random() % 3 == 0)) {
          held -= own.begin()->second;  // before: another thread may have it at once
          CHECK(cuMemFree(own.begin()->first));
          own.erase(own.begin());
        }
      }
      for (const auto& [memory, bytes] : own) {
        held -= bytes;
        CHECK(cuMemFree(memory));
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  std::size_t free_after = 0;
  CHECK(cuMemGetInfo(&free_after, &total));
  std::printf("granted %ld refused %ld most %ld left %zu\n", static_cast<long>(granted),
              static_cast<long>(refused), static_cast<long>(most), free_after);
  return 0;
}

/// The bytes that the program may still have.
long long left() {
  std::size_t free = 0, total = 0;
  CHECK(cuMemGetInfo(&free, &total));
  return static_cast<long long>(free);
}

/// A graph that allocates so many bytes and frees them.
CUgraph graph_with_memory(std::size_t bytes) {
  CUgraph graph = nullptr;
  CHECK(cuGraphCreate(&graph, 0));
  CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
  allocation.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  allocation.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  allocation.poolProps.location.id = 0;
  allocation.bytesize = bytes;
  CUgraphNode allocating = nullptr, freeing = nullptr;
  CHECK(cuGraphAddMemAllocNode(&allocating, graph, nullptr, 0, &allocation));
  CHECK(cuGraphAddMemFreeNode(&freeing, graph, &allocating, 1, allocation.dptr));
  return graph;
}

/// Executable graphs are charged with their allocations, once, and those beyond the limit are refused.
int graphs(std::size_t bytes) {
  Work work;
  CHECK(cuCtxSynchronize());
  const long long before = left();
  CUgraph graph = graph_with_memory(bytes);
  std::printf("described %lld\n", before - left());
  CUgraphExec first = nullptr, second = nullptr;
  CHECK(cuGraphInstantiate(&first, graph, 0));
  for (int i = 0; i < 3; ++i) CHECK(cuGraphLaunch(first, nullptr));
  CHECK(cuCtxSynchronize());
  std::printf("executable %lld\n", before - left());
  CUgraph large = graph_with_memory(static_cast<std::size_t>(before));
  std::printf("beyond the limit: %d\n", cuGraphInstantiate(&second, large, 0));
  CHECK(cuGraphDestroy(large));
  CHECK(cuGraphExecDestroy(first));
  CHECK(cuGraphDestroy(graph));
  std::printf("destroyed %lld\n", before - left());
  large = graph_with_memory(static_cast<std::size_t>(before));
  CHECK(cuGraphInstantiate(&second, large, 0));
  CHECK(cuGraphExecDestroy(second));
  CHECK(cuGraphDestroy(large));
  std::printf("back %lld\n", before - left());
  return 0;
}

/// Everything that holds memory is charged, and given back.
int every_kind() {
  Work work;
  CHECK(cuCtxSynchronize());
  const long long before = left();
  CUdeviceptr memory = 0;
  std::size_t pitch = 0;
  CHECK(cuMemAllocPitch(&memory, &pitch, 1000, 1024, 4));
  std::printf("pitched %lld\n", before - left());
  CHECK(cuMemFree(memory));
  CUDA_ARRAY_DESCRIPTOR description{1024, 512, CU_AD_FORMAT_FLOAT, 2};
  CUarray array = nullptr;
  CHECK(cuArrayCreate(&array, &description));
  std::printf("array %lld\n", before - left());
  CHECK(cuArrayDestroy(array));
  CUstream stream = nullptr;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  if (const CUresult code = cuMemAllocAsync(&memory, 1 << 20, stream); code == CUDA_SUCCESS) {
    std::printf("async %lld\n", before - left());
    CHECK(cuMemFreeAsync(memory, stream));
    CHECK(cuStreamSynchronize(stream));
  }
  CHECK(cuStreamDestroy(stream));
  CHECK(cuMemAlloc(&memory, 1 << 20));
  CHECK(cuCtxDestroy(work.context));
  CUdevice device = 0;
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuCtxCreate(&work.context, nullptr, 0, device));
  // The context's memory is back, with the work's own memory; a free in a stream's order may be on its way.
  constexpr long long kWorkBytes = kValues * sizeof(unsigned);
  using Clock = std::chrono::steady_clock;
  const auto patience_ends = Clock::now() + std::chrono::seconds(10);
  while (left() < before + kWorkBytes && Clock::now() < patience_ends) std::this_thread::yield();
  std::printf("back %lld\n", left() - before);
  return 0;
}

/// Writes to its turn page what only a turn allows.
int take_the_turn() {
  Work work;
  CHECK(cuCtxSynchronize());
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("fairgv-turn") == std::string::npos) continue;
    auto* const state =
        reinterpret_cast<std::atomic<std::uint32_t>*>(std::strtoull(line.c_str(), nullptr, 16));
    std::printf("takes it\n");
    std::fflush(stdout);
    for (;;) {
      state->store(3);  // busy
      ::usleep(100);
      // Any call that waits at the gate knocks; so does a descriptor, which is found by its name.
      for (int fd = 3; fd < 256; ++fd) {
        char name[64] = {};
        const std::string path = "/proc/self/fd/" + std::to_string(fd);
        if (::readlink(path.c_str(), name, sizeof(name) - 1) > 0 && std::strstr(name, "eventfd") != nullptr) {
          const std::uint64_t one = 1;
          static_cast<void>(::write(fd, &one, sizeof(one)));
        }
      }
    }
  }
  return 1;
}

/// Gives the device a command that never ends.
int never_drain() {
  Work work;
  CUstream stream = nullptr;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuLaunchHostFunc(
      stream, [](void*) { ::pause(); }, nullptr));
  CHECK(work.launch(stream));
  std::printf("busy\n");
  std::fflush(stdout);
  for (;;) ::pause();
}

}  // namespace

int main(int count_of, char** arguments) {
  ::dup2(STDOUT_FILENO, STDERR_FILENO);
  const std::string mode = count_of > 1 ? arguments[1] : "";
  const auto number = [&](int at) { return count_of > at ? std::strtoull(arguments[at], nullptr, 10) : 0; };
  if (mode == "count") return count(static_cast<int>(number(2)));
  if (mode == "busy") return busy(static_cast<int>(number(2)));
  if (mode == "until-it-fails") return until_it_fails();
  if (mode == "fork") return fork_and_go_on();
  if (mode == "fork-before") return fork_before(static_cast<int>(number(2)));
  if (mode == "exec") return become(arguments[2]);
  if (mode == "allocate")
    return allocate(static_cast<int>(number(2)), number(3), static_cast<unsigned>(number(4)));
  if (mode == "every-kind") return every_kind();
  if (mode == "graphs") return graphs(number(2));
  if (mode == "take-the-turn") return take_the_turn();
  if (mode == "never-drain") return never_drain();
  std::fprintf(stderr, "unknown mode\n");
  return 2;
}
