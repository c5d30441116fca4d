// A CUDA program whose results depend on everything that it has done before, for wanderer_test.cpp. It knows
// nothing of FairGV. Each round works with streams and events, a graph, a surface and a texture of one array,
// variables of the module, managed memory, memory that kernels allocate and whose addresses they store, memory
// of a stream, and functions of the host. Now and then everything is compared with the same numbers on the
// host, and a line says how many rounds there have been. It runs until there is a file of this name, or for
// two minutes, and then prints "right". It has other memory of so many MiB, too.
//
//   wanderer MIB FILE
#include <cuda_runtime.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr unsigned kNumbers = 4096;
constexpr unsigned kBlock = 128;
constexpr unsigned kGrid = kNumbers / kBlock;
constexpr unsigned kWidth = 64, kHeight = 32;
constexpr unsigned kRoundsBetweenLooks = 8;
constexpr unsigned kMostNodes = 200;
constexpr std::size_t kHeapBytes = 1 << 20;

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}
#define CHECK(call) check(call, #call)

struct Node {
  Node* next;
  std::uint32_t value;
};

__device__ std::uint32_t total;
__device__ Node* nodes;
__device__ std::uint32_t* table[2];
__constant__ std::uint32_t salt;

__global__ void fill_table(std::uint32_t* first, std::uint32_t* second) {
  table[0] = first;
  table[1] = second;
}
__global__ void advance(std::uint32_t* numbers, std::uint32_t increment) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  numbers[i] = numbers[i] * 1664525U + increment + i + salt;
}
// By the addresses that an earlier kernel has stored.
__global__ void mingle() {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  table[1][i] = table[0][i] ^ (table[1][i] >> 3);
}
__global__ void paint(cudaSurfaceObject_t surface, std::uint32_t round) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned y = 0; y < kHeight; ++y) {
    std::uint32_t now = 0;
    surf2Dread(&now, surface, static_cast<int>(x * 4), static_cast<int>(y));
    surf2Dwrite(now + round * (x + y), surface, static_cast<int>(x * 4), static_cast<int>(y));
  }
}
__global__ void look(cudaTextureObject_t texture, std::uint32_t* seen) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned y = 0; y < kHeight; ++y)
    seen[y * kWidth + x] += tex2D<std::uint32_t>(texture, static_cast<float>(x), static_cast<float>(y));
}
__global__ void count(std::uint32_t* managed, std::uint32_t* of_stream, std::uint32_t round) {
  *of_stream = round;
  *managed += *of_stream;
  total += round;
}
__global__ void keep(std::uint32_t value) {
  auto* const node = static_cast<Node*>(malloc(sizeof(Node)));
  node->value = value;
  node->next = nodes;
  nodes = node;
}
__global__ void sum_up(std::uint32_t* sum) {
  *sum = 0;
  for (const Node* node = nodes; node != nullptr; node = node->next) *sum += node->value;
}
__global__ void say(std::uint32_t round) {
  printf("kernel of round %u\n", round);
}
__global__ void in_graph(std::uint32_t* numbers) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  numbers[i] = numbers[i] * 5 + 1;
}

void CUDART_CB called_back(void* counter) {
  ++*static_cast<std::uint32_t*>(counter);
}

