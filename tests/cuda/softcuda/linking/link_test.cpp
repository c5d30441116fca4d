// Linking: units that nvcc has compiled apart (-rdc=true), in every container, become one module.
#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "tests/cuda/softcuda/fixture.hpp"

namespace {

constexpr unsigned kUnitThreads = 8;

struct Input {
  CUjitInputType type;
  std::string bytes;
  std::string name;
  bool is_file = false;  // added by its path
};

Input from(CUjitInputType type, const std::string& file, bool is_file = false) {
  return {type, is_file ? "" : file_bytes(file), is_file ? file_path(file) : file, is_file};
}

Input text(const std::string& body, const std::string& name = "text") {
  return {CU_JIT_INPUT_PTX, ".version 8.0\n.target sm_75\n.address_size 64\n" + body + '\0', name};
}

/// A linking with both of its logs. The code is that of the first call that fails: a tenant's inputs are sent
/// when they are complete.
class Link {
 public:
  explicit Link(const std::vector<Input>& inputs) {
    EXPECT_OK(cuLinkCreate(static_cast<unsigned>(options_.size()), options_.data(), values_.data(), &state_));
    for (const Input& input : inputs) {
      if (code_ == CUDA_SUCCESS) code_ = add(input);
    }
    if (code_ == CUDA_SUCCESS) code_ = cuLinkComplete(state_, &image_, &size_);
  }
  ~Link() { EXPECT_OK(cuLinkDestroy(state_)); }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  CUresult code() const { return code_; }
  const void* image() const { return image_; }
  std::size_t size() const { return size_; }
  std::string errors() const { return errors_.data(); }
  std::string info() const { return info_.data(); }
  std::size_t error_bytes() const { return reinterpret_cast<std::size_t>(values_[1]); }

 private:
  CUresult add(const Input& input) {
    if (input.is_file) return cuLinkAddFile(state_, input.type, input.name.c_str(), 0, nullptr, nullptr);
    std::string bytes = input.bytes;  // nothing is kept of it
    return cuLinkAddData(state_, input.type, bytes.data(), bytes.size(), input.name.c_str(), 0, nullptr,
                         nullptr);
  }

  std::array<char, 2000> errors_{};
  std::array<char, 2000> info_{};
  std::array<CUjit_option, 4> options_{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                                       CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 4> values_{errors_.data(), reinterpret_cast<void*>(errors_.size()), info_.data(),
                               reinterpret_cast<void*>(info_.size())};
  CUlinkState state_ = nullptr;
  CUresult code_ = CUDA_SUCCESS;
  void* image_ = nullptr;
  std::size_t size_ = 0;
};

void launch(CUfunction function, unsigned threads, void* argument) {
  void* arguments[] = {argument};
  EXPECT_OK(cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr));
}

/// combine() with these values of the two variables that are both called `own`, and of `offset`.
std::vector<int> combined(int own, int offset) {
  std::vector<int> values;
  for (int at = 0; at < static_cast<int>(kUnitThreads); ++at)
    values.push_back(1000 + 3 * at + offset + own - 1 + at * at);
  return values;
}

void expect_linked(CUmodule module) {
  CUfunction combine = nullptr;
  CUfunction change = nullptr;
  CUfunction set_offset = nullptr;
  ASSERT_OK(cuModuleGetFunction(&combine, module, "combine"));
  ASSERT_OK(cuModuleGetFunction(&change, module, "change"));
  ASSERT_OK(cuModuleGetFunction(&set_offset, module, "set_offset"));
  CUdeviceptr out = 0;
  ASSERT_OK(cuMemAlloc(&out, kUnitThreads * sizeof(int)));
  launch(combine, kUnitThreads, &out);
  EXPECT_EQ(combined(100, 7), download<int>(out, kUnitThreads));
  int number = 50;
  launch(change, 1, &number);
  launch(set_offset, 1, &number);
  launch(combine, kUnitThreads, &out);
  EXPECT_EQ(combined(50, 50), download<int>(out, kUnitThreads));
  CUdeviceptr offset = 0;
  std::size_t bytes = 0;
  ASSERT_OK(cuModuleGetGlobal(&offset, &bytes, module, "offset"));
  EXPECT_EQ(sizeof(int), bytes);
  EXPECT_EQ(50, download<int>(offset, 1)[0]);
  EXPECT_OK(cuMemFree(out));
}

bool names(const std::string& log, const std::string& what) {
  return log.find(what) != std::string::npos;
}

constexpr const char* kKernel = ".visible .entry k() { ret; }\n";
constexpr const char* kNeedsF = ".extern .func f();\n.visible .entry k() { call f, (); ret; }\n";

}  // namespace

