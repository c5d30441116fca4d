// Shared virtual memory: host and kernels use the same pointers.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "tests/integration/opencl/memory/svm_fixture.hpp"

namespace fairgv::test {
namespace {

constexpr const char* kSvmSource = R"(
  kernel void increment(global int* values, int by) { values[get_global_id(0)] += by; }
  struct Node { global struct Node* next; long value; };
  kernel void sum(global struct Node* first, global long* total) {
    *total = 0;
    for (; first != 0; first = first->next) *total += first->value;
  }
  kernel void link(global struct Node* nodes, int count) {
    for (int i = 0; i < count; ++i) { nodes[i].next = i + 1 < count ? &nodes[i + 1] : 0; nodes[i].value = i; }
  }
  kernel void address(global ulong* out, global char* p) { *out = (ulong)p; }
)";

struct Node {
  Node* next;
  cl_long value;
};

using Svm = SharedMemory;

TEST_F(Svm, IsReachedByKernelAndHostAlike) {
  const auto program = build(kSvmSource);
  const auto kernel = make_kernel(program, "increment");
  const auto values = allocate<cl_int>(5000);
  cl_int* const all = values.get();
  for (int i = 0; i < 5000; ++i) all[i] = i;
  const cl_int by = 7;
  ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 0, values.get() + 1000));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(by), &by));
  launch(kernel, 3000);
  launch(kernel, 3000);
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(i + (i >= 1000 && i < 4000 ? 14 : 0), all[i]) << i;
}

TEST_F(Svm, HasTheSameAddressOnTheDevice) {
  const auto program = build(kSvmSource);
  const auto kernel = make_kernel(program, "address");
  const auto out = allocate<cl_ulong>(1);
  const auto bytes = allocate<char>(10000);
  ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 0, out.get()));
  for (const char* pointer : {bytes.get(), bytes.get() + 1, bytes.get() + 9999}) {
    ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 1, pointer));
    launch(kernel, 1);
    ASSERT_EQ(CL_SUCCESS, clFinish(queue));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pointer), out[0]);
  }
  ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 1, nullptr));
  launch(kernel, 1);
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(0U, out[0]);
}

TEST_F(Svm, ListsOfTheHostAreWalkedByKernels) {
  const auto program = build(kSvmSource);
  const auto kernel = make_kernel(program, "sum");
  const auto total = allocate<cl_long>(1);
  std::vector<Allocation<Node>> nodes;  // each an allocation of its own
  for (int i = 0; i < 50; ++i) {
    nodes.push_back(allocate<Node>(1));
    nodes.back()[0] = {i == 0 ? nullptr : nodes[static_cast<std::size_t>(i) - 1].get(), i};
  }
  std::vector<const void*> indirect;
  for (const auto& node : nodes) indirect.push_back(node.get());
  ASSERT_EQ(CL_SUCCESS, clSetKernelExecInfo(kernel, CL_KERNEL_EXEC_INFO_SVM_PTRS,
                                            indirect.size() * sizeof(void*), indirect.data()));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 0, nodes.back().get()));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 1, total.get()));
  launch(kernel, 1);
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(49 * 50 / 2, total[0]);
}

TEST_F(Svm, ListsOfKernelsAreWalkedByTheHost) {
  const auto program = build(kSvmSource);
  const auto kernel = make_kernel(program, "link");
  const auto nodes = allocate<Node>(100);
  const cl_int count = 100;
  ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 0, nodes.get()));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(count), &count));
  launch(kernel, 1);
  ASSERT_EQ(CL_SUCCESS, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, nodes.get(), 100 * sizeof(Node), 0,
                                        nullptr, nullptr));
  cl_long sum = 0;
  for (const Node* node = nodes.get(); node != nullptr; node = node->next) sum += node->value;
  EXPECT_EQ(99 * 100 / 2, sum);
  EXPECT_EQ(CL_SUCCESS, clEnqueueSVMUnmap(queue, nodes.get(), 0, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, clFinish(queue));
}

