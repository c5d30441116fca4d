// Graphs with conditional nodes, by the runtime API: loops and choices that kernels decide. A driver without
// them is reported by the word "unsupported".
#include <random>
#include <vector>

#include "check.hpp"

static const int kThreads = 128;

struct Loop {
  int left;
  int done;
};

__global__ void next(Loop* loop, cudaGraphConditionalHandle handle) {
  ++loop->done;
  --loop->left;
  cudaGraphSetConditional(handle, loop->left > 0);
}

// Newton's step for square roots; the loop goes on while any value moves.
__global__ void improve(double* roots, const double* of, int count, int* moved) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const double better = (roots[i] + of[i] / roots[i]) / 2;
  if (fabs(better - roots[i]) > 1e-12 * better) atomicOr(moved, 1);
  roots[i] = better;
}

__global__ void decide(int* moved, int* rounds, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, *moved);
  *moved = 0;
  ++*rounds;
}

__global__ void choose(const int* which, cudaGraphConditionalHandle handle) {
  cudaGraphSetConditional(handle, *which);
}

__global__ void put(int* out, int value) {
  *out = value;
}

static std::vector<cudaGraph_t> add(cudaGraph_t graph, cudaGraphNode_t behind,
                                    cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type,
                                    unsigned size) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  cudaGraphNode_t node = nullptr;
  OK(cudaGraphAddNode(&node, graph, &behind, nullptr, behind != nullptr ? 1 : 0, &p));
  return {p.conditional.phGraph_out, p.conditional.phGraph_out + size};
}

static cudaStream_t capture_into(cudaGraph_t graph) {
  cudaStream_t stream = nullptr;
  OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  OK(cudaStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  return stream;
}

static cudaGraphNode_t end_capture(cudaStream_t stream) {
  const cudaGraphNode_t* tips = nullptr;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  size_t count = 0;
  OK(cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, &tips, nullptr, &count));
  CHECK(count == 1);
  cudaGraphNode_t last = tips[0];
  OK(cudaStreamEndCapture(stream, nullptr));  // the graph is known
  OK(cudaStreamDestroy(stream));
  return last;
}

static void launch_and_wait(cudaGraph_t graph, int times) {
  cudaGraphExec_t executable = nullptr;
  OK(cudaGraphInstantiate(&executable, graph, 0));
  for (int time = 0; time < times; ++time) OK(cudaGraphLaunch(executable, nullptr));
  OK(cudaDeviceSynchronize());
  OK(cudaGraphExecDestroy(executable));
  OK(cudaGraphDestroy(graph));
}

static void loops() {
  cudaGraph_t graph = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  Loop* loop = nullptr;
  OK(cudaMallocManaged(&loop, sizeof *loop));
  *loop = {3000, 0};
  cudaGraphConditionalHandle handle;
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  const auto bodies = add(graph, nullptr, handle, cudaGraphCondTypeWhile, 1);
  const cudaStream_t stream = capture_into(bodies[0]);
  next<<<1, 1, 0, stream>>>(loop, handle);
  end_capture(stream);
  launch_and_wait(graph, 2);
  CHECK(loop->left == -1 && loop->done == 3001);  // the second launch runs the body once
  OK(cudaFree(loop));
}

static void converges() {
  const int kCount = 1000;
  std::vector<double> of(kCount), result(kCount);
  std::mt19937 random(5);
  for (double& value : of) value = std::uniform_real_distribution<double>(1e-3, 1e6)(random);
  double *values = nullptr, *roots = nullptr;
  int* numbers = nullptr;
  OK(cudaMalloc(&values, kCount * sizeof(double)));
  OK(cudaMalloc(&roots, kCount * sizeof(double)));
  OK(cudaMalloc(&numbers, 2 * sizeof(int)));
  OK(cudaMemset(numbers, 0, 2 * sizeof(int)));
  cudaGraph_t graph = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaStream_t stream = capture_into(graph);
  OK(cudaMemcpyAsync(values, of.data(), kCount * sizeof(double), cudaMemcpyHostToDevice, stream));
  OK(cudaMemcpyAsync(roots, values, kCount * sizeof(double), cudaMemcpyDeviceToDevice, stream));
  const auto bodies = add(graph, end_capture(stream), handle, cudaGraphCondTypeWhile, 1);
  stream = capture_into(bodies[0]);
  improve<<<(kCount + kThreads - 1) / kThreads, kThreads, 0, stream>>>(roots, values, kCount, numbers);
  decide<<<1, 1, 0, stream>>>(numbers, numbers + 1, handle);
  end_capture(stream);
  launch_and_wait(graph, 1);
  int rounds = 0;
  OK(cudaMemcpy(&rounds, numbers + 1, sizeof rounds, cudaMemcpyDeviceToHost));
  OK(cudaMemcpy(result.data(), roots, kCount * sizeof(double), cudaMemcpyDeviceToHost));
  CHECK(rounds > 5 && rounds < 100);
  for (int i = 0; i < kCount; ++i) CHECK(std::abs(result[i] * result[i] - of[i]) < 1e-9 * of[i]);
  OK(cudaFree(values));
  OK(cudaFree(roots));
  OK(cudaFree(numbers));
}

