// Kernels: every kind of argument, index spaces, and arguments that change between launches.
#include <array>
#include <cstring>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

constexpr const char* kKernelSource = R"(
  typedef struct { int a; float b; char c[9]; } Record;

  kernel void scalars(global double* out, char c, uchar uc, short s, ushort us, int i, uint ui, long l, ulong ul,
                      float f) {
    out[0] = c; out[1] = uc; out[2] = s; out[3] = us; out[4] = i; out[5] = ui; out[6] = l; out[7] = ul; out[8] = f;
  }
  kernel void vectors(global int* out, int2 two, int3 three, int4 four, int8 eight, int16 sixteen) {
    out[0] = two.y; out[1] = three.z; out[2] = four.w; out[3] = eight.s7; out[4] = sixteen.sf;
  }
  kernel void record(global float* out, Record r) { out[0] = r.a + r.b + r.c[8]; }
  kernel void pointers(global int* out, global const int* maybe) { out[0] = maybe == 0 ? -1 : maybe[0]; }
  kernel void reverse(global int* out, local int* scratch) {
    const size_t l = get_local_id(0), n = get_local_size(0);
    scratch[n - 1 - l] = (int)get_global_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = scratch[l];
  }
  kernel void add(global int* out, int value) { out[get_global_id(0)] += value; }
  kernel void lookup(global int* out, constant int* table) { out[get_global_id(0)] = table[get_global_id(0) % 4]; }
  kernel void ids(global ulong* out, ulong width, ulong height) {
    const ulong x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    const ulong at = (z - get_global_offset(2)) * width * height + (y - get_global_offset(1)) * width +
                     x - get_global_offset(0);
    out[at] = x * 10000 + y * 100 + z + get_work_dim() * 1000000 + get_local_size(0) * 10000000;
  }
)";

class Kernels : public OpenCL {
 protected:
  void SetUp() override {
    OpenCL::SetUp();
    program = build(kKernelSource);
  }

  template <class T>
  static void set(cl_kernel kernel, cl_uint index, const T& value) {
    EXPECT_EQ(CL_SUCCESS, clSetKernelArg(kernel, index, sizeof(T), &value)) << "argument " << index;
  }
  static void set(cl_kernel kernel, cl_uint index, const Buffer& buffer) { set(kernel, index, buffer.get()); }

  void run(cl_kernel kernel, std::size_t global, std::size_t local = 0) {
    EXPECT_EQ(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global,
                                                 local == 0 ? nullptr : &local, 0, nullptr, nullptr));
  }

  template <class T>
  std::vector<T> values(cl_mem buffer, std::size_t count) {
    const Bytes bytes = read(buffer, count * sizeof(T));
    std::vector<T> result(count);
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }

  ProgramHandle program;
};

TEST_F(Kernels, TakeScalarsOfEveryType) {
  if (!device_has("cl_khr_fp64")) GTEST_SKIP() << "the kernel writes doubles";
  const KernelHandle kernel = make_kernel(program, "scalars");
  const Buffer out = make_buffer(9 * sizeof(double));
  set(kernel, 0, out);
  set(kernel, 1, cl_char{-5});
  set(kernel, 2, cl_uchar{250});
  set(kernel, 3, cl_short{-3000});
  set(kernel, 4, cl_ushort{60000});
  set(kernel, 5, cl_int{-2000000000});
  set(kernel, 6, cl_uint{4000000000U});
  set(kernel, 7, cl_long{-(1LL << 40)});
  set(kernel, 8, cl_ulong{1ULL << 41});
  set(kernel, 9, cl_float{1.5F});
  run(kernel, 1);
  EXPECT_EQ((std::vector<double>{-5, 250, -3000, 60000, -2e9, 4e9, -1099511627776.0, 2199023255552.0, 1.5}),
            values<double>(out, 9));
}

TEST_F(Kernels, TakeVectorsOfEveryWidth) {
  const KernelHandle kernel = make_kernel(program, "vectors");
  const Buffer out = make_buffer(5 * sizeof(cl_int));
  set(kernel, 0, out);
  set(kernel, 1, cl_int2{{1, 2}});
  set(kernel, 2, cl_int3{{1, 2, 3}});
  set(kernel, 3, cl_int4{{1, 2, 3, 4}});
  set(kernel, 4, cl_int8{{1, 2, 3, 4, 5, 6, 7, 8}});
  set(kernel, 5, cl_int16{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}});
  run(kernel, 1);
  EXPECT_EQ((std::vector<cl_int>{2, 3, 4, 8, 16}), values<cl_int>(out, 5));
  const cl_int packed[] = {1, 2, 7};  // a vector of 3 without its padding
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 2, sizeof(packed), packed));
  run(kernel, 1);
  EXPECT_EQ((std::vector<cl_int>{2, 7, 4, 8, 16}), values<cl_int>(out, 5));
}