struct Wanderer {
  explicit Wanderer(std::size_t ballast_bytes) {
    CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, kHeapBytes));
    for (cudaStream_t* const stream : {&first, &second}) CHECK(cudaStreamCreate(stream));
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    for (std::uint32_t** const memory : {&numbers, &mixed, &graphed, &seen}) {
      CHECK(cudaMalloc(memory, kNumbers * 4));
      CHECK(cudaMemset(*memory, 0, kNumbers * 4));
    }
    CHECK(cudaMalloc(&sum, 4));
    CHECK(cudaMalloc(&ballast, ballast_bytes));
    CHECK(cudaMallocManaged(&managed, 4));
    *managed = 0;
    fill_table<<<1, 1>>>(numbers, mixed);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned>();
    CHECK(cudaMallocArray(&array, &format, kWidth, kHeight, cudaArraySurfaceLoadStore));
    CHECK(cudaMemcpy2DToArray(array, 0, 0, host_array.data(), kWidth * 4, kWidth * 4, kHeight,
                              cudaMemcpyHostToDevice));
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    cudaTextureDesc reading{};
    reading.readMode = cudaReadModeElementType;
    CHECK(cudaCreateTextureObject(&texture, &resource, &reading, nullptr));
    cudaGraph_t recorded = nullptr;
    CHECK(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal));
    in_graph<<<kGrid, kBlock, 0, first>>>(graphed);
    in_graph<<<kGrid, kBlock, 0, first>>>(graphed);
    CHECK(cudaStreamEndCapture(first, &recorded));
    CHECK(cudaGraphInstantiate(&graph, recorded, 0));
  }

  void round(std::uint32_t number) {
    const std::uint32_t next_salt = number * 7;
    CHECK(cudaMemcpyToSymbolAsync(salt, &next_salt, 4, 0, cudaMemcpyHostToDevice, first));
    advance<<<kGrid, kBlock, 0, first>>>(numbers, number);
    CHECK(cudaEventRecord(ready, first));
    CHECK(cudaLaunchHostFunc(second, called_back, &called));
    CHECK(cudaStreamWaitEvent(second, ready, 0));
    mingle<<<kGrid, kBlock, 0, second>>>();
    CHECK(cudaGraphLaunch(graph, first));
    paint<<<1, kWidth, 0, second>>>(surface, number);
    look<<<1, kWidth, 0, second>>>(texture, seen);
    std::uint32_t* of_stream = nullptr;
    CHECK(cudaMallocAsync(&of_stream, 4, second));
    count<<<1, 1, 0, second>>>(managed, of_stream, number);
    CHECK(cudaFreeAsync(of_stream, second));
    if (number <= kMostNodes) keep<<<1, 1, 0, second>>>(number);
    CHECK(cudaEventRecord(ready, second));
    CHECK(cudaStreamWaitEvent(first, ready, 0));
    follow(number, next_salt);
  }

  void follow(std::uint32_t number, std::uint32_t of_salt) {
    for (unsigned i = 0; i < kNumbers; ++i) {
      host_numbers[i] = host_numbers[i] * 1664525U + number + i + of_salt;
      host_mixed[i] = host_numbers[i] ^ (host_mixed[i] >> 3);
      for (int twice = 0; twice < 2; ++twice) host_graphed[i] = host_graphed[i] * 5 + 1;
    }
    for (unsigned y = 0; y < kHeight; ++y) {
      for (unsigned x = 0; x < kWidth; ++x) {
        std::uint32_t& texel = host_array[y * kWidth + x];
        texel += number * (x + y);
        host_seen[y * kWidth + x] += texel;
      }
    }
    host_total += number;
    if (number <= kMostNodes) host_nodes += number;
  }

  bool same(const char* what, const std::vector<std::uint32_t>& host, const std::uint32_t* device) {
    std::vector<std::uint32_t> found(host.size());
    CHECK(cudaMemcpy(found.data(), device, found.size() * 4, cudaMemcpyDeviceToHost));
    if (found == host) return true;
    std::printf("%s differ\n", what);
    return false;
  }
  bool same(const char* what, std::uint32_t host, std::uint32_t found) {
    if (host == found) return true;
    std::printf("%s is %u instead of %u\n", what, found, host);
    return false;
  }

  bool is_right(std::uint32_t rounds) {
    sum_up<<<1, 1, 0, first>>>(sum);
    say<<<1, 1, 0, first>>>(rounds);
    CHECK(cudaDeviceSynchronize());
    std::uint32_t of_module = 0, of_nodes = 0;
    CHECK(cudaMemcpyFromSymbol(&of_module, total, 4));
    CHECK(cudaMemcpy(&of_nodes, sum, 4, cudaMemcpyDeviceToHost));
    bool right = same("numbers", host_numbers, numbers);
    right = same("mixed numbers", host_mixed, mixed) && right;
    right = same("numbers of the graph", host_graphed, graphed) && right;
    right = same("texels", host_seen, seen) && right;
    right = same("the module's variable", host_total, of_module) && right;
    right = same("managed memory", host_total, *managed) && right;
    right = same("the sum of nodes", host_nodes, of_nodes) && right;
    std::size_t heap = 0;
    CHECK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    right = same("the heap's limit", kHeapBytes, static_cast<std::uint32_t>(heap)) && right;
    // Kernels have allocated from it: its size is what it is.
    right = same("the refusal of another limit", cudaErrorInvalidValue,
                 cudaDeviceSetLimit(cudaLimitMallocHeapSize, kHeapBytes)) &&
            right;
    cudaGetLastError();
    return same("the number of calls", rounds, called) && right;
  }

  std::vector<std::uint32_t> host_numbers = std::vector<std::uint32_t>(kNumbers);
  std::vector<std::uint32_t> host_mixed = std::vector<std::uint32_t>(kNumbers);
  std::vector<std::uint32_t> host_graphed = std::vector<std::uint32_t>(kNumbers);
  std::vector<std::uint32_t> host_array = std::vector<std::uint32_t>(kWidth * kHeight);
  std::vector<std::uint32_t> host_seen = std::vector<std::uint32_t>(kWidth * kHeight);
  std::uint32_t host_total = 0, host_nodes = 0, called = 0;
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t ready = nullptr;
  std::uint32_t *numbers = nullptr, *mixed = nullptr, *graphed = nullptr, *seen = nullptr, *sum = nullptr;
  std::uint32_t *managed = nullptr, *ballast = nullptr;
  cudaArray_t array = nullptr;
  cudaSurfaceObject_t surface = 0;
  cudaTextureObject_t texture = 0;
  cudaGraphExec_t graph = nullptr;
};

}  // namespace

int main(int, char** argv) {
  Wanderer wanderer(std::strtoul(argv[1], nullptr, 10) << 20U);
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  std::uint32_t rounds = 0;
  while (::access(argv[2], F_OK) != 0 && std::chrono::steady_clock::now() < until) {
    wanderer.round(++rounds);
    if (rounds % kRoundsBetweenLooks != 0) continue;
    if (!wanderer.is_right(rounds)) {
      std::printf("wrong after %u rounds\n", rounds);
      return 1;
    }
    std::printf("{\"rounds\": %u}\n", rounds);
    std::fflush(stdout);
  }
  std::puts(wanderer.is_right(rounds) ? "right" : "wrong");
  return 0;
}
