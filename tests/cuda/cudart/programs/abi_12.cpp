// A program of CUDA 12, linked with libcudart.so.12: declares its calls as CUDA 12's headers do, where CUDA
// 13's headers differ.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
int cudaRuntimeGetVersion(int* version);
int cudaDriverGetVersion(int* version);
int cudaDeviceGetAttribute(int* value, int attribute, int device);
int cudaGetDeviceProperties_v2(void* properties, int device);
int cudaGetDeviceProperties(void* properties, int device);
int cudaMalloc(void** memory, std::size_t size);
int cudaMallocManaged(void** memory, std::size_t size, unsigned int flags);
int cudaFree(void* memory);
int cudaMemAdvise(const void* memory, std::size_t count, int advice, int device);
int cudaMemPrefetchAsync(const void* memory, std::size_t count, int device, void* stream);
int cudaPointerGetAttributes(void* attributes, const void* pointer);
int cudaThreadSynchronize();
int cudaLaunchCooperativeKernelMultiDevice(void* list, unsigned int count, unsigned int flags);
int cudaGetLastError();
int cudaGraphCreate(void** graph, unsigned int flags);
int cudaGraphAddEmptyNode(void** node, void* graph, void* const* before, std::size_t count);
int cudaGraphAddDependencies(void* graph, void* const* from, void* const* to, std::size_t count);
int cudaGraphGetEdges(void* graph, void** from, void** to, std::size_t* count);
int cudaGraphNodeGetDependencies(void* node, void** before, std::size_t* count);
int cudaGraphInstantiate(void** executable, void* graph, unsigned long long flags);
int cudaGraphLaunch(void* executable, void* stream);
int cudaGraphExecDestroy(void* executable);
int cudaGraphDestroy(void* graph);
int cudaStreamCreate(void** stream);
int cudaStreamDestroy(void* stream);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamGetCaptureInfo(void* stream, int* status, unsigned long long* id);
int cudaStreamEndCapture(void* stream, void** graph);
}

#define CHECK(condition)                                          \
  do {                                                            \
    if (!(condition)) {                                           \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                               \
    }                                                             \
  } while (false)

// Properties by their places in cudaDeviceProp of CUDA 12 (driver_types.h), 8-byte alignment.
constexpr std::size_t kSizeOfProperties = 1032;
constexpr std::size_t kTotalGlobalMem = 288;
constexpr std::size_t kWarpSize = 308;
constexpr std::size_t kClockRate = 348;
constexpr std::size_t kMajor = 360;
constexpr std::size_t kMultiProcessorCount = 388;

int read_int(const unsigned char* bytes, std::size_t offset) {
  int value = 0;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

int attribute(int which) {
  int value = 0;
  CHECK(cudaDeviceGetAttribute(&value, which, 0) == 0);
  return value;
}

// Calls to which CUDA 13 added the data of edges.
void use_graphs() {
  void* graph = nullptr;
  void* nodes[2] = {};
  CHECK(cudaGraphCreate(&graph, 0) == 0);
  CHECK(cudaGraphAddEmptyNode(&nodes[0], graph, nullptr, 0) == 0);
  CHECK(cudaGraphAddEmptyNode(&nodes[1], graph, nullptr, 0) == 0);
  CHECK(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], 1) == 0);
  void* from = nullptr;
  void* to = nullptr;
  std::size_t count = 1;
  CHECK(cudaGraphGetEdges(graph, &from, &to, &count) == 0);
  CHECK(count == 1 && from == nodes[0] && to == nodes[1]);
  from = nullptr;
  CHECK(cudaGraphNodeGetDependencies(nodes[1], &from, &count) == 0);
  CHECK(count == 1 && from == nodes[0]);
  void* executable = nullptr;
  CHECK(cudaGraphInstantiate(&executable, graph, 0) == 0);
  CHECK(cudaGraphLaunch(executable, nullptr) == 0);
  CHECK(cudaGraphExecDestroy(executable) == 0);
  CHECK(cudaGraphDestroy(graph) == 0);
  void* stream = nullptr;
  CHECK(cudaStreamCreate(&stream) == 0);
  CHECK(cudaStreamBeginCapture(stream, 0) == 0);
  int status = 0;
  unsigned long long id = 0;
  CHECK(cudaStreamGetCaptureInfo(stream, &status, &id) == 0);
  CHECK(status == 1 && id != 0);
  CHECK(cudaStreamEndCapture(stream, &graph) == 0);
  CHECK(cudaGraphDestroy(graph) == 0);
  CHECK(cudaStreamDestroy(stream) == 0);
}

int main() {
  int version = 0;
  CHECK(cudaRuntimeGetVersion(&version) == 0);
  CHECK(version / 1000 == 12);

  unsigned char properties[kSizeOfProperties + 64];
  std::memset(properties, 0xEE, sizeof properties);
  CHECK(cudaGetDeviceProperties_v2(properties, 0) == 0);
  for (std::size_t i = kSizeOfProperties; i < sizeof properties; ++i) CHECK(properties[i] == 0xEE);
  std::size_t memory_size = 0;
  std::memcpy(&memory_size, properties + kTotalGlobalMem, sizeof memory_size);
  CHECK(memory_size > 0 && properties[0] != 0);
  CHECK(read_int(properties, kWarpSize) == 32);
  CHECK(read_int(properties, kClockRate) == attribute(13));
  CHECK(read_int(properties, kMajor) == attribute(75));
  CHECK(read_int(properties, kMultiProcessorCount) == attribute(16));
  unsigned char earlier[kSizeOfProperties];
  CHECK(cudaGetDeviceProperties(earlier, 0) == 0);
  CHECK(std::memcmp(earlier, properties, 600) == 0);

  void* memory = nullptr;
  CHECK(cudaMallocManaged(&memory, 4096, 1) == 0);
  struct {
    int type;
    int device;
    void* device_pointer;
    void* host_pointer;
    unsigned char behind[64];
  } attributes;
  std::memset(&attributes, 0xEE, sizeof attributes);
  CHECK(cudaPointerGetAttributes(&attributes, memory) == 0);
  CHECK(attributes.type == 3 && attributes.device == 0 && attributes.device_pointer == memory);
  for (const unsigned char byte : attributes.behind) CHECK(byte == 0xEE);
  constexpr int kSetReadMostly = 1;
  constexpr int kHost = -1;
  CHECK(cudaMemAdvise(memory, 4096, kSetReadMostly, 0) == 0);
  // Where the device cannot move managed memory, prefetching is an invalid device.
  constexpr int kConcurrentManagedAccess = 89;
  if (attribute(kConcurrentManagedAccess) != 0) {
    CHECK(cudaMemPrefetchAsync(memory, 4096, 0, nullptr) == 0);
    CHECK(cudaMemPrefetchAsync(memory, 4096, kHost, nullptr) == 0);
  }
  CHECK(cudaThreadSynchronize() == 0);
  CHECK(cudaFree(memory) == 0);
  constexpr int kNotSupported = 801;
  CHECK(cudaLaunchCooperativeKernelMultiDevice(nullptr, 0, 0) == kNotSupported);
  CHECK(cudaGetLastError() == kNotSupported);
  CHECK(cudaGetLastError() == 0);
  use_graphs();
  std::printf("passed abi_12\n");
  return 0;
}