TEST_F(Svm, ArgumentsAreThoseOfTheLaunch) {
  const auto program = build(kSvmSource);
  const auto kernel = make_kernel(program, "increment");
  const auto first = allocate<cl_int>(8);
  const auto second = allocate<cl_int>(8);
  const cl_int by = 5;
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(by), &by));
  const EventHandle gate = make_user_event();
  const cl_event waits = gate.get();
  const std::size_t items = 8;
  ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 0, first.get()));
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 1, &waits, nullptr));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 0, second.get()));
  launch(kernel, 8);
  launch(kernel, 8);
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(5, first[7]);
  EXPECT_EQ(10, second[7]);
}

TEST_F(Svm, IsCopiedToAndFromWhateverMemory) {
  const Bytes data = random_bytes(300'000);
  for (const cl_bool blocking : {cl_bool{CL_TRUE}, cl_bool{CL_FALSE}}) {
    const auto one = allocate<std::uint8_t>(data.size());
    const auto other = allocate<std::uint8_t>(data.size());
    Bytes back(data.size());
    Bytes again(data.size());
    const auto copy = [&](void* to, const void* from) {
      EXPECT_EQ(CL_SUCCESS, clEnqueueSVMMemcpy(queue, blocking, to, from, data.size(), 0, nullptr, nullptr));
    };
    copy(one.get(), data.data());
    copy(other.get(), one.get());
    copy(back.data(), other.get());
    ASSERT_EQ(CL_SUCCESS, clFinish(queue));
    EXPECT_EQ(data, back);
    copy(again.data(), back.data());
    ASSERT_EQ(CL_SUCCESS, clFinish(queue));
    EXPECT_EQ(data, again);
  }
}

TEST_F(Svm, IsFilledWithPatterns) {
  const auto values = allocate<cl_int>(1000);
  const cl_int pattern[2] = {3, -4};
  EventHandle filled;
  ASSERT_EQ(CL_SUCCESS, clEnqueueSVMMemFill(queue, values.get() + 100, pattern, sizeof(pattern),
                                            100 * sizeof(pattern), 0, nullptr, filled.out()));
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, filled.address()));
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(i >= 100 && i < 300 ? pattern[i % 2] : 0, values[i]) << i;
  }
  cl_int ordinary[8] = {};
  ASSERT_EQ(CL_SUCCESS, clEnqueueSVMMemFill(queue, ordinary, pattern, sizeof(cl_int), sizeof(ordinary), 0,
                                            nullptr, nullptr));
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(8, std::count(ordinary, ordinary + 8, 3));
}

TEST_F(Svm, CommandsWaitForTheirEventsAndSayWhatTheyAre) {
  const auto values = allocate<cl_int>(16);
  const EventHandle gate = make_user_event();
  const cl_event waits = gate.get();
  const cl_int pattern = 9;
  cl_int copied[16] = {};
  EventHandle fill, copy, map, unmap, migrate;
  ASSERT_EQ(CL_SUCCESS, clEnqueueSVMMemFill(queue, values.get(), &pattern, 4, 64, 1, &waits, fill.out()));
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueSVMMemcpy(queue, CL_FALSE, copied, values.get(), 64, 0, nullptr, copy.out()));
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueSVMMap(queue, CL_FALSE, CL_MAP_READ, values.get(), 64, 0, nullptr, map.out()));
  ASSERT_EQ(CL_SUCCESS, clEnqueueSVMUnmap(queue, values.get(), 0, nullptr, unmap.out()));
  const void* pointers[] = {values.get()};
  ASSERT_EQ(CL_SUCCESS, clEnqueueSVMMigrateMem(queue, 1, pointers, nullptr, 0, 0, nullptr, migrate.out()));
  EXPECT_EQ(0, values[0]);
  EXPECT_GT(status_of(map), CL_COMPLETE);
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, migrate.address()));
  EXPECT_EQ(16, std::count(copied, copied + 16, 9));
  const auto type = [](cl_event event) { return event_info<cl_command_type>(event, CL_EVENT_COMMAND_TYPE); };
  EXPECT_EQ(cl_command_type{CL_COMMAND_SVM_MEMFILL}, type(fill));
  EXPECT_EQ(cl_command_type{CL_COMMAND_SVM_MEMCPY}, type(copy));
  EXPECT_EQ(cl_command_type{CL_COMMAND_SVM_MAP}, type(map));
  EXPECT_EQ(cl_command_type{CL_COMMAND_SVM_UNMAP}, type(unmap));
  EXPECT_EQ(cl_command_type{CL_COMMAND_SVM_MIGRATE_MEM}, type(migrate));
}

