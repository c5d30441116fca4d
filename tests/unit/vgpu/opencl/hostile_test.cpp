// The worker on the machine's real OpenCL driver: recorded commands, and calls that no front end of ours
// sends.
#include <gmock/gmock.h>

#include "tests/unit/vgpu/opencl/fixture.hpp"

namespace fairgv::vgpu {
namespace {

using ::testing::HasSubstr;

/// A launch of 16 work-items.
wire::RecordKernel launch_in(ObjectId command_buffer, ObjectId kernel) {
  wire::RecordKernel call;
  call.recording.command_buffer = command_buffer;
  call.command.kernel = kernel;
  call.command.dimensions = 1;
  call.command.global_size.x = 16;
  return call;
}

TEST_F(OpenClTest, ACommandBufferRunsAsOneCommandOfItsQueue) {
  const auto copy = make_buffer(std::vector<float>(16, 0.0F));
  const ObjectId recorded = record_fill_and_copy(copy, 64);
  ASSERT_EQ(finalize(recorded), CL_SUCCESS);
  EXPECT_EQ(read(copy, 16), std::vector<float>(16, 0.0F));
  const EventId event = client.events().acquire();
  client.send(wire::EnqueueCommandBuffer{on(queue, event), recorded});
  EXPECT_EQ(end(event), CL_COMPLETE);
  EXPECT_EQ(read(copy, 16), std::vector<float>(16, 2.5F));
}

TEST_F(OpenClTest, ACommandThatTheDriverRefusesToRecordFailsTheFinalization) {
  const auto kernel = make_kernel("scale");  // no argument is ever set
  const auto recorded = record_fill_and_copy(make_buffer(std::vector<float>(16, 0.0F)), 64);
  client.send(launch_in(recorded, kernel));
  EXPECT_EQ(finalize(recorded), CL_INVALID_KERNEL_ARGS);
}

// PoCL 3.1 would report the error, too, and then end.
TEST_F(OpenClTest, ALaunchWithGroupsThatCannotBeIsNotRecorded) {
  const auto kernel = make_kernel("scale");
  const auto buffer = make_buffer(std::vector<float>(16, 1.0F));
  const EventId launched = client.events().acquire();
  scale(queue, kernel, buffer, 2.0F, 16, launched);  // leaves the kernel with its arguments
  ASSERT_EQ(end(launched), CL_SUCCESS);
  for (const wire::Extent3 local : {wire::Extent3{5, 0, 0}, wire::Extent3{1 << 20, 0, 0}}) {
    const auto recorded = record_fill_and_copy(make_buffer(std::vector<float>(16, 0.0F)), 64);
    wire::RecordKernel call = launch_in(recorded, kernel);
    call.command.has_local_size = 1;
    call.command.local_size = local;
    client.send(call);
    EXPECT_EQ(finalize(recorded), CL_INVALID_WORK_GROUP_SIZE) << local.x;
  }
}

TEST_F(OpenClTest, ASyncPointThatWasNotRecordedEndsTheSession) {
  const auto recorded = client.new_object();
  client.send(wire::CreateCommandBuffer{recorded, queue});
  const std::uint32_t points[] = {1};
  client.send(wire::RecordBarrier{{{recorded, points}, {}}});
  EXPECT_EQ(end_of_session(), "RecordBarrier: sync point 1 of 0 recorded commands");
}

TEST_F(OpenClTest, ACommandBufferThatWasNotFinalizedEndsTheSession) {
  const auto recorded = client.new_object();
  client.send(wire::CreateCommandBuffer{recorded, queue});
  client.send(wire::EnqueueCommandBuffer{on(queue), recorded});
  EXPECT_THAT(end_of_session(), HasSubstr("not finalized"));
}

TEST_F(OpenClTest, ExtensionFunctionsAreFoundAndCalledOnlyFromTheTable) {
  const auto unknown = client.call(wire::FindExtensionFunction{0, "clDoWhatIMeanKHR"});
  ASSERT_TRUE(unknown);
  EXPECT_EQ(unknown->error, CL_INVALID_VALUE);
  EXPECT_FALSE(client.call(wire::CallExtension{0, "clReleaseCommandBufferKHR", {}, {}}));
  EXPECT_EQ(end_of_session(), "CallExtension: a function 'clReleaseCommandBufferKHR' that no table has");
}

TEST_F(OpenClTest, ABrokenCallEndsTheSessionAndSaysWhy) {
  client.send(wire::ReleaseObject{ObjectId::make(999, 1)});
  EXPECT_EQ(end_of_session(), "ReleaseObject: 0x1000003e7 names no object");
  EXPECT_TRUE(client.lost());
}

TEST_F(OpenClTest, ArenaRangesOutsideTheArenaEndTheSession) {
  const auto buffer = make_buffer(64);
  client.send(wire::EnqueueReadBuffer{on(queue), buffer, 0, {~std::uint64_t{0} - 8, 64}});
  EXPECT_THAT(end_of_session(), HasSubstr("do not lie in the arena"));
}

/// 16 x 16 elements of 4 bytes.
wire::ImageDescription small_image() {
  wire::ImageDescription description;
  description.channel_order = CL_RGBA;
  description.channel_type = CL_UNORM_INT8;
  description.type = CL_MEM_OBJECT_IMAGE2D;
  description.width = 16;
  description.height = 16;
  return description;
}

TEST_F(OpenClTest, AnImageTransferThatItsPitchTakesBeyondItsArenaRangeEndsTheSession) {
  const ObjectId image = client.new_object();
  client.send(wire::CreateImage{image, context, CL_MEM_READ_WRITE, small_image(), {}});
  const auto range = client.allocate(16 * 16 * 4).value();
  client.send(wire::EnqueueReadImage{on(queue), image, {0, 0, 0}, {16, 16, 1}, 128, 0, range});
  EXPECT_THAT(end_of_session(), HasSubstr("do not lie in the arena"));
}

TEST_F(OpenClTest, AnImageWithLessContentsThanElementsEndsTheSession) {
  const auto range = client.allocate(16 * 16 * 4).value();
  client.send(wire::CreateImage{
      client.new_object(), context, CL_MEM_READ_WRITE, small_image(), {range.offset, 16 * 16 * 4 - 1}});
  EXPECT_THAT(end_of_session(), HasSubstr("do not lie in the arena"));
}

TEST_F(OpenClTest, AnImageIsNoBufferToACommand) {
  const ObjectId image = client.new_object();
  client.send(wire::CreateImage{image, context, CL_MEM_READ_WRITE, small_image(), {}});
  client.send(wire::EnqueueReadBuffer{on(queue), image, 0, client.allocate(64).value()});
  EXPECT_THAT(end_of_session(), HasSubstr("names no buffer"));
}

}  // namespace
}  // namespace fairgv::vgpu
