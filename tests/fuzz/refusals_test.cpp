// Messages that no front end of ours sends end the session with a reason, before a driver sees them.
#include <CL/cl.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>

#include "runtime/vgpu/opencl/bounds.hpp"
#include "runtime/vgpu/opencl/commands.hpp"
#include "tests/fuzz/worker_script.hpp"
#include "tests/fuzz/worker_session.hpp"

namespace fairgv::fuzz {
namespace {

using wire::ArgumentKind;

constexpr auto kContext = wire::ObjectId::make(1, 1);
constexpr auto kQueue = wire::ObjectId::make(2, 1);
constexpr auto kBuffer = wire::ObjectId::make(3, 1);
constexpr auto kPart = wire::ObjectId::make(4, 1);
constexpr auto kImage = wire::ObjectId::make(5, 1);
constexpr auto kRow = wire::ObjectId::make(6, 1);
constexpr auto kProgram = wire::ObjectId::make(7, 1);
constexpr auto kKernel = wire::ObjectId::make(8, 1);
constexpr auto kNew = wire::ObjectId::make(20, 1);
constexpr auto kBuilt = wire::EventId::make(1, 1);
constexpr std::uint64_t kEnd = UINT64_MAX;

/// A session with a buffer of 4096 bytes, a part of it, an image of 16 x 16, a row of 64 elements in the
/// buffer, and a kernel.
class Refusals : public ::testing::Test {
 protected:
  void SetUp() override {
    const wire::DeviceIndex devices[] = {0};
    accept(wire::CreateContext{kContext, devices});
    accept(wire::CreateQueue{kQueue, kContext, 0, 0});
    accept(wire::CreateBuffer{kBuffer, kContext, CL_MEM_READ_WRITE, 4096, {}});
    accept(wire::CreateSubBuffer{kPart, kBuffer, CL_MEM_READ_WRITE, 128, 256});
    wire::CreateImage image{kImage, kContext, CL_MEM_READ_WRITE, {}, {}};
    image.description = {CL_RGBA, CL_FLOAT, CL_MEM_OBJECT_IMAGE2D, 16, 16, 0, 0, 0};
    accept(image);
    wire::CreateImageFromMemory row{kRow, kBuffer, CL_MEM_READ_WRITE, {}};
    row.description = {CL_R, CL_FLOAT, CL_MEM_OBJECT_IMAGE1D_BUFFER, 64, 0, 0, 0, 0};
    accept(row);
    accept(wire::CreateProgramWithSource{kProgram, kContext, kPrograms[0]});
    accept(wire::BuildProgram{kProgram, {}, "", "/", kBuilt});
    accept(wire::CreateKernel{kKernel, kProgram, "plain"});
  }

  template <class Call>
  Result<void> say(const Call& call) {
    std::vector<std::uint64_t> words(wire::encoded_size(call) / 8 + 1);
    auto* const bytes = reinterpret_cast<std::byte*>(words.data());
    wire::encode(call, bytes);
    return session.handle(Call::opcode, {bytes, wire::encoded_size(call)});
  }
  template <class Call>
  void accept(const Call& call) {
    const auto said = say(call);
    EXPECT_TRUE(said) << said.error().message;
  }
  template <class Call>
  void refuse(const Call& call, const std::string& reason) {
    const auto said = say(call);
    ASSERT_FALSE(said) << Call::name;
    EXPECT_NE(said.error().message.find(reason), std::string::npos) << said.error().message;
    EXPECT_EQ(said.error().message.find(Call::name), 0U) << said.error().message;
  }
  template <class Call>
  void out_of_bounds(const Call& call) {
    refuse(call, "beyond the memory objects");
  }