TEST_F(Kernels, TakeStructs) {
  struct Record {
    cl_int a;
    cl_float b;
    cl_char c[9];
  } value{10, 0.5F, {}};
  value.c[8] = 3;
  const KernelHandle kernel = make_kernel(program, "record");
  const Buffer out = make_buffer(sizeof(cl_float));
  set(kernel, 0, out);
  set(kernel, 1, value);
  run(kernel, 1);
  EXPECT_EQ(std::vector<cl_float>{13.5F}, values<cl_float>(out, 1));
}

TEST_F(Kernels, TakeNullForABuffer) {
  const KernelHandle kernel = make_kernel(program, "pointers");
  const Buffer out = make_buffer(sizeof(cl_int));
  const Buffer in = make_buffer(Bytes{7, 0, 0, 0});
  set(kernel, 0, out);
  ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, sizeof(cl_mem), nullptr));
  run(kernel, 1);
  EXPECT_EQ(std::vector<cl_int>{-1}, values<cl_int>(out, 1));
  set(kernel, 1, in);
  run(kernel, 1);
  EXPECT_EQ(std::vector<cl_int>{7}, values<cl_int>(out, 1));
  set(kernel, 1, cl_mem{nullptr});
  run(kernel, 1);
  EXPECT_EQ(std::vector<cl_int>{-1}, values<cl_int>(out, 1));
}

TEST_F(Kernels, TakeLocalMemory) {
  const KernelHandle kernel = make_kernel(program, "reverse");
  const Buffer out = make_buffer(32 * sizeof(cl_int));
  set(kernel, 0, out);
  for (const std::size_t local : {std::size_t{4}, std::size_t{16}}) {
    ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 1, local * sizeof(cl_int), nullptr));
    run(kernel, 32, local);
    std::vector<cl_int> expected;
    for (std::size_t i = 0; i < 32; ++i) {
      expected.push_back(static_cast<cl_int>(i / local * local + local - 1 - i % local));
    }
    EXPECT_EQ(expected, values<cl_int>(out, 32));
  }
}

TEST_F(Kernels, TakeConstantMemory) {
  const KernelHandle kernel = make_kernel(program, "lookup");
  const std::array<cl_int, 4> table{9, 8, 7, 6};
  Bytes bytes(sizeof(table));
  std::memcpy(bytes.data(), table.data(), sizeof(table));
  const Buffer constants = make_buffer(bytes);
  const Buffer out = make_buffer(8 * sizeof(cl_int));
  set(kernel, 0, out);
  set(kernel, 1, constants);
  run(kernel, 8);
  EXPECT_EQ((std::vector<cl_int>{9, 8, 7, 6, 9, 8, 7, 6}), values<cl_int>(out, 8));
}

TEST_F(Kernels, UseTheArgumentsOfTheMomentTheyWereEnqueued) {
  const KernelHandle kernel = make_kernel(program, "add");
  const Buffer first = make_buffer(Bytes(64, 0));
  const Buffer second = make_buffer(Bytes(64, 0));
  const EventHandle gate = make_user_event();
  const QueueHandle gated = make_queue();
  ASSERT_EQ(CL_SUCCESS, clEnqueueBarrierWithWaitList(gated, 1, std::vector<cl_event>{gate}.data(), nullptr));
  cl_int sums[2] = {};
  const std::size_t global = 16;
  for (cl_int i = 1; i <= 50; ++i) {
    const bool to_first = i % 3 != 0;
    set(kernel, 0, to_first ? first.get() : second.get());
    set(kernel, 1, i);
    sums[to_first ? 0 : 1] += i;
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueNDRangeKernel(gated, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr));
  }
  ASSERT_EQ(CL_SUCCESS, clSetUserEventStatus(gate, CL_COMPLETE));
  ASSERT_EQ(CL_SUCCESS, clFinish(gated));
  EXPECT_EQ(std::vector<cl_int>(16, sums[0]), values<cl_int>(first, 16));
  EXPECT_EQ(std::vector<cl_int>(16, sums[1]), values<cl_int>(second, 16));
}

