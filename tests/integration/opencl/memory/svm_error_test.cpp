// Errors of the calls of shared virtual memory (OpenCL 3.0, 5.6).
#include "tests/integration/opencl/memory/svm_fixture.hpp"

namespace fairgv::test {
namespace {

constexpr const char* kSvmErrorSource = R"(
  kernel void mixed(global int* out, constant int* in, local int* scratch, int value) {
    out[get_global_id(0)] = in[0] + value;
  }
)";

class SvmErrors : public SharedMemory {
 protected:
  void SetUp() override {
    SharedMemory::SetUp();
    if (IsSkipped()) return;
    memory = allocate<char>(4096);
  }
  Allocation<char> memory;
  char host[4096] = {};
};

TEST_F(SvmErrors, AllocationsHaveASizeAnAlignmentAndFlagsThatGoTogether) {
  const auto made = [&](cl_svm_mem_flags flags, std::size_t bytes, cl_uint alignment) {
    void* const pointer = clSVMAlloc(context, flags, bytes, alignment);
    if (pointer != nullptr) clSVMFree(context, pointer);
    return pointer != nullptr;
  };
  const auto largest = device_info<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  EXPECT_TRUE(made(CL_MEM_READ_WRITE, 1, 0));
  EXPECT_TRUE(made(0, 64, 0));
  EXPECT_FALSE(made(CL_MEM_READ_WRITE, 0, 0));
  EXPECT_FALSE(made(CL_MEM_READ_WRITE, largest + 1, 0));
  EXPECT_FALSE(made(CL_MEM_READ_WRITE | CL_MEM_READ_ONLY, 64, 0));
  EXPECT_FALSE(made(CL_MEM_READ_WRITE | CL_MEM_SVM_ATOMICS, 64, 0)) << "atomics need fine grain";
  EXPECT_FALSE(made(CL_MEM_READ_WRITE, 64, 3));
  EXPECT_FALSE(made(CL_MEM_READ_WRITE, 64, 1 << 20));
  const bool atomics = (capabilities & CL_DEVICE_SVM_ATOMICS) != 0;
  EXPECT_EQ(atomics, made(CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS, 64, 0));
  EXPECT_EQ(nullptr, clSVMAlloc(nullptr, CL_MEM_READ_WRITE, 64, 0));
}

TEST_F(SvmErrors, AllocationsAreAligned) {
  for (cl_uint alignment = 1; alignment <= 128; alignment *= 2) {
    void* const pointer = clSVMAlloc(context, CL_MEM_READ_WRITE, 24, alignment);
    ASSERT_NE(nullptr, pointer);
    EXPECT_EQ(0U, reinterpret_cast<std::uintptr_t>(pointer) % alignment);
    clSVMFree(context, pointer);
  }
}

TEST_F(SvmErrors, FreeingWhatIsNoAllocationDoesNothing) {
  clSVMFree(context, nullptr);
  clSVMFree(context, host);
  memory[0] = 1;
  EXPECT_EQ(1, memory[0]);
}

TEST_F(SvmErrors, EnqueuedFreesNeedPointers) {
  void* none[] = {nullptr};
  void* one[] = {memory.get()};
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE,
            clEnqueueSVMFree(nullptr, 1, one, nullptr, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueSVMFree(queue, 0, one, nullptr, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueSVMFree(queue, 1, nullptr, nullptr, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueSVMFree(queue, 1, none, nullptr, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST,
            clEnqueueSVMFree(queue, 1, one, nullptr, nullptr, 1, nullptr, nullptr));
}

TEST_F(SvmErrors, CopiesNeedMemoryThatDoesNotOverlap) {
  const auto copy = [&](cl_command_queue on, void* to, const void* from, std::size_t bytes) {
    return clEnqueueSVMMemcpy(on, CL_TRUE, to, from, bytes, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, copy(nullptr, memory.get(), host, 16));
  EXPECT_EQ(CL_INVALID_VALUE, copy(queue, nullptr, host, 16));
  EXPECT_EQ(CL_INVALID_VALUE, copy(queue, memory.get(), nullptr, 16));
  EXPECT_EQ(CL_INVALID_VALUE, copy(queue, memory.get(), host, 0));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(queue, memory.get(), memory.get() + 15, 16));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(queue, memory.get() + 15, memory.get(), 16));
  EXPECT_EQ(CL_MEM_COPY_OVERLAP, copy(queue, host, host, 16));
  EXPECT_EQ(CL_SUCCESS, copy(queue, memory.get(), memory.get() + 16, 16));
  EXPECT_EQ(CL_INVALID_EVENT_WAIT_LIST,
            clEnqueueSVMMemcpy(queue, CL_TRUE, memory.get(), host, 16, 1, nullptr, nullptr));
}

TEST_F(SvmErrors, FillsNeedAPatternThatFits) {
  const auto fill = [&](void* to, std::size_t pattern_bytes, std::size_t bytes) {
    return clEnqueueSVMMemFill(queue, to, host, pattern_bytes, bytes, 0, nullptr, nullptr);
  };
  EXPECT_EQ(CL_SUCCESS, fill(memory.get(), 128, 256));
  EXPECT_EQ(CL_INVALID_VALUE, fill(nullptr, 4, 16));
  EXPECT_EQ(CL_INVALID_VALUE, fill(memory.get(), 0, 16));
  EXPECT_EQ(CL_INVALID_VALUE, fill(memory.get(), 3, 15));
  EXPECT_EQ(CL_INVALID_VALUE, fill(memory.get(), 256, 256));
  EXPECT_EQ(CL_INVALID_VALUE, fill(memory.get(), 4, 0));
  EXPECT_EQ(CL_INVALID_VALUE, fill(memory.get(), 4, 18));
  EXPECT_EQ(CL_INVALID_VALUE, fill(memory.get() + 2, 4, 16));
  EXPECT_EQ(CL_SUCCESS, clFinish(queue));
}

TEST_F(SvmErrors, MapsAndMigrationsNeedMemory) {
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, nullptr, 16, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE,
            clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, memory.get(), 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueSVMUnmap(queue, nullptr, 0, nullptr, nullptr));
  const void* none[] = {nullptr};
  const void* one[] = {memory.get()};
  EXPECT_EQ(CL_SUCCESS, clEnqueueSVMMigrateMem(queue, 1, one, nullptr, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 0, one, nullptr, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 1, nullptr, nullptr, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 1, none, nullptr, 0, 0, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clEnqueueSVMMigrateMem(queue, 1, one, nullptr, 1 << 10, 0, nullptr, nullptr));
  EXPECT_EQ(CL_SUCCESS, clFinish(queue));
}

TEST_F(SvmErrors, OnlyPointersToGlobalMemoryTakeSharedPointers) {
  const auto program = build(kSvmErrorSource);
  const auto kernel = make_kernel(program, "mixed");
  EXPECT_EQ(CL_INVALID_KERNEL, clSetKernelArgSVMPointer(nullptr, 0, memory.get()));
  EXPECT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 0, memory.get()));
  EXPECT_EQ(CL_SUCCESS, clSetKernelArgSVMPointer(kernel, 1, memory.get() + 4));
  EXPECT_EQ(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(kernel, 2, memory.get()));
  EXPECT_EQ(CL_INVALID_ARG_VALUE, clSetKernelArgSVMPointer(kernel, 3, memory.get()));
  EXPECT_EQ(CL_INVALID_ARG_INDEX, clSetKernelArgSVMPointer(kernel, 4, memory.get()));
}

TEST_F(SvmErrors, BuffersLieWithinOneAllocation) {
  cl_int error = CL_SUCCESS;
  const Buffer buffer(
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, 4097, memory.get(), &error));
  EXPECT_EQ(CL_INVALID_BUFFER_SIZE, error);
}

}  // namespace
}  // namespace fairgv::test
