// Functions of the table of signatures, from the application's call to a driver's function and back: both
// halves, with a message between them as the wire would carry it.
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>

#include "icd/extensions/extension_call.hpp"
#include "icd/objects/device.hpp"
#include "icd/objects/platform.hpp"
#include "runtime/vgpu/opencl/extension_call.hpp"
#include "runtime/wire/extension_cif.hpp"

namespace fairgv {
namespace {

using icd::ExtensionArguments;
using icd::ExtensionFunction;
using wire::ExtensionSignature;
using wire::ParameterKind;
using wire::ReturnKind;
namespace sig = wire::signature;

/// The worker's objects as a driver sees them: an address made of kind and name.
void* driver_object(ParameterKind kind, std::uint64_t name) {
  return reinterpret_cast<void*>((static_cast<std::uintptr_t>(kind) << 32) + name);
}

/// Calls `function` as the worker does for a message that went over the wire.
class Worker {
 public:
  Worker(const ExtensionSignature& signature, void (*function)())
      : signature_(signature), function_(function) {}

  std::optional<wire::ExtensionReply> operator()(std::string_view name, const ExtensionArguments& arguments) {
    const wire::CallExtension sent{0, name, arguments.scalars(), arguments.contents()};
    std::vector<std::uint64_t> bytes(wire::encoded_size(sent) / 8 + 1);
    auto* const first = reinterpret_cast<std::byte*>(bytes.data());
    wire::encode(sent, first);
    wire::CallExtension received;
    EXPECT_TRUE(wire::decode({first, wire::encoded_size(sent)}, received));
    EXPECT_EQ(signature_.function, received.function);
    auto reply = vgpu::opencl::call_extension(signature_, function_, received,
                                              [](ParameterKind kind, std::uint64_t object, cl_int&) {
                                                return Result<void*>(driver_object(kind, object));
                                              });
    EXPECT_TRUE(reply) << reply.error().message;
    return reply ? std::optional(std::move(reply).value()) : std::nullopt;
  }

