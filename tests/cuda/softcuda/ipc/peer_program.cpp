// Another process, which does with memory what the lines of its standard input say, and answers each with a
// line: the call's code, and what the call has told. Its argument names the kernels' file.
#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

#include "handle_text.hpp"

namespace {

CUdeviceptr g_memory = 0;
CUevent g_event = nullptr;
unsigned* g_gate = nullptr;  // the default stream waits until it is 1

CUresult start(const char* kernels, CUfunction& increment) {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUresult code = cuInit(0);
  if (code == CUDA_SUCCESS) code = cuCtxCreate(&context, nullptr, 0, 0);
  if (code == CUDA_SUCCESS) code = cuModuleLoad(&module, kernels);
  if (code == CUDA_SUCCESS) code = cuModuleGetFunction(&increment, module, "increment");
  if (code == CUDA_SUCCESS) code = cuMemAllocHost(reinterpret_cast<void**>(&g_gate), sizeof *g_gate);
  return code;
}

CUresult launch(CUfunction increment, int count) {
  void* arguments[] = {&g_memory, &count};
  const auto blocks = static_cast<unsigned>((count + 255) / 256);
  const CUresult code = cuLaunchKernel(increment, blocks, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr);
  return code == CUDA_SUCCESS ? cuCtxSynchronize() : code;
}

void answer(CUresult code, const std::string& more = {}) {
  std::cout << static_cast<int>(code) << " " << more << std::endl;
}

/// Whether the line was about events.
bool obey_of_events(const std::string& verb, const std::string& handle) {
  if (verb == "event") {
    CUipcEventHandle made{};
    CUresult code = cuEventCreate(&g_event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    if (code == CUDA_SUCCESS) code = cuIpcGetEventHandle(&made, g_event);
    answer(code, text_of(made));
  } else if (verb == "open-event") {
    answer(cuIpcOpenEventHandle(&g_event, handle_of<CUipcEventHandle>(handle)));
  } else if (verb == "record") {
    answer(cuEventRecord(g_event, nullptr));
  } else if (verb == "wait") {
    answer(cuStreamWaitEvent(nullptr, g_event, 0));
  } else if (verb == "query-event") {
    answer(cuEventQuery(g_event));
  } else if (verb == "query") {
    answer(cuStreamQuery(nullptr));
  } else if (verb == "synchronize") {
    answer(cuStreamSynchronize(nullptr));
  } else if (verb == "destroy") {
    answer(cuEventDestroy(g_event));
  } else if (verb == "hold") {
    __atomic_store_n(g_gate, 0U, __ATOMIC_RELEASE);
    answer(cuStreamWaitValue32(nullptr, reinterpret_cast<CUdeviceptr>(g_gate), 1, CU_STREAM_WAIT_VALUE_EQ));
  } else if (verb == "let-go") {
    __atomic_store_n(g_gate, 1U, __ATOMIC_RELEASE);
    answer(CUDA_SUCCESS);
  } else {
    return false;
  }
  return true;
}

void obey(const std::string& line, CUfunction increment) {
  std::istringstream words(line);
  std::string verb, handle_text;
  std::size_t number = 0;
  words >> verb;
  if (verb == "allocate" && words >> number) return answer(cuMemAlloc(&g_memory, number));
  if (verb == "fill" && words >> number) {
    std::size_t size = 0;
    cuMemGetAddressRange(nullptr, &size, g_memory);
    const CUresult code = cuMemsetD32(g_memory, static_cast<unsigned>(number), size / 4);
    return answer(code == CUDA_SUCCESS ? cuCtxSynchronize() : code);
  }
  if (verb == "export") {
    CUipcMemHandle handle{};
    const CUresult code = cuIpcGetMemHandle(&handle, g_memory);
    return answer(code, text_of(handle));
  }
  if (verb == "open" && words >> handle_text) {
    const CUresult code =
        cuIpcOpenMemHandle(&g_memory, handle_of(handle_text), CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    return answer(code, std::to_string(g_memory));
  }
  if (verb == "open-event") words >> handle_text;
  if (verb == "increment" && words >> number) return answer(launch(increment, static_cast<int>(number)));
  if (verb == "value" && words >> number) {
    unsigned value = 0;
    const CUresult code = cuMemcpyDtoH(&value, g_memory + number * sizeof value, sizeof value);
    return answer(code, std::to_string(value));
  }
  if (verb == "size") {
    std::size_t size = 0;
    const CUresult code = cuMemGetAddressRange(nullptr, &size, g_memory);
    return answer(code, std::to_string(size));
  }
  if (verb == "free") return answer(cuMemFree(g_memory));
  if (verb == "close") {
    const CUresult code = cuIpcCloseMemHandle(g_memory);
    cuCtxSynchronize();
    return answer(code);
  }
  if (obey_of_events(verb, handle_text)) return;
  answer(CUDA_ERROR_UNKNOWN, "what is '" + line + "'?");
}

}  // namespace

int main(int count, char** arguments) {
  CUfunction increment = nullptr;
  if (count != 2) return 2;
  answer(start(arguments[1], increment));
  for (std::string line; std::getline(std::cin, line);) obey(line, increment);
  return 0;
}