TEST_F(Kernels, ThatWereClonedHaveTheSameArgumentsAndTheirOwn) {
  if (device_text(CL_DEVICE_VERSION) < "OpenCL 2.1") GTEST_SKIP() << "an OpenCL 2.1 call";
  const KernelHandle kernel = make_kernel(program, "add");
  const Buffer out = make_buffer(Bytes(64, 0));
  set(kernel, 0, out);
  set(kernel, 1, cl_int{5});
  cl_int error = CL_SUCCESS;
  const KernelHandle clone(clCloneKernel(kernel, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  set(kernel, 1, cl_int{100});
  run(clone, 16);
  EXPECT_EQ(std::vector<cl_int>(16, 5), values<cl_int>(out, 16));
  run(kernel, 16);
  EXPECT_EQ(std::vector<cl_int>(16, 105), values<cl_int>(out, 16));
}

TEST_F(Kernels, SeeTheirPlaceInSpacesOfOneToThreeDimensionsWithOffsets) {
  const KernelHandle kernel = make_kernel(program, "ids");
  const std::size_t global[] = {8, 4, 3};
  const std::size_t local[] = {4, 2, 1};
  const std::size_t offset[] = {5, 6, 7};
  for (cl_uint dimensions = 1; dimensions <= 3; ++dimensions) {
    for (const bool shifted : {false, true}) {
      std::size_t size[3] = {1, 1, 1};
      std::copy(global, global + dimensions, size);
      const std::size_t count = size[0] * size[1] * size[2];
      const Buffer out = make_buffer(count * sizeof(cl_ulong));
      set(kernel, 0, out);
      set(kernel, 1, cl_ulong{size[0]});
      set(kernel, 2, cl_ulong{size[1]});
      ASSERT_EQ(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, dimensions, shifted ? offset : nullptr,
                                                   global, local, 0, nullptr, nullptr));
      const auto from = [&](cl_uint d) { return shifted && d < dimensions ? offset[d] : 0; };
      std::vector<cl_ulong> expected;
      for (std::size_t z = 0; z < size[2]; ++z) {
        for (std::size_t y = 0; y < size[1]; ++y) {
          for (std::size_t x = 0; x < size[0]; ++x) {
            expected.push_back((x + from(0)) * 10000 + (y + from(1)) * 100 + z + from(2) +
                               dimensions * 1000000 + local[0] * 10000000);
          }
        }
      }
      EXPECT_EQ(expected, values<cl_ulong>(out, count)) << dimensions << " dimensions, shifted " << shifted;
    }
  }
}

TEST_F(Kernels, RunAsTasks) {
  const KernelHandle kernel = make_kernel(program, "add");
  const Buffer out = make_buffer(Bytes(4, 0));
  set(kernel, 0, out);
  set(kernel, 1, cl_int{3});
  ASSERT_EQ(CL_SUCCESS, clEnqueueTask(queue, kernel, 0, nullptr, nullptr));
  EXPECT_EQ(std::vector<cl_int>{3}, values<cl_int>(out, 1));
}

TEST_F(Kernels, WorkOnSubBuffers) {
  const std::size_t alignment = device_info<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  const Buffer whole = make_buffer(Bytes(2 * alignment, 0));
  const cl_buffer_region region{alignment, alignment};
  const Buffer part(clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, nullptr));
  const KernelHandle kernel = make_kernel(program, "add");
  set(kernel, 0, part);
  set(kernel, 1, cl_int{9});
  const std::size_t count = alignment / sizeof(cl_int);
  run(kernel, count);
  std::vector<cl_int> expected(2 * count, 0);
  std::fill(expected.begin() + static_cast<std::ptrdiff_t>(count), expected.end(), 9);
  EXPECT_EQ(expected, values<cl_int>(whole, 2 * count));
}

TEST_F(Kernels, SayWhatTheyAre) {
  const KernelHandle kernel = make_kernel(program, "add");
  char name[32] = {};
  EXPECT_EQ(CL_SUCCESS, clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, nullptr));
  EXPECT_STREQ("add", name);
  cl_program owner = nullptr;
  EXPECT_EQ(CL_SUCCESS, clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(owner), &owner, nullptr));
  EXPECT_EQ(program.get(), owner);
}

}  // namespace
}  // namespace fairgv::test
