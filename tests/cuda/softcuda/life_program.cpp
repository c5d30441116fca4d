// Ends in the way that its argument names, with work in flight: life_test.cpp starts this program. Prints its
// observations; the test compares them.
#include <cuda.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

using Init = CUresult (*)(unsigned);
using Count = CUresult (*)(int*);

int failed(const char* what, CUresult code) {
  std::printf("%s: %d\n", what, static_cast<int>(code));
  return 1;
}

/// A context, and a kernel launched a hundred times without waiting.
int start_work(void* library, const char* ptx_path) {
  const auto symbol = [library](const char* name) { return dlsym(library, name); };
  const auto init = reinterpret_cast<Init>(symbol("cuInit"));
  const auto create =
      reinterpret_cast<CUresult (*)(CUcontext*, unsigned, CUdevice)>(symbol("cuCtxCreate_v2"));
  const auto load = reinterpret_cast<CUresult (*)(CUmodule*, const char*)>(symbol("cuModuleLoad"));
  const auto get =
      reinterpret_cast<CUresult (*)(CUfunction*, CUmodule, const char*)>(symbol("cuModuleGetFunction"));
  const auto allocate = reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t)>(symbol("cuMemAlloc_v2"));
  const auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(symbol("cuLaunchKernel"));
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr memory = 0;
  CUresult code = init(0);
  if (code == CUDA_SUCCESS) code = create(&context, 0, 0);
  if (code == CUDA_SUCCESS) code = load(&module, ptx_path);
  if (code == CUDA_SUCCESS) code = get(&function, module, "increment");
  constexpr int kCount = 1 << 20;
  if (code == CUDA_SUCCESS) code = allocate(&memory, kCount * sizeof(unsigned));
  for (int time = 0; time < 100 && code == CUDA_SUCCESS; ++time) {
    int count = kCount;
    void* arguments[] = {&memory, &count};
    code = launch(function, kCount / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr);
  }
  return code == CUDA_SUCCESS ? 0 : failed("start", code);
}

/// The default stream waits for a value that nobody writes.
int wait_for_ever(void* library) {
  const auto allocate =
      reinterpret_cast<CUresult (*)(CUdeviceptr*, std::size_t)>(dlsym(library, "cuMemAlloc_v2"));
  const auto wait = reinterpret_cast<CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned)>(
      dlsym(library, "cuStreamWaitValue32_v2"));
  CUdeviceptr word = 0;
  CUresult code = allocate(&word, sizeof(cuuint32_t));
  if (code == CUDA_SUCCESS) code = wait(nullptr, word, 0, CU_STREAM_WAIT_VALUE_AND);
  return code == CUDA_SUCCESS ? 0 : failed("wait", code);
}