TEST_F(Svm, IsFreedByACommandInItsTurn) {
  void* const pointer = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
  void* pointers[] = {pointer};
  const EventHandle gate = make_user_event();
  const cl_event waits = gate.get();
  EventHandle freed;
  ASSERT_EQ(CL_SUCCESS, clEnqueueSVMFree(queue, 1, pointers, nullptr, nullptr, 1, &waits, freed.out()));
  EXPECT_GT(status_of(freed), CL_COMPLETE);
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clWaitForEvents(1, freed.address()));
  EXPECT_EQ(cl_command_type{CL_COMMAND_SVM_FREE}, event_info<cl_command_type>(freed, CL_EVENT_COMMAND_TYPE));
}

struct Freeing {
  cl_context context;
  cl_command_queue queue = nullptr;
  std::vector<void*> pointers;
  std::atomic<int> calls{0};
};

void CL_CALLBACK free_them(cl_command_queue queue, cl_uint count, void* pointers[], void* data) {
  auto& freeing = *static_cast<Freeing*>(data);
  freeing.queue = queue;
  freeing.pointers.assign(pointers, pointers + count);
  for (cl_uint i = 0; i < count; ++i) clSVMFree(freeing.context, pointers[i]);
  ++freeing.calls;
}

TEST_F(Svm, IsFreedByTheApplicationsFunction) {
  void* pointers[] = {clSVMAlloc(context, CL_MEM_READ_WRITE, 100, 0),
                      clSVMAlloc(context, CL_MEM_READ_WRITE, 100'000, 0)};
  const std::vector<void*> given(pointers, pointers + 2);
  Freeing freeing{context, nullptr, {}, {}};
  ASSERT_EQ(CL_SUCCESS, clEnqueueSVMFree(queue, 2, pointers, free_them, &freeing, 0, nullptr, nullptr));
  pointers[0] = pointers[1] = nullptr;
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(1, freeing.calls);
  EXPECT_EQ(queue.get(), freeing.queue);
  EXPECT_EQ(given, freeing.pointers);
}

TEST_F(Svm, IsMemoryOfBuffersToo) {
  const auto program = build(kSvmSource);
  const auto kernel = make_kernel(program, "increment");
  const auto values = allocate<cl_int>(2048);
  const Buffer buffer =
      make_buffer(1024 * sizeof(cl_int), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, values.get());
  EXPECT_EQ(cl_bool{CL_TRUE}, memory_info<cl_bool>(buffer, CL_MEM_USES_SVM_POINTER));
  EXPECT_EQ(cl_bool{CL_FALSE}, memory_info<cl_bool>(make_buffer(64), CL_MEM_USES_SVM_POINTER));
  const cl_int by = 6;
  const cl_mem handle = buffer;
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(handle), &handle));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(by), &by));
  launch(kernel, 1024);
  ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 0, values.get()));
  launch(kernel, 2048);
  cl_int error = CL_SUCCESS;
  const auto* const mapped = static_cast<cl_int*>(clEnqueueMapBuffer(
      queue, buffer, CL_TRUE, CL_MAP_READ, 0, 1024 * sizeof(cl_int), 0, nullptr, nullptr, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(values.get(), mapped);
  EXPECT_EQ(12, values[1023]);
  EXPECT_EQ(6, values[1024]);
  EXPECT_EQ(CL_SUCCESS,
            clEnqueueUnmapMemObject(queue, buffer, const_cast<cl_int*>(mapped), 0, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, clFinish(queue));
}

TEST_F(Svm, IsReadAndWrittenInTheTurnOfTheCommand) {
  const auto program = build(kSvmSource);
  const auto kernel = make_kernel(program, "increment");
  const auto values = allocate<cl_int>(256);
  const std::vector<cl_int> ones(256, 1);
  const Buffer from = make_buffer(1024);
  const Buffer to = make_buffer(1024);
  const cl_int by = 10;
  ASSERT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 0, values.get()));
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(by), &by));
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueWriteBuffer(queue, from, CL_TRUE, 0, 1024, ones.data(), 0, nullptr, nullptr));
  const EventHandle gate = make_user_event();
  const cl_event waits = gate.get();
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueReadBuffer(queue, from, CL_FALSE, 0, 1024, values.get(), 1, &waits, nullptr));
  launch(kernel, 256);
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueWriteBuffer(queue, to, CL_FALSE, 0, 1024, values.get(), 0, nullptr, nullptr));
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clFinish(queue));
  EXPECT_EQ(11, values[255]);
  const Bytes back = read(to, 1024);
  cl_int last = 0;
  std::memcpy(&last, back.data() + 1020, 4);
  EXPECT_EQ(11, last);
}

