// Compiled with --default-stream per-thread: the default streams of two threads are two streams.
#include <thread>

#include "check.hpp"

__device__ int calls;

__global__ void add_one(int* value) {
  *value += 1;
}

static unsigned long long id_of(cudaStream_t stream) {
  unsigned long long id = 0;
  OK(cudaStreamGetId(stream, &id));
  return id;
}

// A null stream means the thread's own default stream, which differs from thread to thread and from the
// legacy stream.
static void streams_are_apart() {
  unsigned long long ids[2] = {};
  int* values = nullptr;
  OK(cudaMalloc(&values, 2 * sizeof(int)));
  OK(cudaMemset(values, 0, 2 * sizeof(int)));
  OK(cudaStreamSynchronize(nullptr));
  const auto work = [&](int which) {
    ids[which] = id_of(nullptr);
    CHECK(ids[which] == id_of(cudaStreamPerThread));
    CHECK(ids[which] != id_of(cudaStreamLegacy));
    for (int i = 0; i < 20; ++i) add_one<<<1, 1>>>(values + which);
    OK(cudaGetLastError());
    int result = 0;
    OK(cudaMemcpyAsync(&result, values + which, sizeof(int), cudaMemcpyDeviceToHost, nullptr));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK(result == 20);
  };
  // Both threads live at the same time, so that neither can inherit the stream of the other.
  std::thread first([&] {
    work(0);
    std::thread second([&] { work(1); });
    second.join();
  });
  first.join();
  CHECK(ids[0] != ids[1]);
  OK(cudaFree(values));
}

// The other calls that have variants: each does its work in the thread's stream.
static void variants() {
  int zero = 0, result = -1;
  OK(cudaMemcpyToSymbol(calls, &zero, sizeof zero));
  OK(cudaMemcpyFromSymbol(&result, calls, sizeof result));
  CHECK(result == 0);
  unsigned char* rows = nullptr;
  size_t pitch = 0;
  OK(cudaMallocPitch(&rows, &pitch, 10, 3));
  OK(cudaMemset2DAsync(rows, pitch, 9, 10, 3, nullptr));
  unsigned char host[30] = {};
  OK(cudaMemcpy2D(host, 10, rows, pitch, 10, 3, cudaMemcpyDeviceToHost));
  for (unsigned char value : host) CHECK(value == 9);
  cudaEvent_t event;
  OK(cudaEventCreate(&event));
  OK(cudaEventRecord(event, nullptr));
  OK(cudaStreamWaitEvent(nullptr, event, 0));
  OK(cudaEventSynchronize(event));
  OK(cudaStreamQuery(nullptr));
  OK(cudaEventDestroy(event));
  OK(cudaFree(rows));
}

int main(int argc, char** argv) {
  const Case cases[] = {{"streams_are_apart", streams_are_apart}, {"variants", variants}};
  return run_cases(cases, sizeof cases / sizeof *cases, argc, argv);
}