/// The default stream is in a loop of a graph that never ends, and has been seen to be.
int loop_for_ever(void* library, const char* ptx_path) {
  const auto symbol = [library](const char* name) { return dlsym(library, name); };
  const auto load = reinterpret_cast<CUresult (*)(CUmodule*, const char*)>(symbol("cuModuleLoad"));
  const auto get = reinterpret_cast<decltype(&cuModuleGetFunction)>(symbol("cuModuleGetFunction"));
  const auto pin = reinterpret_cast<decltype(&cuMemHostAlloc)>(symbol("cuMemHostAlloc"));
  const auto address =
      reinterpret_cast<CUresult (*)(CUdeviceptr*, void*, unsigned)>(symbol("cuMemHostGetDevicePointer_v2"));
  const auto create = reinterpret_cast<decltype(&cuGraphCreate)>(symbol("cuGraphCreate"));
  const auto make_handle =
      reinterpret_cast<decltype(&cuGraphConditionalHandleCreate)>(symbol("cuGraphConditionalHandleCreate"));
  const auto add = reinterpret_cast<decltype(&cuGraphAddNode)>(symbol("cuGraphAddNode_v2"));
  const auto instantiate =
      reinterpret_cast<decltype(&cuGraphInstantiate)>(symbol("cuGraphInstantiateWithFlags"));
  const auto launch = reinterpret_cast<decltype(&cuGraphLaunch)>(symbol("cuGraphLaunch"));
  CUmodule module = nullptr;
  CUgraphNodeParams node{};
  CUgraphNodeParams kernel{};
  node.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  node.conditional.type = CU_GRAPH_COND_TYPE_WHILE;
  node.conditional.size = 1;
  void* word = nullptr;
  CUdeviceptr on_device = 0;
  int count = 1;
  void* arguments[] = {&on_device, &count};
  CUgraph graph = nullptr;
  CUgraphNode made = nullptr;
  CUgraphExec executable = nullptr;
  kernel.type = CU_GRAPH_NODE_TYPE_KERNEL;
  CUresult code = load(&module, ptx_path);
  if (code == CUDA_SUCCESS) code = get(&kernel.kernel.func, module, "increment");
  if (code == CUDA_SUCCESS) code = pin(&word, 64, 0);
  if (code == CUDA_SUCCESS) code = address(&on_device, word, 0);
  if (code == CUDA_SUCCESS) code = create(&graph, 0);
  if (code == CUDA_SUCCESS)
    code = make_handle(&node.conditional.handle, graph, nullptr, 1, CU_GRAPH_COND_ASSIGN_DEFAULT);
  if (code == CUDA_SUCCESS) code = add(&made, graph, nullptr, nullptr, 0, &node);
  if (code != CUDA_SUCCESS) return failed("loop", code);
  kernel.kernel.gridDimX = kernel.kernel.gridDimY = kernel.kernel.gridDimZ = 1;
  kernel.kernel.blockDimX = kernel.kernel.blockDimY = kernel.kernel.blockDimZ = 1;
  kernel.kernel.kernelParams = arguments;
  const std::atomic_ref seen(*static_cast<unsigned*>(word));
  seen.store(0);
  code = add(&made, node.conditional.phGraph_out[0], nullptr, nullptr, 0, &kernel);
  if (code == CUDA_SUCCESS) code = instantiate(&executable, graph, 0);
  if (code == CUDA_SUCCESS) code = launch(executable, nullptr);
  if (code != CUDA_SUCCESS) return failed("loop", code);
  while (seen.load() < 3) std::this_thread::yield();
  return 0;
}

Count g_count = nullptr;
void after_main() {
  int count = 0;
  std::printf("in exit: %d\n", static_cast<int>(g_count(&count)));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string way = argv[3];
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return failed(dlerror(), CUDA_SUCCESS);
  g_count = reinterpret_cast<Count>(dlsym(library, "cuDeviceGetCount"));
  int count = 0;
  if (way == "untouched") return 0;
  // Registered before the driver's own handler, so this handler runs after the driver's.
  std::atexit(after_main);
  std::printf("before: %d\n", static_cast<int>(g_count(&count)));
  if (const int bad = start_work(library, argv[2]); bad != 0) return bad;
  if (way == "exit") return 0;
  if (way == "wait") return wait_for_ever(library);
  if (way == "loop" || way == "kill") {
    const int bad = loop_for_ever(library, argv[2]);
    if (way == "loop" || bad != 0) return bad;
    std::printf("loops\n");
    std::fflush(stdout);
    kill(getpid(), SIGKILL);
  }
  if (way == "thread") std::thread([] { std::exit(0); }).join();
  if (way == "close") return dlclose(library);
  if (way == "fork") {
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      const CUresult answer = g_count(&count);
      const CUresult again = reinterpret_cast<Init>(dlsym(library, "cuInit"))(0);
      _exit(answer == CUDA_ERROR_NOT_INITIALIZED && again == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    std::printf("child: %d, parent: %d\n", status, static_cast<int>(g_count(&count)));
    return 0;
  }
  return 2;
}