TEST_F(Svm, IsUsedAgainOnceFreed) {
  for (int i = 0; i < 200; ++i) {
    const auto values = allocate<cl_int>(1 << 18);
    const cl_int pattern = i;
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueSVMMemFill(queue, values.get(), &pattern, 4, 1 << 20, 0, nullptr, nullptr));
    ASSERT_EQ(CL_SUCCESS, clFinish(queue));
    ASSERT_EQ(i, values[(1 << 18) - 1]);
  }
}

/// Runs in the child of a fork, with a context and memory of its own. Returns 0, or the number of the step
/// that failed.
int use_shared_memory(cl_device_id device) {
  const ContextHandle context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr));
  if (context.get() == nullptr) return 1;
  cl_device_svm_capabilities capabilities = 0;
  clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof(capabilities), &capabilities, nullptr);
  void* const pointer = clSVMAlloc(context, CL_MEM_READ_WRITE, 4096, 0);
  // A child may find its place in the address space taken; then it has no shared memory, and says so.
  if ((pointer != nullptr) != (capabilities != 0)) return 2;
  if (pointer == nullptr) return 0;
  const QueueHandle queue(clCreateCommandQueue(context, device, 0, nullptr));
  const cl_int pattern = 4;
  if (clEnqueueSVMMemFill(queue, pointer, &pattern, 4, 4096, 0, nullptr, nullptr) != CL_SUCCESS) return 3;
  if (clFinish(queue) != CL_SUCCESS) return 4;
  if (static_cast<cl_int*>(pointer)[1023] != 4) return 5;
  clSVMFree(context, pointer);
  return 0;
}

TEST_F(Svm, OfTheChildOfAForkIsItsOwn) {
  if (is_bare_pocl()) GTEST_SKIP() << "PoCL's own threads do not exist in the child";
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer allows no new threads in the child of a program with threads";
#endif
  const auto values = allocate<cl_int>(1024);
  const pid_t child = ::fork();
  ASSERT_NE(-1, child);
  if (child == 0) ::_exit(use_shared_memory(device));
  int status = 0;
  ASSERT_EQ(child, ::waitpid(child, &status, 0));
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status)) << "the step that failed";
  EXPECT_EQ(0, values[1023]) << "the child's are not the parent's";
}

}  // namespace
}  // namespace fairgv::test