 private:
  const ExtensionSignature& signature_;
  void (*function_)();
};

template <class Function>
auto* made(ExtensionFunction& function) {
  return reinterpret_cast<Function*>(function.address());
}

template <class Function>
void (*as_driver(Function* function))() {
  return reinterpret_cast<void (*)()>(function);
}

TEST(ExtensionFunctions, FailOnADriverWithoutThem) {
  static const ExtensionSignature row{"mark", "test", ReturnKind::error, {sig::u32, sig::out(8)}};
  using Function = cl_int(cl_uint, cl_ulong*);
  ExtensionFunction function(row, Worker(row, nullptr));
  cl_ulong untouched = 7;
  EXPECT_EQ(made<Function>(function)(1, &untouched), CL_INVALID_OPERATION);
  EXPECT_EQ(untouched, 7U);
}

// ---- every kind of parameter

TEST(ExtensionFunctions, PassNumbersOfBothSizesAndReturnErrors) {
  static const ExtensionSignature row{"numbers", "test", ReturnKind::error, {sig::u32, sig::u64, sig::size}};
  using Function = cl_int(cl_uint, cl_ulong, std::size_t);
  ExtensionFunction function(row, Worker(row, as_driver<Function>([](cl_uint a, cl_ulong b, std::size_t c) {
                                           const bool right = a == 0xFFFFFFFE && b == 1ULL << 63 && c == 7;
                                           return right ? CL_INVALID_OPERATION : CL_SUCCESS;
                                         })));
  EXPECT_EQ(CL_INVALID_OPERATION, made<Function>(function)(0xFFFFFFFE, 1ULL << 63, 7));
}

TEST(ExtensionFunctions, ReturnWideNumbersAndNothing) {
  static const ExtensionSignature wide{"wide", "test", ReturnKind::u64, {sig::u64}};
  ExtensionFunction square(wide,
                           Worker(wide, as_driver<cl_ulong(cl_ulong)>([](cl_ulong a) { return a * a; })));
  EXPECT_EQ(1ULL << 62, made<cl_ulong(cl_ulong)>(square)(1ULL << 31));
  static const ExtensionSignature silent{"silent", "test", ReturnKind::nothing, {sig::out(4)}};
  ExtensionFunction write(silent, Worker(silent, as_driver<void(cl_int*)>([](cl_int* to) { *to = -3; })));
  cl_int value = 0;
  made<void(cl_int*)>(write)(&value);
  EXPECT_EQ(-3, value);
}

TEST(ExtensionFunctions, PassHandlesAndNull) {
  static const ExtensionSignature row{
      "handles",
      "test",
      ReturnKind::error,
      {sig::platform, sig::device, sig::context, sig::queue, sig::memory, sig::program, sig::kernel}};
  using Function =
      cl_int(cl_platform_id, cl_device_id, cl_context, cl_command_queue, cl_mem, cl_program, cl_kernel);
  static std::array<void*, 7> seen;
  ExtensionFunction function(
      row, Worker(row, as_driver<Function>([](cl_platform_id a, cl_device_id b, cl_context c,
                                              cl_command_queue d, cl_mem e, cl_program f, cl_kernel g) {
                    seen = {a, b, c, d, e, f, g};
                    return CL_SUCCESS;
                  })));
  icd::Platform platform(2);
  icd::Device device(platform, 4, CL_DEVICE_TYPE_CPU);
  auto* const call = made<Function>(function);
  EXPECT_EQ(CL_SUCCESS,
            call(platform.handle(), device.handle(), nullptr, nullptr, nullptr, nullptr, nullptr));
  const std::array<void*, 7> expected{driver_object(ParameterKind::platform, 3),
                                      driver_object(ParameterKind::device, 5)};
  EXPECT_EQ(expected, seen);
}

TEST(ExtensionFunctions, RefuseWhatIsNoHandleOfItsKind) {
  static const ExtensionSignature row{
      "handles",
      "test",
      ReturnKind::error,
      {sig::platform, sig::device, sig::context, sig::queue, sig::memory, sig::program, sig::kernel}};
  ExtensionFunction function(row, [](auto, const auto&) -> std::optional<wire::ExtensionReply> {
    ADD_FAILURE() << "a call with a bad handle was sent";
    return std::nullopt;
  });
  static std::uint64_t other[8] = {};
  auto* const bad = static_cast<void*>(other);
  auto* const call = made<cl_int(void*, void*, void*, void*, void*, void*, void*)>(function);
  EXPECT_EQ(CL_INVALID_PLATFORM, call(bad, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_DEVICE, call(nullptr, bad, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_CONTEXT, call(nullptr, nullptr, bad, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_COMMAND_QUEUE, call(nullptr, nullptr, nullptr, bad, nullptr, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_MEM_OBJECT, call(nullptr, nullptr, nullptr, nullptr, bad, nullptr, nullptr));
  EXPECT_EQ(CL_INVALID_PROGRAM, call(nullptr, nullptr, nullptr, nullptr, nullptr, bad, nullptr));
  EXPECT_EQ(CL_INVALID_KERNEL, call(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, bad));
}

TEST(ExtensionFunctions, CarryArraysBothWaysAndNullPointers) {
  static const ExtensionSignature row{
      "arrays", "test", ReturnKind::error, {sig::u32, sig::in(8, 0), sig::in(8, 0), sig::out(8, 0)}};
  using Function = cl_int(cl_uint, const std::size_t*, const std::size_t*, std::size_t*);
  ExtensionFunction function(
      row, Worker(row, as_driver<Function>(
                           [](cl_uint count, const std::size_t* a, const std::size_t* b, std::size_t* sums) {
                             if (a != nullptr) return CL_INVALID_VALUE;
                             for (cl_uint i = 0; i + 1 < count; ++i) sums[i] = b[i] + 100;
                             return CL_SUCCESS;
                           })));
  const std::size_t in[3] = {1, 2, 3};
  std::size_t out[3] = {7, 7, 7};
  EXPECT_EQ(CL_SUCCESS, made<Function>(function)(3, nullptr, in, out));
  EXPECT_EQ(101U, out[0]);
  EXPECT_EQ(102U, out[1]);
  EXPECT_EQ(7U, out[2]) << "memory that the driver does not write stays";
  EXPECT_EQ(CL_INVALID_VALUE, made<Function>(function)(3, in, in, out));
}

TEST(ExtensionFunctions, AnswerQueriesByTheirLastThreeArguments) {
  static const ExtensionSignature row{
      "info", "test", ReturnKind::error, {sig::u32, sig::size, sig::out(1, 1), sig::size_ret}};
  using Function = cl_int(cl_uint, std::size_t, void*, std::size_t*);
  ExtensionFunction function(
      row, Worker(row, as_driver<Function>([](cl_uint, std::size_t size, void* value, std::size_t* size_ret) {
                    if (value != nullptr && size < 4) return CL_INVALID_VALUE;
                    if (value != nullptr) std::memcpy(value, "abc", 4);
                    if (size_ret != nullptr) *size_ret = 4;
                    return CL_SUCCESS;
                  })));
  auto* const info = made<Function>(function);
  std::size_t size = 0;
  EXPECT_EQ(CL_SUCCESS, info(1, 0, nullptr, &size));
  EXPECT_EQ(4U, size);
  char text[6] = "#####";
  EXPECT_EQ(CL_SUCCESS, info(1, sizeof(text), text, nullptr));
  EXPECT_STREQ("abc", text);
  EXPECT_EQ('#', text[4]);
  EXPECT_EQ(CL_INVALID_VALUE, info(1, 3, text, nullptr));
  std::vector<char> long_text(wire::kMostExtensionBytes + 1);
  EXPECT_EQ(CL_OUT_OF_RESOURCES, info(1, long_text.size(), long_text.data(), nullptr));
}

TEST(ExtensionFunctions, FailWhenTheSessionIsLostOrTheReplyMakesNoSense) {
  static const ExtensionSignature row{"short", "test", ReturnKind::error, {sig::out(8)}};
  std::size_t value = 5;
  ExtensionFunction lost(
      row, [](auto, const auto&) -> std::optional<wire::ExtensionReply> { return std::nullopt; });
  EXPECT_EQ(CL_DEVICE_NOT_AVAILABLE, made<cl_int(std::size_t*)>(lost)(&value));
  ExtensionFunction wrong(row, [](auto, const auto&) { return wire::ExtensionReply{0, {std::byte{1}}}; });
  EXPECT_EQ(CL_OUT_OF_RESOURCES, made<cl_int(std::size_t*)>(wrong)(&value));
  EXPECT_EQ(5U, value);
}

// ---- every row of the table

/// A driver's function of any signature: remembers its arguments, writes ones to the memory that it may write
/// to.
class FakeDriverFunction {
 public:
  static constexpr std::uint32_t kCount = 3;  // elements of every array

  explicit FakeDriverFunction(const ExtensionSignature& row) : row_(row), cif_(row) {
    closure_ = static_cast<ffi_closure*>(ffi_closure_alloc(sizeof(ffi_closure), &code_));
    EXPECT_EQ(FFI_OK, ffi_prep_closure_loc(closure_, cif_.get(), &FakeDriverFunction::called, this, code_));
  }
  ~FakeDriverFunction() { ffi_closure_free(closure_); }

  void (*address())() { return reinterpret_cast<void (*)()>(code_); }
  static std::size_t bytes(const wire::Parameter& parameter) {
    return wire::pointed_bytes(parameter, kCount);
  }

  std::vector<std::uint64_t> numbers;
  std::vector<std::vector<std::byte>> read;

 private:
  static void called(ffi_cif*, void* result, void** arguments, void* self) {
    auto& fake = *static_cast<FakeDriverFunction*>(self);
    for (const wire::Parameter& parameter : fake.row_.parameters()) {
      fake.look_at(parameter, *arguments++);
    }
    if (fake.row_.returns != ReturnKind::nothing) *static_cast<ffi_sarg*>(result) = -42;
  }

  void look_at(const wire::Parameter& parameter, void* argument) {
    std::uint64_t value = 0;
    std::memcpy(&value, argument, parameter.kind == ParameterKind::u32 ? 4 : 8);
    auto* const pointer = reinterpret_cast<std::byte*>(value);
    if (parameter.kind == ParameterKind::in) read.emplace_back(pointer, pointer + bytes(parameter));
    if (parameter.kind == ParameterKind::out) std::fill_n(pointer, bytes(parameter), std::byte{1});
    if (!parameter.is_pointer()) numbers.push_back(value);
  }

  const ExtensionSignature& row_;
  wire::ExtensionCif cif_;
  ffi_closure* closure_ = nullptr;
  void* code_ = nullptr;
};

class EachExtensionFunction : public testing::TestWithParam<ExtensionSignature> {};

TEST_P(EachExtensionFunction, ReachesTheDriverWithItsArgumentsAndBack) {
  const ExtensionSignature& row = GetParam();
  FakeDriverFunction fake(row);
  ExtensionFunction function(row, Worker(row, fake.address()));
  ASSERT_NE(nullptr, function.address());

  // Numbers are kCount, so that each array has as many elements whichever argument counts them; handles are
  // null.
  std::array<std::uint64_t, wire::kMostParameters> values{};
  std::array<void*, wire::kMostParameters> addresses{};
  std::vector<std::vector<std::byte>> memory(row.count);
  std::vector<std::uint64_t> numbers;
  for (std::size_t i = 0; i < row.count; ++i) {
    const wire::Parameter& parameter = row.all.at(i);
    if (parameter.is_number()) values.at(i) = FakeDriverFunction::kCount;
    if (!parameter.is_pointer()) numbers.push_back(values.at(i));
    if (parameter.is_pointer()) {
      memory[i].assign(FakeDriverFunction::bytes(parameter), std::byte{static_cast<unsigned char>(10 + i)});
      values.at(i) = reinterpret_cast<std::uintptr_t>(memory[i].data());
    }
    addresses.at(i) = &values.at(i);
  }
  wire::ExtensionCif cif(row);
  ffi_arg returned = 0;
  ffi_call(cif.get(), reinterpret_cast<void (*)()>(function.address()), &returned, addresses.data());

  if (row.returns == ReturnKind::error) {
    EXPECT_EQ(-42, static_cast<cl_int>(returned));
  }
  EXPECT_EQ(numbers, fake.numbers);
  std::size_t reads = 0;
  for (std::size_t i = 0; i < row.count; ++i) {
    const wire::Parameter& parameter = row.all.at(i);
    if (parameter.kind == ParameterKind::in) {
      EXPECT_EQ(memory[i], fake.read.at(reads++)) << "argument " << i;
    }
    if (parameter.kind == ParameterKind::out) {
      EXPECT_EQ(std::vector<std::byte>(memory[i].size(), std::byte{1}), memory[i]) << "argument " << i;
    }
  }
  EXPECT_EQ(reads, fake.read.size());
}

std::vector<ExtensionSignature> served_by_signature() {
  std::vector<ExtensionSignature> rows;
  std::copy_if(wire::kExtensions.begin(), wire::kExtensions.end(), std::back_inserter(rows),
               [](const ExtensionSignature& row) { return row.served_by == wire::ServedBy::signature; });
  return rows;
}
INSTANTIATE_TEST_SUITE_P(Table, EachExtensionFunction, testing::ValuesIn(served_by_signature()),
                         [](const auto& test) { return std::string(test.param.function); });

// ---- arguments that a hostile front end may send

class HostileCalls : public testing::Test {
 protected:
  using Scalars = std::vector<std::uint64_t>;

  static cl_int untouched(cl_uint, const std::size_t*, cl_mem, std::size_t*) {
    ADD_FAILURE() << "the driver was called";
    return CL_SUCCESS;
  }

  static Result<wire::ExtensionReply> send(const Scalars& scalars, std::size_t bytes) {
    const std::vector<std::byte> contents(bytes);
    return vgpu::opencl::call_extension(
        kRow, as_driver(&untouched), wire::CallExtension{0, kRow.function, scalars, contents},
        [](ParameterKind, std::uint64_t name, cl_int& poison) -> Result<void*> {
          if (name == 666) return Error{"names no memory object"};
          poison = CL_MEM_OBJECT_ALLOCATION_FAILURE;
          return static_cast<void*>(nullptr);
        });
  }

  static constexpr ExtensionSignature kRow{
      "row", "test", ReturnKind::error, {sig::u32, sig::in(8, 0), sig::memory, sig::out(8)}};
};

TEST_F(HostileCalls, EndTheSessionInsteadOfReachingTheDriver) {
  EXPECT_FALSE(send({1, 1, 0}, 8)) << "too few arguments";
  EXPECT_FALSE(send({1, 1, 0, 1, 0}, 16)) << "too many arguments";
  EXPECT_FALSE(send({1ULL << 32, 0, 0, 0}, 0)) << "a 32-bit number of 33 bits";
  EXPECT_FALSE(send({1, 2, 0, 0}, 8)) << "neither a pointer nor null";
  EXPECT_FALSE(send({2, 1, 0, 0}, 8)) << "an array longer than the message";
  EXPECT_FALSE(send({0xFFFFFFFF, 1, 0, 0}, 8)) << "an array beyond the limit";
  EXPECT_FALSE(send({1, 1, 0, 1}, 8)) << "no contents for the second pointer";
  EXPECT_FALSE(send({1, 1, 0, 0}, 9)) << "contents of no argument";
  EXPECT_FALSE(send({0, 0, 666, 0}, 0)) << "an object that does not exist";
}

TEST_F(HostileCalls, CannotMakeSizesOverflow) {
  static constexpr ExtensionSignature wide{"wide", "test", ReturnKind::error, {sig::size, sig::in(16, 0)}};
  for (const std::uint64_t count : {1ULL << 60, 1ULL << 63, ~0ULL}) {
    const Scalars scalars{count, 1};
    const auto reply = vgpu::opencl::call_extension(wide, as_driver(&untouched),
                                                    wire::CallExtension{0, wide.function, scalars, {}},
                                                    [](auto, auto, auto&) { return Result<void*>(nullptr); });
    EXPECT_FALSE(reply) << count;
  }
}

TEST_F(HostileCalls, GetTheErrorOfAPoisonedObject) {
  const auto reply = send({0, 0, 5, 1}, 8);
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(CL_MEM_OBJECT_ALLOCATION_FAILURE, static_cast<cl_int>(reply.value().returned));
  EXPECT_EQ(8U, reply.value().outputs.size());
}

}  // namespace
}  // namespace fairgv
