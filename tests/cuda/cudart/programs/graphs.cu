// Graphs, captured and built. A driver without graphs is reported by the word "unsupported".
#include <atomic>
#include <thread>
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

// Work of several blocks, so that launches can be cut: the result in a value tells the order.
static const int kLarge = 4096;
static const int kThreads = 64;
static const int kBlocks = kLarge / kThreads;

__global__ void put_digit(int* values, int digit) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = values[i] * 10 + digit;
}

__global__ void add_into(int* sum, const int* left, const int* right) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  sum[i] = left[i] + right[i];
}

struct Values {
  Values() {
    OK(cudaMalloc(&device, kLarge * sizeof(int)));
    OK(cudaMallocHost(&host, kLarge * sizeof(int)));
  }
  ~Values() {
    OK(cudaFree(device));
    OK(cudaFreeHost(host));
  }
  bool all(int wanted) const {
    for (int i = 0; i < kLarge; ++i) {
      if (host[i] != wanted) return false;
    }
    return true;
  }
  int* device = nullptr;
  int* host = nullptr;
};

static cudaGraphExec_t executable_of(cudaGraph_t graph) {
  cudaGraphExec_t executable = nullptr;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  return executable;
}

// Two branches that meet, launched again and again with other data; between the launches, work of the stream.
static void forked() {
  cudaStream_t stream, other;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaEvent_t fork, join;
  OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  Values left, right, sum;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  OK(cudaMemcpyAsync(left.device, left.host, kLarge * sizeof(int), cudaMemcpyHostToDevice, stream));
  OK(cudaEventRecord(fork, stream));
  OK(cudaStreamWaitEvent(other, fork, 0));
  put_digit<<<kBlocks, kThreads, 0, stream>>>(left.device, 1);
  OK(cudaMemcpyAsync(right.device, left.device, kLarge * sizeof(int), cudaMemcpyDeviceToDevice, other));
  OK(cudaMemsetAsync(right.device, 0, kLarge * sizeof(int), other));
  put_digit<<<kBlocks, kThreads, 0, other>>>(right.device, 2);
  put_digit<<<kBlocks, kThreads, 0, other>>>(right.device, 3);
  OK(cudaEventRecord(join, other));
  OK(cudaStreamWaitEvent(stream, join, 0));
  add_into<<<kBlocks, kThreads, 0, stream>>>(sum.device, left.device, right.device);
  OK(cudaMemcpyAsync(sum.host, sum.device, kLarge * sizeof(int), cudaMemcpyDeviceToHost, stream));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  const cudaGraphNode_t* tips = nullptr;
  cudaGraph_t in_capture = nullptr;
  size_t count = 0;
  OK(cudaStreamGetCaptureInfo(stream, &status, &id, &in_capture, &tips, nullptr, &count));
  CHECK(status == cudaStreamCaptureStatusActive && count == 1);
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(stream, &graph));
  CHECK(graph == in_capture);
  size_t roots = 0, nodes = 0;
  OK(cudaGraphGetRootNodes(graph, nullptr, &roots));
  OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  CHECK(roots == 1 && nodes == 8);
  const cudaGraphExec_t executable = executable_of(graph);
  OK(cudaGraphDestroy(graph));
  for (int round = 1; round <= 20; ++round) {
    for (int i = 0; i < kLarge; ++i) left.host[i] = round;
    OK(cudaGraphLaunch(executable, stream));
    put_digit<<<kBlocks, kThreads, 0, stream>>>(sum.device, 7);
    OK(cudaStreamSynchronize(stream));
    CHECK(sum.all(round * 10 + 1 + 23));
    OK(cudaMemcpy(sum.host, sum.device, kLarge * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(sum.all((round * 10 + 1 + 23) * 10 + 7));
  }
  OK(cudaGraphExecDestroy(executable));
  OK(cudaStreamDestroy(stream));
  OK(cudaStreamDestroy(other));
  OK(cudaEventDestroy(fork));
  OK(cudaEventDestroy(join));
}

static cudaGraphNode_t add_digit(cudaGraph_t graph, cudaGraphNode_t before, int* values, int digit) {
  void* arguments[] = {&values, &digit};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(put_digit);
  launch.gridDim = dim3(kBlocks);
  launch.blockDim = dim3(kThreads);
  launch.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddKernelNode(&node, graph, before != nullptr ? &before : nullptr, before != nullptr, &launch));
  return node;
}

