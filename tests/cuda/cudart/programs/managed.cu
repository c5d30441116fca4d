// __managed__ variables: the program and its kernels see each other's writes, whichever call has waited.
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "check.hpp"

struct Entry {
  int* counter;
  char tag[5];
  short size;
};
__managed__ int counter = 5;
__managed__ double grid[100] = {0.25, 0.5};
__managed__ Entry entry;
__managed__ int many[50000];
__device__ int beside = 3;

__global__ void add_to_all(int by) {
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    counter += by;
    *entry.counter += beside;
    entry.tag[2] = 'x';
  }
  if (blockIdx.x == 0 && threadIdx.x < 100) grid[threadIdx.x] += 1;
}

__global__ void add_index(int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) many[i] += i;
}

// The first access of the program loads the code, and finds the values of the source.
static void first_access() {
  CHECK(counter == 5);
  CHECK(grid[0] == 0.25 && grid[1] == 0.5 && grid[99] == 0);
  counter = 7;
  entry.counter = &counter;
  std::memcpy(entry.tag, "abcd", 5);
  entry.size = -3;
}

static void both_sides_write() {
  add_to_all<<<1, 128>>>(10);
  OK(cudaDeviceSynchronize());
  CHECK(counter == 20);
  CHECK(grid[0] == 1.25 && grid[99] == 1);
  CHECK(std::memcmp(entry.tag, "abxd", 5) == 0 && entry.size == -3);
  for (int round = 0; round < 20; ++round) {
    counter = round;
    add_to_all<<<1, 1>>>(1);
    OK(cudaStreamSynchronize(nullptr));
    CHECK(counter == round + 4);
  }
}

static void every_wait_counts() {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaEventCreate(&event));
  counter = 0;
  add_to_all<<<1, 1, 0, stream>>>(1);
  OK(cudaEventRecord(event, stream));
  OK(cudaEventSynchronize(event));
  CHECK(counter == 4);
  add_to_all<<<1, 1, 0, stream>>>(1);
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  CHECK(counter == 8);
  add_to_all<<<1, 1, 0, stream>>>(1);
  OK(cudaEventRecord(event, stream));
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  CHECK(counter == 12);
  // A copy that waits, of other memory; the default stream's work comes before it.
  int host = 0;
  void* memory = nullptr;
  OK(cudaMalloc(&memory, sizeof host));
  add_to_all<<<1, 1>>>(1);
  OK(cudaMemcpy(&host, memory, sizeof host, cudaMemcpyDeviceToHost));
  CHECK(counter == 16);
  OK(cudaFree(memory));
  // The program's function runs in the stream's order.
  static int seen = 0;
  counter = 100;
  add_to_all<<<1, 1, 0, stream>>>(1);
  OK(cudaLaunchHostFunc(
      stream,
      [](void*) {
        seen = counter;
        counter = 200;
      },
      nullptr));
  add_to_all<<<1, 1, 0, stream>>>(1);
  OK(cudaStreamSynchronize(stream));
  CHECK(seen == 104);
  CHECK(counter == 204);
  OK(cudaEventDestroy(event));
  OK(cudaStreamDestroy(stream));
}

static void large_ones() {
  constexpr int kCount = 50000;
  for (int at = 0; at < kCount; ++at) many[at] = 3 * at + 1;
  add_index<<<(kCount + 255) / 256, 256>>>(kCount);
  OK(cudaDeviceSynchronize());
  int wrong = 0;
  for (int at = 0; at < kCount; ++at) wrong += many[at] != 4 * at + 1;
  CHECK(wrong == 0);
}

static void calls_see_them() {
  void* address = nullptr;
  OK(cudaGetSymbolAddress(&address, counter));
  CHECK(address == &counter);
  counter = 11;
  int copy = 0;
  OK(cudaMemcpyFromSymbol(&copy, counter, sizeof copy));
  CHECK(copy == 11);
  copy = 12;
  OK(cudaMemcpyToSymbol(counter, &copy, sizeof copy));
  OK(cudaDeviceSynchronize());
  CHECK(counter == 12);
  OK(cudaMemset(&grid[1], 0, sizeof grid[1]));
  OK(cudaDeviceSynchronize());
  CHECK(grid[0] != 0 && grid[1] == 0 && grid[2] != 0);
  cudaPointerAttributes attributes{};
  OK(cudaPointerGetAttributes(&attributes, &grid[3]));
  CHECK(attributes.type == cudaMemoryTypeManaged);
  CHECK(attributes.hostPointer == &grid[3]);
}

static void graphs_too() {
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add_to_all<<<1, 1, 0, stream>>>(1);
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable = nullptr;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  counter = 50;
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(counter == 58);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
}

// Waits of several threads do not lose what the program writes elsewhere.
static void threads() {
  std::vector<std::thread> all;
  for (int number = 0; number < 4; ++number) {
    all.emplace_back([number] {
      int* const own = &many[number * 1000];
      *own = 0;
      for (int round = 1; round <= 50; ++round) {
        *own += 1;
        OK(cudaDeviceSynchronize());
        CHECK(*own == round);
      }
    });
  }
  for (std::thread& one : all) one.join();
}

int main(int argc, char** argv) {
  const Case cases[] = {{"first_access", first_access},
                        {"both_sides_write", both_sides_write},
                        {"every_wait_counts", every_wait_counts},
                        {"large_ones", large_ones},
                        {"calls_see_them", calls_see_them},
                        {"graphs_too", graphs_too},
                        {"threads", threads}};
  return run_cases(cases, static_cast<int>(sizeof cases / sizeof cases[0]), argc, argv);
}