TEST_F(WithContext, UnitsAreLinkedInEveryContainerAndOrder) {
  const std::vector<Input> functions{
      from(CU_JIT_INPUT_PTX, "function.ptx"),          from(CU_JIT_INPUT_PTX, "function.ptx", true),
      from(CU_JIT_INPUT_FATBINARY, "function.fatbin"), from(CU_JIT_INPUT_OBJECT, "function.o"),
      from(CU_JIT_INPUT_LIBRARY, "libfunction.a"),     from(CU_JIT_INPUT_LIBRARY, "libfunction.a", true)};
  for (const Input& function : functions) {
    for (const bool first : {false, true}) {
      SCOPED_TRACE(function.name + (function.is_file ? " by its path" : "") + (first ? ", first" : ""));
      std::vector<Input> inputs{from(CU_JIT_INPUT_PTX, "kernel.ptx")};
      inputs.insert(first ? inputs.begin() : inputs.end(), function);
      CUmodule module = nullptr;
      {
        const Link link(inputs);
        ASSERT_EQ(code_name(CUDA_SUCCESS), code_name(link.code())) << link.errors();
        EXPECT_GT(link.size(), 0U);
        EXPECT_EQ("", link.errors());
        ASSERT_OK(cuModuleLoadDataEx(&module, link.image(), 0, nullptr, nullptr));
      }
      expect_linked(module);
      EXPECT_OK(cuModuleUnload(module));
    }
  }
}

