// Programs that are compiled and linked separately, made of built-in kernels or of intermediate code.
#include <atomic>
#include <cstring>

#include "tests/integration/opencl/fixture.hpp"

namespace fairgv::test {
namespace {

constexpr const char* kUser = R"(
  int twice(int x);
  kernel void use(global int* out) { out[get_global_id(0)] = twice((int)get_global_id(0)); }
)";
constexpr const char* kLibrary = "int twice(int x) { return 2 * x; }";

class Links : public OpenCL {
 protected:
  ProgramHandle compiled(const char* source) {
    ProgramHandle program = make_program(source);
    EXPECT_EQ(CL_SUCCESS, clCompileProgram(program, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
    return program;
  }
  cl_program link(std::vector<cl_program> inputs, const char* options, cl_int& error) {
    return clLinkProgram(context, 0, nullptr, options, static_cast<cl_uint>(inputs.size()), inputs.data(),
                         nullptr, nullptr, &error);
  }
  cl_program_binary_type type_of(cl_program program) {
    cl_program_binary_type type = 77;
    EXPECT_EQ(CL_SUCCESS,
              clGetProgramBuildInfo(program, device, CL_PROGRAM_BINARY_TYPE, sizeof(type), &type, nullptr));
    return type;
  }
  cl_build_status status_of_build(cl_program program) {
    cl_build_status status = 77;
    EXPECT_EQ(CL_SUCCESS, clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof(status),
                                                &status, nullptr));
    return status;
  }
  void expect_even_numbers(cl_program program) {
    const KernelHandle kernel = make_kernel(program, "use");
    const Buffer buffer = make_buffer(8 * sizeof(std::int32_t));
    const cl_mem memory = buffer;
    ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(memory), &memory));
    const std::size_t global = 8;
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr));
    std::vector<std::int32_t> result(8);
    ASSERT_EQ(CL_SUCCESS,
              clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 32, result.data(), 0, nullptr, nullptr));
    EXPECT_EQ((std::vector<std::int32_t>{0, 2, 4, 6, 8, 10, 12, 14}), result);
  }
};

TEST_F(Links, JoinCompiledPrograms) {
  const ProgramHandle user = compiled(kUser);
  const ProgramHandle library = compiled(kLibrary);
  EXPECT_EQ(cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT}, type_of(user));
  EXPECT_EQ(CL_BUILD_SUCCESS, status_of_build(user));
  cl_int error = -77;
  const ProgramHandle linked(link({user, library}, "", error));
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_EXECUTABLE}, type_of(linked));
  EXPECT_EQ(CL_BUILD_SUCCESS, status_of_build(linked));
  expect_even_numbers(linked);
}

TEST_F(Links, MakeLibrariesThatAreLinkedAgain) {
  const ProgramHandle part = compiled(kLibrary);
  cl_int error = -77;
  const ProgramHandle library(link({part}, "-create-library", error));
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(cl_program_binary_type{CL_PROGRAM_BINARY_TYPE_LIBRARY}, type_of(library));
  const ProgramHandle user = compiled(kUser);
  const ProgramHandle linked(link({user, library}, nullptr, error));
  ASSERT_EQ(CL_SUCCESS, error);
  expect_even_numbers(linked);
}

TEST_F(Links, ThatLackAFunctionFail) {
  const ProgramHandle user = compiled(kUser);
  cl_int error = CL_SUCCESS;
  const ProgramHandle linked(link({user}, "", error));
  EXPECT_EQ(CL_LINK_PROGRAM_FAILURE, error);
}

TEST_F(Links, RefuseWhatIsNotCompiled) {
  cl_int error = CL_SUCCESS;
  const ProgramHandle source = make_program(kLibrary);
  EXPECT_EQ(nullptr, link({source}, "", error));
  EXPECT_EQ(CL_INVALID_OPERATION, error);
  EXPECT_EQ(nullptr, clLinkProgram(context, 0, nullptr, "", 0, nullptr, nullptr, nullptr, &error));
  EXPECT_EQ(CL_INVALID_VALUE, error);
  EXPECT_EQ(nullptr, clLinkProgram(nullptr, 0, nullptr, "", 0, nullptr, nullptr, nullptr, &error));
  EXPECT_EQ(CL_INVALID_CONTEXT, error);
}

TEST_F(Links, NameOptionsThatAreWrong) {
  const ProgramHandle source = make_program(kLibrary);
  EXPECT_EQ(CL_INVALID_COMPILER_OPTIONS,
            clCompileProgram(source, 0, nullptr, "-no-such-option", 0, nullptr, nullptr, nullptr, nullptr));
  const ProgramHandle part = compiled(kLibrary);
  cl_int error = CL_SUCCESS;
  const ProgramHandle linked(link({part}, "-no-such-option", error));
  EXPECT_EQ(CL_INVALID_LINKER_OPTIONS, error);
}

TEST_F(Links, ThatAreLibrariesHaveNoKernels) {
  const ProgramHandle part = compiled(kLibrary);
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateKernel(part, "twice", &error));
  EXPECT_NE(CL_SUCCESS, error);
}