static int launched(cudaGraphExec_t executable, Values& values) {
  OK(cudaMemset(values.device, 0, kLarge * sizeof(int)));
  OK(cudaGraphLaunch(executable, nullptr));
  OK(cudaMemcpy(values.host, values.device, kLarge * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(values.all(values.host[0]));
  return values.host[0];
}

static void nested() {
  Values values;
  cudaGraph_t child = nullptr, graph = nullptr;
  OK(cudaGraphCreate(&child, 0));
  OK(cudaGraphCreate(&graph, 0));
  const cudaGraphNode_t two = add_digit(child, nullptr, values.device, 2);
  add_digit(child, two, values.device, 3);
  cudaGraphNode_t embedded = nullptr;
  const cudaGraphNode_t first = add_digit(graph, nullptr, values.device, 1);
  OK(cudaGraphAddChildGraphNode(&embedded, graph, &first, 1, child));
  add_digit(graph, embedded, values.device, 4);
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  OK(cudaGraphNodeGetType(embedded, &type));
  CHECK(type == cudaGraphNodeTypeGraph);
  const cudaGraphExec_t executable = executable_of(graph);
  CHECK(launched(executable, values) == 1234);
  cudaGraph_t like = nullptr;
  OK(cudaGraphClone(&like, child));
  cudaGraphNode_t twin = nullptr;
  OK(cudaGraphNodeFindInClone(&twin, two, like));
  cudaKernelNodeParams launch = {};
  OK(cudaGraphKernelNodeGetParams(twin, &launch));
  CHECK(launch.func == reinterpret_cast<void*>(put_digit));
  CHECK(*static_cast<int*>(launch.kernelParams[1]) == 2);
  int six = 6;
  void* arguments[] = {&values.device, &six};
  launch.kernelParams = arguments;
  OK(cudaGraphKernelNodeSetParams(twin, &launch));
  OK(cudaGraphExecChildGraphNodeSetParams(executable, embedded, like));
  CHECK(launched(executable, values) == 1634);
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphDestroy(child));
  OK(cudaGraphDestroy(like));
}

static cudaGraph_t digits_captured(cudaStream_t stream, int* values, int first, int second, bool third) {
  cudaGraph_t graph = nullptr;
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  put_digit<<<kBlocks, kThreads, 0, stream>>>(values, first);
  put_digit<<<kBlocks, kThreads, 0, stream>>>(values, second);
  if (third) put_digit<<<kBlocks, kThreads, 0, stream>>>(values, 9);
  OK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

// As frameworks do it: the graph is captured anew every time, and instantiated once.
static void updated() {
  Values values;
  cudaStream_t stream;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  cudaGraph_t graph = digits_captured(stream, values.device, 1, 2, false);
  const cudaGraphExec_t executable = executable_of(graph);
  CHECK(launched(executable, values) == 12);
  OK(cudaGraphDestroy(graph));
  for (int round = 0; round < 5; ++round) {
    graph = digits_captured(stream, values.device, 3, round, false);
    cudaGraphExecUpdateResultInfo info = {};
    OK(cudaGraphExecUpdate(executable, graph, &info));
    CHECK(info.result == cudaGraphExecUpdateSuccess);
    OK(cudaGraphDestroy(graph));
    CHECK(launched(executable, values) == 30 + round);
  }
  graph = digits_captured(stream, values.device, 5, 6, true);
  cudaGraphExecUpdateResultInfo info = {};
  CHECK_CODE(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(executable, graph, &info));
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  CHECK(launched(executable, values) == 34);
  OK(cudaGraphExecDestroy(executable));
  cudaGetLastError();

  // One node, set by the call for its kind and by the call for any kind.
  cudaGraphNode_t nodes[3] = {};
  size_t count = 3;
  OK(cudaGraphGetNodes(graph, nodes, &count));
  CHECK(count == 3);
  cudaGraphInstantiateParams parameters = {};
  cudaGraphExec_t second = nullptr;
  OK(cudaGraphInstantiateWithParams(&second, graph, &parameters));
  CHECK(parameters.result_out == cudaGraphInstantiateSuccess);
  int digit = 1;
  void* arguments[] = {&values.device, &digit};
  cudaGraphNodeParams any = {};
  any.type = cudaGraphNodeTypeKernel;
  any.kernel.func = reinterpret_cast<void*>(put_digit);
  any.kernel.gridDim = dim3(kBlocks);
  any.kernel.blockDim = dim3(kThreads);
  any.kernel.kernelParams = arguments;
  OK(cudaGraphExecNodeSetParams(second, nodes[2], &any));
  CHECK(launched(second, values) == 561);
  OK(cudaGraphNodeSetEnabled(second, nodes[0], 0));
  CHECK(launched(second, values) == 61);
  OK(cudaGraphExecDestroy(second));
  OK(cudaGraphDestroy(graph));
  OK(cudaStreamDestroy(stream));
}

static void CUDART_CB add_one(void* data) {
  static_cast<std::atomic<int>*>(data)->fetch_add(1);
}

static void hosted() {
  std::atomic<int> calls{0}, destroyed{0};
  cudaGraph_t graph = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  cudaHostNodeParams host = {};
  host.fn = add_one;
  host.userData = &calls;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddHostNode(&node, graph, nullptr, 0, &host));
  cudaUserObject_t object = nullptr;
  OK(cudaUserObjectCreate(&object, &destroyed, add_one, 1, cudaUserObjectNoDestructorSync));
  OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  const cudaGraphExec_t executable = executable_of(graph);
  for (int round = 0; round < 3; ++round) OK(cudaGraphLaunch(executable, nullptr));
  OK(cudaStreamSynchronize(nullptr));
  CHECK(calls == 3);
  OK(cudaGraphDestroy(graph));
  CHECK(destroyed == 0);
  OK(cudaGraphExecDestroy(executable));
  while (destroyed == 0) std::this_thread::yield();  // the driver may do it on a thread of its own
}

static void errors() {
  cudaStream_t stream, other;
  OK(cudaStreamCreate(&stream));
  OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
  cudaEvent_t event;
  OK(cudaEventCreate(&event));
  cudaGraph_t graph = nullptr;
  CHECK_CODE(cudaErrorStreamCaptureUnsupported, cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK_CODE(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
  CHECK_CODE(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  int* memory = nullptr;
  CHECK_CODE(cudaErrorStreamCaptureUnsupported, cudaMalloc(&memory, 16));
  CHECK_CODE(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  OK(cudaMalloc(&memory, kLarge * sizeof(int)));
  put_digit<<<kBlocks, kThreads>>>(memory, 1);
  CHECK_CODE(cudaErrorStreamCaptureImplicit, cudaGetLastError());
  CHECK_CODE(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  OK(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal));
  OK(cudaEventRecord(event, other));
  OK(cudaStreamWaitEvent(stream, event, 0));
  put_digit<<<kBlocks, kThreads, 0, stream>>>(memory, 1);
  CHECK_CODE(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(stream, &graph));
  CHECK_CODE(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(other, &graph));
  OK(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal));
  OK(cudaEventRecord(event, other));
  OK(cudaStreamWaitEvent(stream, event, 0));
  put_digit<<<kBlocks, kThreads, 0, stream>>>(memory, 1);
  CHECK_CODE(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(other, &graph));
  CHECK(graph == nullptr);
  // After a lost capture FairGV's drivers answer as after any other, NVIDIA's (580) does not.
  CHECK_CODE(is_system_driver() ? cudaErrorInvalidValue : cudaErrorCapturedEvent, cudaEventQuery(event));
  (void)cudaGetLastError();
  OK(cudaEventRecord(event, stream));
  OK(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal));
  CHECK_CODE(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(other, event, 0));
  CHECK_CODE(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(other, &graph));
  CHECK_CODE(cudaErrorIllegalState, cudaStreamEndCapture(other, &graph));
  cudaGetLastError();
  OK(cudaDeviceSynchronize());
  OK(cudaFree(memory));
  OK(cudaEventDestroy(event));
  OK(cudaStreamDestroy(stream));
  OK(cudaStreamDestroy(other));
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
  const Case cases[] = {{"captured", captured}, {"built", built},   {"forked", forked}, {"nested", nested},
                        {"updated", updated},   {"hosted", hosted}, {"errors", errors}};
  return run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
}