static void chooses() {
  int* numbers = nullptr;  // what chooses, and what is chosen: by a switch, and by an if
  OK(cudaMallocManaged(&numbers, 3 * sizeof(int)));
  for (int which = 0; which < 5; ++which) {
    numbers[0] = which;
    numbers[1] = numbers[2] = -1;
    cudaGraph_t graph = nullptr;
    OK(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle of_switch, of_if;
    OK(cudaGraphConditionalHandleCreate(&of_switch, graph, 0, 0));
    OK(cudaGraphConditionalHandleCreate(&of_if, graph, 0, 0));
    cudaStream_t stream = capture_into(graph);
    choose<<<1, 1, 0, stream>>>(numbers, of_switch);
    choose<<<1, 1, 0, stream>>>(numbers, of_if);
    const cudaGraphNode_t last = end_capture(stream);
    const auto bodies = add(graph, last, of_switch, cudaGraphCondTypeSwitch, 3);
    const auto branches = add(graph, last, of_if, cudaGraphCondTypeIf, 2);
    for (int body = 0; body < 5; ++body) {
      stream = capture_into(body < 3 ? bodies[body] : branches[body - 3]);
      put<<<1, 1, 0, stream>>>(numbers + (body < 3 ? 1 : 2), 10 + body);
      end_capture(stream);
    }
    launch_and_wait(graph, 1);
    CHECK(numbers[1] == (which < 3 ? 10 + which : -1));
    CHECK(numbers[2] == (which != 0 ? 13 : 14));
  }
  OK(cudaFree(numbers));
}

// A loop in a loop.
static void nested() {
  Loop* loops = nullptr;
  OK(cudaMalloc(&loops, 2 * sizeof(Loop)));
  const Loop start[2] = {{7, 0}, {0, 0}};
  OK(cudaMemcpy(loops, start, sizeof start, cudaMemcpyHostToDevice));
  cudaGraph_t graph = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle outer, inner;
  OK(cudaGraphConditionalHandleCreate(&outer, graph, 1, cudaGraphCondAssignDefault));
  OK(cudaGraphConditionalHandleCreate(&inner, graph, 0, 0));
  const auto bodies = add(graph, nullptr, outer, cudaGraphCondTypeWhile, 1);
  cudaStream_t stream = capture_into(bodies[0]);
  put<<<1, 1, 0, stream>>>(&loops[1].left, 11);
  choose<<<1, 1, 0, stream>>>(&loops[1].left, inner);
  next<<<1, 1, 0, stream>>>(&loops[0], outer);
  const auto within = add(bodies[0], end_capture(stream), inner, cudaGraphCondTypeWhile, 1);
  stream = capture_into(within[0]);
  next<<<1, 1, 0, stream>>>(&loops[1], inner);
  end_capture(stream);
  launch_and_wait(graph, 1);
  Loop result[2];
  OK(cudaMemcpy(result, loops, sizeof result, cudaMemcpyDeviceToHost));
  CHECK(result[0].left == 0 && result[0].done == 7);
  CHECK(result[1].left == 0 && result[1].done == 77);
  OK(cudaFree(loops));
}

int main(int argc, char** argv) {
  cudaGraph_t graph = nullptr;
  OK(cudaSetDevice(0));
  OK(cudaFree(nullptr));
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  const cudaError_t error = cudaGraphConditionalHandleCreate(&handle, graph, 0, 0);
  if (error == cudaErrorNotSupported || error == cudaErrorCallRequiresNewerDriver) {
    cudaDeviceProp device;
    OK(cudaGetDeviceProperties(&device, 0));
    std::printf("unsupported on %s\n", device.name);
    return 0;
  }
  OK(error);
  OK(cudaGraphDestroy(graph));
  const Case cases[] = {{"loops", loops}, {"converges", converges}, {"chooses", chooses}, {"nested", nested}};
  return run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
}