TEST_F(WithContext, OfLibrariesOnlyWhatIsNeededIsLinked) {
  const Link link({from(CU_JIT_INPUT_LIBRARY, "libfunction.a"), from(CU_JIT_INPUT_LIBRARY, "libcudadevrt.a"),
                   from(CU_JIT_INPUT_FATBINARY, "kernel.fatbin")});
  ASSERT_EQ(code_name(CUDA_SUCCESS), code_name(link.code())) << link.errors();
  CUmodule module = nullptr;
  ASSERT_OK(cuModuleLoadData(&module, link.image()));
  expect_linked(module);
  unsigned count = 0;
  ASSERT_OK(cuModuleGetFunctionCount(&count, module));
  EXPECT_EQ(3U, count);
  CUfunction spare = nullptr;
  EXPECT_CODE(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&spare, module, "spare_kernel"));
  CUlibrary library = nullptr;
  ASSERT_OK(cuLibraryLoadData(&library, link.image(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  CUkernel kernel = nullptr;
  EXPECT_OK(cuLibraryGetKernel(&kernel, library, "combine"));
  EXPECT_OK(cuLibraryUnload(library));
}

/// Numba links so, whatever a kernel needs.
TEST_F(WithContext, GroupsOfTheToolkitsLibraryAreTheDevicesOwn) {
  const Input kernel = text(R"(
.extern .func (.param .b64 r) cudaCGGetIntrinsicHandle (.param .b32 a);
.extern .func (.param .b32 r) cudaCGSynchronize (.param .b64 a, .param .b32 b);
.visible .entry meet (.param .u64 out) {
  .reg .b64 %out;
  .reg .b32 %error, %n;
  .param .b32 scope, flags, error;
  .param .b64 h;
  ld.param.u64 %out, [out];
  st.param.b32 [scope], 1;
  call (h), cudaCGGetIntrinsicHandle, (scope);
  atom.global.add.u32 %n, [%out], 1;
  st.param.b32 [flags], 0;
  call (error), cudaCGSynchronize, (h, flags);
  ld.param.b32 %error, [error];
  ld.volatile.global.u32 %n, [%out];
  add.u32 %n, %n, %error;
  atom.global.min.u32 %n, [%out+4], %n;
  ret;
}
)");
  const Link link({kernel, from(CU_JIT_INPUT_LIBRARY, "libcudadevrt.a")});
  ASSERT_EQ(code_name(CUDA_SUCCESS), code_name(link.code())) << link.errors();
  CUmodule module = nullptr;
  CUfunction meet = nullptr;
  ASSERT_OK(cuModuleLoadData(&module, link.image()));
  ASSERT_OK(cuModuleGetFunction(&meet, module, "meet"));
  const CUdeviceptr out = allocate(2 * sizeof(int));
  upload<int>(out, {0, 1000});
  void* arguments[] = {const_cast<CUdeviceptr*>(&out)};
  ASSERT_OK(cuLaunchCooperativeKernel(meet, 4, 1, 1, 8, 1, 1, 0, nullptr, arguments));
  ASSERT_OK(cuCtxSynchronize());
  // Each thread counts itself, and none sees less than all behind the barrier.
  EXPECT_EQ(download<int>(out, 2), (std::vector<int>{32, 32}));
  EXPECT_OK(cuMemFree(out));
}

TEST_F(WithContext, WhatCannotBeLinkedIsNamedInTheLog) {
  const auto expect_refused = [](CUresult expected, const std::vector<Input>& inputs,
                                 const std::vector<std::string>& said) {
    const Link link(inputs);
    EXPECT_EQ(code_name(expected), code_name(link.code())) << link.errors();
    for (const std::string& each : said) EXPECT_TRUE(names(link.errors(), each)) << link.errors();
    EXPECT_EQ(link.errors().size(), link.error_bytes());
  };
  expect_refused(CUDA_ERROR_INVALID_SOURCE, {text(kNeedsF, "needs"), text("")},
                 {"Undefined reference to 'f' in 'needs'"});
  expect_refused(CUDA_ERROR_INVALID_SOURCE, {text(kNeedsF, "needs")},
                 {"Undefined reference to 'f' in 'needs'"});
  expect_refused(CUDA_ERROR_INVALID_SOURCE, {text(kKernel, "one"), text(kKernel, "two")},
                 {"Multiple definition of 'k' in 'two', first defined in 'one'"});
  expect_refused(CUDA_ERROR_INVALID_PTX, {text(kKernel, "good"), text("nonsense", "bad")},
                 {"bad: PTX line 4"});
  expect_refused(CUDA_ERROR_NO_BINARY_FOR_GPU, {from(CU_JIT_INPUT_CUBIN, "kernels.cubin")},
                 {"kernels.cubin: machine code"});
  expect_refused(CUDA_ERROR_NO_BINARY_FOR_GPU, {from(CU_JIT_INPUT_FATBINARY, "machine_code.fatbin")},
                 {"machine_code.fatbin: machine code"});
  expect_refused(CUDA_ERROR_INVALID_SOURCE,
                 {from(CU_JIT_INPUT_PTX, "kernel.ptx"), from(CU_JIT_INPUT_LIBRARY, "libmachine.a")},
                 {"Undefined reference to 'scaled' in 'kernel.ptx'", "libmachine.a:", "machine code only"});
  for (const CUjitInputType type : {CU_JIT_INPUT_LIBRARY, CU_JIT_INPUT_OBJECT, CU_JIT_INPUT_FATBINARY}) {
    expect_refused(CUDA_ERROR_INVALID_IMAGE, {{type, "what is this", "strange"}}, {"strange: the "});
  }
  expect_refused(CUDA_ERROR_NOT_SUPPORTED, {{CU_JIT_INPUT_NVVM, "BC", "bitcode"}},
                 {"bitcode: inputs of this"});
}

TEST_F(WithContext, ALinkingIsCheckedLikeAnyCall) {
  CUlinkState state = nullptr;
  ASSERT_OK(cuLinkCreate(0, nullptr, nullptr, &state));
  void* image = nullptr;
  EXPECT_CODE(CUDA_ERROR_INVALID_VALUE, cuLinkComplete(state, &image, nullptr)) << "nothing was added";
  std::string bytes = text(kKernel).bytes;
  for (const int type : {-1, static_cast<int>(CU_JIT_NUM_INPUT_TYPES)}) {
    EXPECT_CODE(CUDA_ERROR_INVALID_VALUE,
                cuLinkAddData(state, static_cast<CUjitInputType>(type), bytes.data(), bytes.size(), "a", 0,
                              nullptr, nullptr));
  }
  EXPECT_CODE(CUDA_ERROR_FILE_NOT_FOUND,
              cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nonexistent", 0, nullptr, nullptr));
  EXPECT_OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, bytes.data(), bytes.size(), nullptr, 0, nullptr, nullptr));
  EXPECT_OK(cuLinkComplete(state, &image, nullptr));
  void* again = nullptr;
  EXPECT_OK(cuLinkComplete(state, &again, nullptr));
  EXPECT_EQ(image, again);
  EXPECT_OK(cuLinkDestroy(state));
  EXPECT_CODE(CUDA_ERROR_INVALID_HANDLE, cuLinkComplete(state, &image, nullptr));
}

TEST_F(WithContext, TheInformationLogNamesKernelsThatCannotBeTranslated) {
  const Link link({text(kKernel), text(".visible .entry bad() { frobnicate.u32; ret; }\n")});
  EXPECT_OK(link.code());
  EXPECT_TRUE(names(link.info(), "kernel 'bad'")) << link.info();
  EXPECT_FALSE(names(link.info(), "kernel 'k'")) << link.info();
}

TEST_F(WithContext, AKernelThatLaunchesKernelsIsNamedWithTheReasonAndLeavesTheOthers) {
  const Link link({from(CU_JIT_INPUT_PTX, "launches.ptx"), from(CU_JIT_INPUT_LIBRARY, "libcudadevrt.a")});
  ASSERT_EQ(code_name(CUDA_SUCCESS), code_name(link.code())) << link.errors();
  EXPECT_TRUE(names(link.info(), "kernel 'launches'")) << link.info();
  EXPECT_TRUE(names(link.info(), "kernels that launch kernels (dynamic parallelism) are not supported"))
      << link.info();
  EXPECT_FALSE(names(link.info(), "kernel 'launched'")) << link.info();
  CUmodule module = nullptr;
  CUfunction launched = nullptr;
  ASSERT_OK(cuModuleLoadData(&module, link.image()));
  ASSERT_OK(cuModuleGetFunction(&launched, module, "launched"));
  CUdeviceptr out = allocate(sizeof(int));
  launch(launched, 1, &out);
  EXPECT_EQ(1, download<int>(out, 1)[0]);
  EXPECT_OK(cuMemFree(out));
}

// The compilers of a program under `fairgv run` hand out PTX in place of machine code.
TEST_F(WithContext, TextInPlaceOfMachineCodeIsLinked) {
  const Link link({from(CU_JIT_INPUT_CUBIN, "kernel.ptx"), from(CU_JIT_INPUT_CUBIN, "function.ptx")});
  ASSERT_EQ(code_name(CUDA_SUCCESS), code_name(link.code())) << link.errors();
  CUmodule module = nullptr;
  ASSERT_OK(cuModuleLoadData(&module, link.image()));
  expect_linked(module);
}

TEST_F(WithContext, OfALinkedProgramTheUnitsAreTakenWhereItsCodeIsNone) {
  struct {
    unsigned magic = 0x466243B1;
    unsigned version = 2;
    const void* data = nullptr;
    const void* const* units = nullptr;
  } wrapper;
  const std::string kernel = file_bytes("kernel.fatbin");
  const std::string function = file_bytes("function.fatbin");
  const std::string machine_code = file_bytes("machine_code.fatbin");
  std::string empty = kernel.substr(0, 16);
  std::memset(empty.data() + 8, 0, 8);
  const std::array<const void*, 3> units{kernel.data(), function.data(), nullptr};
  wrapper.units = units.data();
  for (const void* const data :
       std::initializer_list<const void*>{nullptr, machine_code.data(), empty.data()}) {
    wrapper.data = data;
    CUmodule module = nullptr;
    ASSERT_OK(cuModuleLoadData(&module, &wrapper));
    expect_linked(module);
    EXPECT_OK(cuModuleUnload(module));
  }
  const std::array<const void*, 3> half{kernel.data(), nullptr};
  wrapper.units = half.data();
  CUmodule module = nullptr;
  std::array<char, 300> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  EXPECT_CODE(CUDA_ERROR_INVALID_SOURCE, cuModuleLoadDataEx(&module, &wrapper, 2, options, values));
  EXPECT_TRUE(names(log.data(), "Undefined reference to 'scaled' in 'unit 1'")) << log.data();
}