TEST_F(Links, CompileAgainstHeadersByName) {
  const ProgramHandle header = make_program("#define FACTOR 2\nint twice(int x) { return FACTOR * x; }\n");
  const ProgramHandle user = make_program(
      "#include \"inner/twice.h\"\n"
      "kernel void use(global int* out) { out[get_global_id(0)] = twice((int)get_global_id(0)); }");
  const cl_program headers[] = {header};
  const char* names[] = {"inner/twice.h"};
  ASSERT_EQ(CL_SUCCESS, clCompileProgram(user, 1, &device, nullptr, 1, headers, names, nullptr, nullptr));
  cl_int error = CL_SUCCESS;
  const ProgramHandle linked(link({user}, "", error));
  ASSERT_EQ(CL_SUCCESS, error);
  expect_even_numbers(linked);
  if (is_bare_pocl()) return;  // it crashes here
  EXPECT_EQ(CL_INVALID_VALUE, clCompileProgram(user, 0, nullptr, "", 1, headers, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_VALUE, clCompileProgram(user, 0, nullptr, "", 0, headers, names, nullptr, nullptr));
}

TEST_F(Links, ThatDoNotCompileSayWhy) {
  const ProgramHandle program = make_program("int broken(void) { return no_such_name; }");
  EXPECT_EQ(CL_COMPILE_PROGRAM_FAILURE,
            clCompileProgram(program, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_BUILD_ERROR, status_of_build(program));
  char log[8192] = {};
  ASSERT_EQ(CL_SUCCESS,
            clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, nullptr));
  EXPECT_NE(nullptr, std::strstr(log, "no_such_name"));
}

void CL_CALLBACK note(cl_program which, void* data) {
  auto& to = *static_cast<std::atomic<cl_program>*>(data);
  to.store(which);
  to.notify_all();
}

TEST_F(Links, CallBackWhenTheyHaveEnded) {
  std::atomic<cl_program> ended{nullptr};
  const ProgramHandle user = make_program(kUser);
  ASSERT_EQ(CL_SUCCESS, clCompileProgram(user, 0, nullptr, "", 0, nullptr, nullptr, note, &ended));
  ended.wait(nullptr);
  EXPECT_EQ(user.get(), ended.load());
  const ProgramHandle library = compiled(kLibrary);
  ended = nullptr;
  const cl_program inputs[] = {user, library};
  cl_int error = -77;
  const ProgramHandle linked(clLinkProgram(context, 0, nullptr, "", 2, inputs, note, &ended, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  ended.wait(nullptr);
  EXPECT_EQ(linked.get(), ended.load());
  expect_even_numbers(linked);
}

TEST_F(Links, FromBinariesOfCompiledPrograms) {
  const ProgramHandle user = compiled(kUser);
  std::size_t size = 0;
  ASSERT_EQ(CL_SUCCESS, clGetProgramInfo(user, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr));
  if (size == 0) GTEST_SKIP() << "this driver has no binaries of compiled programs";
  Bytes binary(size);
  unsigned char* places[] = {binary.data()};
  ASSERT_EQ(CL_SUCCESS, clGetProgramInfo(user, CL_PROGRAM_BINARIES, sizeof(places), places, nullptr));
  const unsigned char* binaries[] = {binary.data()};
  cl_int error = CL_SUCCESS;
  const ProgramHandle copy(clCreateProgramWithBinary(context, 1, &device, &size, binaries, nullptr, &error));
  ASSERT_EQ(CL_SUCCESS, error);
  EXPECT_EQ(CL_INVALID_OPERATION,
            clCompileProgram(copy, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
}

TEST_F(Links, BuiltInKernelsRunOrAreRefused) {
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateProgramWithBuiltInKernels(context, 1, &device, nullptr, &error));
  EXPECT_EQ(CL_INVALID_VALUE, error);
  const std::string names = device_text(CL_DEVICE_BUILT_IN_KERNELS);
  if (names.find("pocl.add.i8") == std::string::npos) GTEST_SKIP() << "the device has: " << names;
  const ProgramHandle program(clCreateProgramWithBuiltInKernels(context, 1, &device, "pocl.add.i8", &error));
  ASSERT_EQ(CL_SUCCESS, error);
  const cl_int built = clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr);
  if (built != CL_SUCCESS) GTEST_SKIP() << "this device only lists them: " << built;
  const KernelHandle kernel = make_kernel(program, "pocl.add.i8");
  cl_uint count = 0;
  ASSERT_EQ(CL_SUCCESS, clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr));
  EXPECT_EQ(3U, count);
  const Buffer left = make_buffer(Bytes{1, 2, 3, 4, 5, 6, 7, 8});
  const Buffer right = make_buffer(Bytes{10, 20, 30, 40, 50, 60, 70, 80});
  const Buffer sum = make_buffer(8);
  const cl_mem memories[] = {left, right, sum};
  for (cl_uint i = 0; i < 3; ++i)
    ASSERT_EQ(CL_SUCCESS, clSetKernelArg(kernel, i, sizeof(cl_mem), &memories[i]));
  const std::size_t global = 8;
  ASSERT_EQ(CL_SUCCESS,
            clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global, nullptr, 0, nullptr, nullptr));
  EXPECT_EQ((Bytes{11, 22, 33, 44, 55, 66, 77, 88}), read(sum, 8));
}

TEST_F(Links, GarbageIsNoIntermediateCode) {
  const Bytes garbage = random_bytes(256);
  cl_int error = CL_SUCCESS;
  EXPECT_EQ(nullptr, clCreateProgramWithIL(context, garbage.data(), garbage.size(), &error));
  EXPECT_TRUE(error == CL_INVALID_VALUE || error == CL_INVALID_OPERATION) << error;
  const ProgramHandle source = make_program(kLibrary);
  std::size_t size = 77;
  EXPECT_EQ(CL_SUCCESS, clGetProgramInfo(source, CL_PROGRAM_IL, 0, nullptr, &size));
  EXPECT_EQ(0U, size);
}

}  // namespace
}  // namespace fairgv::test