  const wire::Command command{kQueue, {}, {}};
  /// Limits low enough to be reached soon.
  const vgpu::IssueLimits limits{.waits = std::uint64_t{1} << 17, .notices = std::uint64_t{1} << 14};
  WorkerSession session{{}, limits};
};

TEST_F(Refusals, CommandsStayWithinTheirBuffersWhateverOverflows) {
  const std::byte pattern[4] = {};
  out_of_bounds(wire::EnqueueReadBuffer{command, kBuffer, kEnd - 3, {0, 8}});
  out_of_bounds(wire::EnqueueWriteBuffer{command, kBuffer, 4090, {0, 8}});
  out_of_bounds(wire::EnqueueReadBufferRect{command, kBuffer, {0, 0, 1}, {1, 1, 1}, 1, kEnd, {0, 64}});
  out_of_bounds(wire::EnqueueWriteBufferRect{command, kBuffer, {0, 0, 0}, {8, 0, 1}, 8, 8, {0, 64}});
  out_of_bounds(wire::EnqueueCopyBuffer{command, kBuffer, kPart, 0, 0, 257});
  out_of_bounds(wire::EnqueueCopyBuffer{command, kBuffer, kPart, kEnd, kEnd, 2});
  out_of_bounds(
      wire::EnqueueCopyBufferRect{command, kBuffer, kBuffer, {0, 0, 0}, {0, 0, 63}, {8, 1, 2}, 8, 64, 8, 64});
  out_of_bounds(wire::EnqueueFillBuffer{command, kBuffer, 4096, 4, pattern});
  out_of_bounds(wire::EnqueueFillBuffer{command, kBuffer, 0, 6, pattern});
  out_of_bounds(wire::EnqueueFillBuffer{command, kBuffer, 0, 4, {}});
}

TEST_F(Refusals, CommandsStayWithinTheirImagesWhateverOverflows) {
  out_of_bounds(wire::EnqueueReadImage{command, kImage, {kEnd, 0, 0}, {2, 1, 1}, 0, 0, {0, 4096}});
  out_of_bounds(wire::EnqueueWriteImage{command, kImage, {0, 0, 0}, {16, 16, 2}, 0, 0, {0, 16384}});
  out_of_bounds(wire::EnqueueCopyImage{command, kImage, kImage, {0, 0, 0}, {8, 8, 0}, {9, 1, 1}});
  out_of_bounds(wire::EnqueueCopyImage{command, kRow, kImage, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}});
  out_of_bounds(wire::EnqueueCopyImageToBuffer{command, kImage, kPart, {0, 0, 0}, {16, 2, 1}, 0});
  out_of_bounds(wire::EnqueueCopyBufferToImage{command, kBuffer, kImage, {0, 0, 0}, {1, 1, 1}, kEnd - 7});
  out_of_bounds(wire::EnqueueFillImage{command, kImage, {0, 0, 0}, {16, 17, 1}, {}});
  out_of_bounds(wire::EnqueueFillImage{command, kRow, {1, 0, 0}, {64, 1, 1}, {}});
}

TEST_F(Refusals, TransfersGoByOtherMemoryThanTheirObjects) {
  constexpr auto kDirect = wire::ObjectId::make(21, 1);
  constexpr auto kDirectPart = wire::ObjectId::make(22, 1);
  accept(wire::CreateBuffer{kDirect, kContext, CL_MEM_READ_WRITE, 4096, {}, {8192, 4096}});
  accept(wire::CreateSubBuffer{kDirectPart, kDirect, CL_MEM_READ_WRITE, 128, 256});
  const auto refused = [this](const auto& call) { refuse(call, "is the memory of the object"); };
  refused(wire::EnqueueReadBuffer{command, kDirect, 0, {8191, 2}});
  refused(wire::EnqueueWriteBuffer{command, kDirect, 64, {8192 + 4095, 2}});
  refused(wire::EnqueueWriteBuffer{command, kDirectPart, 0, {8192 + 192, 8}});
  refused(wire::EnqueueReadBufferRect{command, kDirect, {0, 0, 0}, {8, 1, 1}, 8, 8, {8200, 8}});
  accept(wire::EnqueueReadBuffer{command, kDirect, 0, {8190, 2}});
  accept(wire::EnqueueWriteBuffer{command, kDirectPart, 0, {8192 + 4096, 8}});
  accept(wire::EnqueueWriteBuffer{command, kBuffer, 0, {8192, 8}});
}

TEST(Bounds, AnImagesMemoryIsThatOfWhatItLiesIn) {
  using vgpu::opencl::Buffer, vgpu::opencl::Image, vgpu::opencl::is_apart;
  const auto whole = std::make_shared<Buffer>();
  whole->backing = {8192, 4096};
  const auto part = std::make_shared<Buffer>();
  part->parent = whole;
  const auto outer = std::make_shared<Image>();
  outer->memory = part;
  Image image;
  EXPECT_TRUE(is_apart({8192, 1}, image)) << "the image has memory of its own";
  image.memory = outer;
  EXPECT_FALSE(is_apart({8192, 1}, image));
  EXPECT_FALSE(is_apart({0, 65536}, image));
  EXPECT_TRUE(is_apart({8191, 1}, image));
  EXPECT_TRUE(is_apart({12288, 1}, image));
}

TEST_F(Refusals, RecordedCommandsAreHeldToTheSame) {
  accept(wire::CreateCommandBuffer{kNew, kQueue});
  out_of_bounds(wire::RecordCopyBuffer{{{kNew, {}}, {{}, kBuffer, kPart, 0, 0, 257}}});
  out_of_bounds(wire::RecordFillImage{{{kNew, {}}, {{}, kImage, {0, 0, 0}, {16, 17, 1}, {}}}});
}

TEST_F(Refusals, PartsLieInTheirBuffersAndHaveNone) {
  refuse(wire::CreateSubBuffer{kNew, kBuffer, 0, kEnd - 127, 256}, "of a buffer of 4096");
  refuse(wire::CreateSubBuffer{kNew, kPart, 0, 0, 128}, "a part of a part");
}

TEST_F(Refusals, AnImageInABufferIsNoLargerThanTheBuffer) {
  wire::CreateImageFromMemory row{kNew, kBuffer, CL_MEM_READ_WRITE, {}};
  row.description = {CL_R, CL_FLOAT, CL_MEM_OBJECT_IMAGE1D_BUFFER, 1025, 0, 0, 0, 0};
  accept(row);  // the answer refuses it
  out_of_bounds(wire::EnqueueFillImage{command, kNew, {0, 0, 0}, {1026, 1, 1}, {}});
  wire::ImageDescription pitched{CL_R, CL_FLOAT, CL_MEM_OBJECT_IMAGE2D, 16, 4, 0, 0, 1 << 20};
  EXPECT_EQ(vgpu::opencl::bytes_in_memory(pitched, 4), (std::uint64_t{3} << 20) + 64);
  pitched.row_pitch = kEnd;
  EXPECT_EQ(vgpu::opencl::bytes_in_memory(pitched, 4), kEnd);
}

TEST_F(Refusals, AnArgumentIsGivenOnlyWhatItTakes) {
  const std::byte values[8] = {};
  const auto give = [&](std::uint32_t index, ArgumentKind kind, std::uint64_t position = 0) {
    const wire::ArgumentUpdate update[] = {{index, kind, 8, position}};
    refuse(wire::SetKernelArguments{kKernel, update, values}, "does not take");
  };
  give(0, ArgumentKind::value);  // eight bytes of the client's data in the place of a handle
  give(0, ArgumentKind::image, kImage.raw);
  give(1, ArgumentKind::local);
  give(2, ArgumentKind::memory, kBuffer.raw);
  give(3, ArgumentKind::svm);
  give(4, ArgumentKind::sampler, kImage.raw);
  refuse(wire::CheckArgumentSize{kKernel, 0, 8}, "takes no value");
}

TEST_F(Refusals, ALocalSizeWithAZeroIsNoDriversToTry) {
  wire::EnqueueKernel launch;
  launch.command = command;
  launch.kernel = kKernel;
  launch.dimensions = 2;
  launch.has_local_size = 1;
  launch.global_size = {8, 8, 1};
  launch.local_size = {8, 0, 1};
  const auto range = vgpu::opencl::Launch::range_of(launch);
  EXPECT_EQ(range.error, CL_INVALID_WORK_GROUP_SIZE);
  accept(launch);  // the launch ends with that error
  launch.local_size = {0, 8, 1};
  EXPECT_FALSE(vgpu::opencl::Launch::range_of(launch).has_local);
}

TEST(LocalMemory, IsCountedBeforeADriverIsAsked) {
  const vgpu::opencl::Kernel kernel;
  vgpu::opencl::Queue queue;
  queue.local_bytes = 4096;
  const auto asked = [&](std::vector<std::uint64_t> pieces) {
    std::vector<wire::ArgumentUpdate> updates;
    std::vector<vgpu::opencl::Takes> takes(pieces.size(), vgpu::opencl::Takes::anything);
    for (std::uint32_t i = 0; i < pieces.size(); ++i)
      updates.push_back({i, ArgumentKind::local, pieces[i], 0});
    const vgpu::ObjectTable<vgpu::opencl::Object> none;
    const auto set = vgpu::opencl::updated({}, updates, {}, takes, {none, {}});
    EXPECT_TRUE(set);
    return vgpu::opencl::local_memory_error(kernel, *set.value(), queue);
  };
  EXPECT_EQ(asked({}), CL_SUCCESS);
  EXPECT_EQ(asked({2000, 1900}), CL_SUCCESS);
  EXPECT_EQ(asked({4097}), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(asked({2048, 2048}), CL_SUCCESS) << "all of the local memory";
  EXPECT_EQ(asked({2048, 2049}), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(asked({kEnd, kEnd}), CL_OUT_OF_RESOURCES);
}

TEST_F(Refusals, DevicesOfAContextAreNoMoreThanThereAre) {
  const std::vector<wire::DeviceIndex> many(10'000, 0);
  refuse(wire::CreateContext{kNew, many}, "devices of");
}

TEST_F(Refusals, APartitionHasAnEnd) {
  const std::int64_t equally[] = {CL_DEVICE_PARTITION_EQUALLY, 0};
  const std::int64_t by_counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1, 1, 0};
  refuse(wire::CreateSubDevices{0, 1, equally}, "without an end");
  refuse(wire::CreateSubDevices{0, 1, by_counts}, "without an end");
  refuse(wire::CreateSubDevices{0, 1, {}}, "without an end");
}

TEST_F(Refusals, AnEmptySourceIsEmpty) {
  // A driver takes length 0 for a text up to its null character, and the message has no null character.
  accept(wire::CreateProgramWithSource{kNew, kContext, ""});
  accept(wire::BuildProgram{kNew, {}, "", "/", wire::EventId::make(2, 1)});
}

TEST_F(Refusals, HeadersLieAtPathsThatLeadNowhereElse) {
  wire::ProvideIncludes includes{kProgram, {{wire::IncludePlace::file, "/a/../../b.h", ""}}, {}, 0};
  refuse(includes, "at a place that is none");
  includes.places[0].path = "/a.h";
  accept(includes);
  const std::uint32_t marks[] = {7};
  accept(wire::ProvideIncludes{kProgram, {}, marks, 0});
  refuse(wire::BuildProgram{kProgram, {}, "-I/a", "/", wire::EventId::make(2, 1)}, "not in the options");
}

TEST_F(Refusals, WaitListsAreNotEndless) {
  const auto user = wire::EventId::make(3, 1);
  accept(wire::CreateUserEvent{user});
  const std::vector<wire::EventId> waits(limits.waits / 2, user);
  const wire::EnqueueMarker marker{{kQueue, {}, waits}};
  accept(marker);
  accept(marker);
  // A program may name as many events as it likes: the command fails, not the session.
  const auto beyond = wire::EventId::make(4, 1);
  session.claim_slot(beyond);
  accept(wire::EnqueueMarker{{kQueue, beyond, waits}});
  accept(wire::SetUserEventStatus{user, CL_COMPLETE});
  session.settle();
  EXPECT_EQ(session.status(beyond), CL_OUT_OF_RESOURCES);
}

TEST_F(Refusals, NoticesThatNobodyTakesAreNotEndless) {
  const auto ended = wire::EventId::make(3, 1);
  const auto open = wire::EventId::make(4, 1);
  accept(wire::EnqueueMarker{{kQueue, ended, {}}});
  accept(wire::CreateUserEvent{open});
  for (std::uint64_t i = 0; i < limits.notices; ++i) ASSERT_TRUE(say(wire::WatchEvent{open, CL_COMPLETE}));
  refuse(wire::WatchEvent{open, CL_COMPLETE}, "asked for and not taken");
}

TEST_F(Refusals, SpecializationConstantsAreForIntermediateLanguages) {
  const std::byte value[4] = {};
  accept(wire::CreateProgramWithSource{kNew, kContext, kPrograms[2]});
  accept(wire::SetSpecializationConstant{kNew, 1, value});  // the answer refuses it; PoCL 3.1 asserts
}

}  // namespace
}  // namespace fairgv::fuzz
