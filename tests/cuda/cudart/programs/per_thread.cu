// Compiled with --default-stream per-thread: the default streams of two threads do not wait for each other.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "check.hpp"

__device__ int calls;

__global__ void add_one(int* value) {
  *value += 1;
}

static std::mutex mutex;
static std::condition_variable changed;
static bool held = false;
static bool released = false;

static void CUDART_CB wait_for_release(void*) {
  std::unique_lock<std::mutex> lock(mutex);
  held = true;
  changed.notify_all();
  changed.wait(lock, [] { return released; });
}

// One thread's stream is held up by a host function; another thread's finishes all the same. Were they the
// same stream, or did they wait for each other, this would never end.
static void streams_are_apart() {
  int* values = nullptr;
  OK(cudaMalloc(&values, 2 * sizeof(int)));
  OK(cudaMemset(values, 0, 2 * sizeof(int)));
  OK(cudaStreamSynchronize(nullptr));
  std::thread first([values] {
    OK(cudaLaunchHostFunc(nullptr, wait_for_release, nullptr));
    add_one<<<1, 1>>>(values);
    OK(cudaGetLastError());
    OK(cudaStreamSynchronize(nullptr));
  });
  std::thread second([values] {
    {
      std::unique_lock<std::mutex> lock(mutex);
      changed.wait(lock, [] { return held; });
    }
    add_one<<<1, 1>>>(values + 1);
    OK(cudaGetLastError());
    int result = 0;
    OK(cudaMemcpyAsync(&result, values + 1, sizeof(int), cudaMemcpyDeviceToHost, nullptr));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK(result == 1);
    const std::lock_guard<std::mutex> lock(mutex);
    released = true;
    changed.notify_all();
  });
  first.join();
  second.join();
  int results[2] = {};
  OK(cudaMemcpy(results, values, sizeof results, cudaMemcpyDeviceToHost));
  CHECK(results[0] == 1 && results[1] == 1);
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
