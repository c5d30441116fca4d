// Graphs, captured and built. A driver without graphs is reported by the word "unsupported".
#include <vector>

#include "check.hpp"

__constant__ int offset;

__global__ void add_offset(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] += offset;
}

static const int kCount = 300;

static void captured() {
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int* values = nullptr;
  OK(cudaMalloc(&values, kCount * sizeof(int)));
  const int seven = 7;
  OK(cudaMemcpyToSymbol(offset, &seven, sizeof seven));
  std::vector<int> result(kCount, -1);
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  OK(cudaMemsetAsync(values, 0, kCount * sizeof(int), stream));
  add_offset<<<3, 100, 0, stream>>>(values, kCount);
  add_offset<<<3, 100, 0, stream>>>(values, kCount);
  OK(cudaMemcpyAsync(result.data(), values, kCount * sizeof(int), cudaMemcpyDeviceToHost, stream));
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(stream, &graph));
  size_t nodes = 0;
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(nodes == 4);
  cudaGraphExec_t executable = nullptr;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  OK(cudaGraphLaunch(executable, stream));
  OK(cudaStreamSynchronize(stream));
  for (int value : result) CHECK(value == 14);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(values));
  OK(cudaStreamDestroy(stream));
}

static void built() {
  int* values = nullptr;
  int count = kCount;
  OK(cudaMalloc(&values, kCount * sizeof(int)));
  std::vector<int> result(kCount, -1);
  cudaGraph_t graph = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t fill = nullptr, symbol = nullptr, kernel = nullptr, copy = nullptr;
  cudaMemsetParams memset = {};
  memset.dst = values;
  memset.elementSize = 4;
  memset.value = 100;
  memset.width = kCount;
  memset.height = 1;
  OK(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &memset));
  const int eleven = 11;
  OK(cudaGraphAddMemcpyNodeToSymbol(&symbol, graph, nullptr, 0, offset, &eleven, sizeof eleven, 0,
                                    cudaMemcpyHostToDevice));
  void* arguments[] = {&values, &count};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(add_offset);
  launch.gridDim = dim3(3);
  launch.blockDim = dim3(100);
  launch.kernelParams = arguments;
  const cudaGraphNode_t before[] = {fill, symbol};
  OK(cudaGraphAddKernelNode(&kernel, graph, before, 2, &launch));
  OK(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, result.data(), values, kCount * sizeof(int),
                              cudaMemcpyDeviceToHost));
  cudaKernelNodeParams read = {};
  OK(cudaGraphKernelNodeGetParams(kernel, &read));
  CHECK(read.func == launch.func && read.gridDim.x == 3 && read.blockDim.x == 100);
  size_t edges = 0;
  OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
  CHECK(edges == 3);
  cudaGraphExec_t executable = nullptr;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  for (int round = 0; round < 2; ++round) {
    OK(cudaGraphLaunch(executable, nullptr));
    OK(cudaStreamSynchronize(nullptr));
    for (int value : result) CHECK(value == 111);
  }
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(values));
}

int main(int argc, char** argv) {
  cudaGraph_t graph = nullptr;
  OK(cudaSetDevice(0));
  const cudaError_t error = cudaGraphCreate(&graph, 0);
  if (error == cudaErrorNotSupported || error == cudaErrorCallRequiresNewerDriver) {
    std::printf("unsupported\n");
    return 0;
  }
  OK(error);
  OK(cudaGraphDestroy(graph));
  const Case cases[] = {{"captured", captured}, {"built", built}};
  return run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
}
