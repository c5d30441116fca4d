#include "tests/fuzz/worker_script.hpp"

#include <CL/cl_ext.h>

#include <cstring>

namespace fairgv::fuzz {
namespace {

using wire::ArgumentKind;

constexpr wire::ObjectId object(std::uint32_t index) {
  return wire::ObjectId::make(index, 1);
}
constexpr wire::EventId event(std::uint32_t index) {
  return wire::EventId::make(index, 1);
}

constexpr wire::ObjectId kContext = object(1);
constexpr wire::ObjectId kQueue = object(2);
constexpr wire::ObjectId kBuffer = object(3);
constexpr wire::ObjectId kOther = object(4);
constexpr wire::ObjectId kProgram = object(5);
constexpr wire::ObjectId kKernel = object(6);
constexpr wire::ObjectId kImage = object(7);
constexpr wire::ObjectId kRecorded = object(8);
constexpr std::uint64_t kBytes = 4096;

class Script {
 public:
  template <class Call>
  Script& call(const Call& call) {
    const std::size_t size = wire::encoded_size(call);
    std::vector<std::uint64_t> words(size / 8 + 1);
    wire::encode(call, reinterpret_cast<std::byte*>(words.data()));
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(words.data());
    records_.push_back({Call::opcode, {bytes, bytes + size}});
    return *this;
  }
  Script& settle() {
    records_.push_back({kSettle, {}});
    return *this;
  }
  Script& scribble() {
    records_.push_back({kScribble, {16, 0, 1, 2, 3, 4, 5, 6, 7, 8}});
    return *this;
  }
  const std::vector<Record>& records() const { return records_; }

  // ---- the beginning of most scripts

  Script& queue(std::uint64_t properties = 0) {
    const wire::DeviceIndex devices[] = {0};
    return call(wire::CreateContext{kContext, devices})
        .call(wire::CreateQueue{kQueue, kContext, 0, properties});
  }
  Script& buffers() {
    return call(wire::CreateBuffer{kBuffer, kContext, CL_MEM_READ_WRITE, kBytes, {0, kBytes}})
        .call(wire::CreateBuffer{kOther, kContext, CL_MEM_READ_WRITE, kBytes, {}, {8192, kBytes}, event(90)});
  }
  Script& image() {
    wire::CreateImage image{kImage, kContext, CL_MEM_READ_WRITE, {}, {0, 16 * 16 * 4}};
    image.description = {CL_RGBA, CL_UNSIGNED_INT8, CL_MEM_OBJECT_IMAGE2D, 16, 16, 0, 0, 0};
    return call(image);
  }
  Script& program() {
    return call(wire::CreateProgramWithSource{kProgram, kContext, kPrograms[0]})
        .call(wire::BuildProgram{kProgram, {}, "", "/", event(91)});
  }

 private:
  std::vector<Record> records_;
};

wire::Command command(std::uint32_t completion = 0, std::span<const wire::EventId> waits = {}) {
  return {kQueue, completion == 0 ? wire::EventId{} : event(completion), waits};
}

std::vector<Record> queries() {
  const std::int64_t equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
  const std::int64_t by_counts[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1, 1, 0, 0};
  const wire::DeviceIndex sub_device[] = {1};
  Script script;
  script.call(wire::Ping{7}).call(wire::GetTopology{}).call(wire::GetPlatformInfo{0, CL_PLATFORM_EXTENSIONS});
  for (const int param : {CL_DEVICE_NAME, CL_DEVICE_MAX_WORK_ITEM_SIZES, CL_DEVICE_EXTENSIONS,
                          CL_DEVICE_PARTITION_PROPERTIES, CL_DEVICE_COMMAND_BUFFER_CAPABILITIES_KHR}) {
    script.call(wire::GetDeviceInfo{0, static_cast<std::uint32_t>(param)});
  }
  return script.call(wire::GetTimers{0, 0})
      .call(wire::GetTimers{0, 1})
      .call(wire::CreateSubDevices{0, 1, equally})
      .call(wire::CreateSubDevices{0, 0, by_counts})
      .call(wire::CreateContext{kContext, sub_device})
      .call(wire::GetSupportedImageFormats{kContext, CL_MEM_READ_WRITE, CL_MEM_OBJECT_IMAGE2D})
      .call(wire::CreateQueue{kQueue, kContext, 1, CL_QUEUE_PROFILING_ENABLE})
      .call(wire::FlushQueue{kQueue})
      .call(wire::GetDevicesOfType{0, CL_DEVICE_TYPE_ALL})
      .call(wire::GetMemoryLeft{0})
      .call(wire::ReleaseObject{kContext})
      .call(wire::ReleaseSubDevice{1})
      .records();
}

/// The driver's answers to what a front end may not judge alone.
std::vector<Record> checks() {
  Script script;
  script.queue().buffers().program().call(wire::CreateKernel{kKernel, kProgram, "plain"});
  wire::CheckLaunch launch;
  launch.queue = kQueue;
  launch.kernel = kKernel;
  launch.dimensions = 1;
  launch.has_local_size = 1;
  launch.has_global_size = 1;
  launch.global_size = {64, 1, 1};
  launch.local_size = {48, 1, 1};
  return script.call(launch)
      .call(wire::CheckQueue{kContext, 0, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 1})
      .call(wire::CheckSubBuffer{kBuffer, CL_MEM_READ_WRITE, 1, 256})
      .call(wire::CheckEmptyCommand{kQueue, kBuffer, CL_COMMAND_READ_BUFFER})
      .call(wire::CheckHostMemory{kContext})
      .call(wire::CheckReleaseCallback{kProgram})
      .records();
}

/// A front end that reserves memory for what it creates.
std::vector<Record> reserved_memory() {
  constexpr std::uint64_t kFirstDevice = 1;
  Script script;
  return script.call(wire::ReserveMemory{kFirstDevice, 2 * kBytes, kBytes})
      .queue()
      .buffers()
      .call(wire::ReleaseObject{kOther})
      .call(wire::AwaitMemory{event(1), kFirstDevice, kBytes})
      .settle()
      .call(wire::ReturnMemory{kFirstDevice, kBytes})
      .records();
}

std::vector<Record> buffers() {
  const float pattern = 2.5F;
  const auto bytes = std::as_bytes(std::span(&pattern, 1));
  Script script;
  script.scribble().queue().buffers();
  script.call(wire::CreateSubBuffer{object(10), kBuffer, CL_MEM_READ_WRITE, 128, 256})
      .call(wire::EnqueueWriteBuffer{command(1), kBuffer, 64, {256, 512}})
      .call(wire::EnqueueReadBuffer{command(2), kOther, 0, {1024, 64}})
      .call(wire::EnqueueWriteBufferRect{command(), kBuffer, {4, 1, 0}, {8, 4, 2}, 16, 128, {0, 64}})
      .call(wire::EnqueueReadBufferRect{command(), kBuffer, {4, 1, 0}, {8, 4, 2}, 16, 128, {0, 64}})
      .call(wire::EnqueueCopyBuffer{command(3), kBuffer, kOther, 0, 64, 128})
      .call(wire::EnqueueCopyBufferRect{
          command(), kBuffer, kOther, {0, 0, 0}, {8, 0, 0}, {8, 4, 1}, 16, 64, 32, 128})
      .call(wire::EnqueueFillBuffer{command(4), kBuffer, 16, 64, bytes})
      .call(wire::EnqueueFillBuffer{command(), object(10), 0, 256, bytes})
      .call(wire::ReleaseObject{object(10)})
      .call(wire::ReleaseObject{kOther})
      .settle()
      .call(wire::ReleaseEvent{event(1)})
      .call(wire::WatchEvent{event(4), CL_COMPLETE});
  return script.records();
}

std::vector<Record> events(std::uint64_t properties) {
  const wire::EventId user[] = {event(1)};
  const wire::EventId both[] = {event(1), event(2)};
  Script script;
  return script.queue(properties)
      .buffers()
      .call(wire::CreateUserEvent{event(1)})
      .call(wire::EnqueueWriteBuffer{command(2, user), kBuffer, 0, {0, 64}})
      .call(wire::EnqueueMarker{command(3, both)})
      .call(wire::EnqueueBarrier{command(4)})
      .call(wire::EnqueueCopyBuffer{command(5), kBuffer, kOther, 0, 64, 128})
      .call(wire::EnqueueMark{command(), "frame"})
      .call(wire::EnqueueNothing{command(6)})
      .call(wire::WatchEvent{event(5), CL_SUBMITTED})
      .call(wire::WatchEvent{event(3), CL_COMPLETE})
      .call(wire::SetUserEventStatus{event(1), CL_COMPLETE})
      .settle()
      .call(wire::EnqueueAccess{command(7), kOther})
      .call(wire::EndAccess{event(7)})
      .call(wire::EnqueueHostWork{command(8)})
      .call(wire::EndAccess{event(8)})
      .call(wire::CreateUserEvent{event(9)})
      .call(wire::EnqueueMarker{command(10, std::span(user))})
      .call(wire::SetUserEventStatus{event(9), -5})
      .call(wire::ReleaseEvent{event(9)})
      .call(wire::ReleaseEvent{event(1)})
      .records();
}

/// The arguments of kPrograms[0]'s `plain`.
struct PlainArguments {
  const std::array<float, 5> values{1, 2, 3, 4, 5};
  const std::array<wire::ArgumentUpdate, 5> updates{{{0, ArgumentKind::memory, 0, kBuffer.raw},
                                                     {1, ArgumentKind::memory, 0, kOther.raw},
                                                     {2, ArgumentKind::local, 256, 0},
                                                     {3, ArgumentKind::value, 16, 0},
                                                     {4, ArgumentKind::value, 4, 16}}};

  wire::EnqueueKernel launch(std::uint32_t completion) const {
    wire::EnqueueKernel call;
    call.command = command(completion);
    call.kernel = kKernel;
    call.dimensions = 2;
    call.has_local_size = 1;
    call.has_global_offset = 1;
    call.global_offset = {4, 0, 0};
    call.global_size = {64, 8, 1};
    call.local_size = {16, 2, 1};
    call.updates = updates;
    call.values = std::as_bytes(std::span(values));
    return call;
  }
};

std::vector<Record> kernels() {
  const PlainArguments arguments;
  const wire::EnqueueKernel launch = arguments.launch(1);
  wire::EnqueueKernel again;
  again.command = command(2);
  again.kernel = kKernel;
  again.dimensions = 1;
  again.global_size = {96, 1, 1};
  const std::size_t range[] = {64, 8};
  const auto input = std::as_bytes(std::span(range));
  Script script;
  return script.queue()
      .buffers()
      .program()
      .call(wire::DescribeKernels{kProgram})
      .call(wire::CreateKernel{kKernel, kProgram, "plain"})
      .call(wire::CheckArgumentSize{kKernel, 3, 16})
      .call(wire::GetKernelWorkGroupInfo{kKernel, 0, CL_KERNEL_WORK_GROUP_SIZE})
      .call(wire::GetKernelSubGroupInfo{kKernel, 0, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE, 8, input})
      .call(wire::SetKernelArguments{kKernel, launch.updates, launch.values})
      .call(launch)
      .call(again)
      .call(wire::GetKernelWorkGroupInfo{kKernel, 0, CL_KERNEL_LOCAL_MEM_SIZE})
      .call(wire::GetProgramInfo{kProgram, CL_PROGRAM_BINARY_SIZES})
      .call(wire::GetProgramBuildInfo{kProgram, 0, CL_PROGRAM_BUILD_LOG})
      .call(wire::GetProgramDevices{kProgram})
      .records();
}

std::vector<Record> images() {
  Script script;
  script.queue().buffers().image().program();
  wire::CreateImageFromMemory row{object(11), kBuffer, CL_MEM_READ_WRITE, {}};
  row.description = {CL_R, CL_FLOAT, CL_MEM_OBJECT_IMAGE1D_BUFFER, 64, 0, 0, 0, 0};
  wire::CreateImageFromMemory pitched{object(15), kBuffer, CL_MEM_READ_WRITE, {}};
  pitched.description = {CL_RGBA, CL_FLOAT, CL_MEM_OBJECT_IMAGE2D, 4, 4, 0, 0, 256};
  const wire::ArgumentUpdate updates[] = {{0, ArgumentKind::image, 0, kImage.raw},
                                          {1, ArgumentKind::image, 0, kImage.raw},
                                          {2, ArgumentKind::sampler, 0, object(12).raw},
                                          {3, ArgumentKind::svm, 0, 128}};
  wire::EnqueueKernel launch;
  launch.command = command(5);
  launch.kernel = kKernel;
  launch.dimensions = 1;
  launch.global_size = {8, 1, 1};
  launch.updates = updates;
  return script.call(row)
      .call(pitched)
      .call(wire::CreateSampler{object(12), kContext, 0, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST})
      .call(wire::CreatePipe{object(13), kContext, 0, 16, 4})
      .call(wire::EnqueueWriteImage{command(1), kImage, {2, 2, 0}, {4, 4, 1}, 16, 0, {0, 64}})
      .call(wire::EnqueueReadImage{command(2), kImage, {0, 0, 0}, {16, 16, 1}, 0, 0, {0, 1024}})
      .call(wire::EnqueueCopyImage{command(), kImage, kImage, {0, 0, 0}, {8, 8, 0}, {4, 4, 1}})
      .call(wire::EnqueueCopyImageToBuffer{command(3), kImage, kOther, {0, 0, 0}, {4, 4, 1}, 64})
      .call(wire::EnqueueCopyBufferToImage{command(), kOther, kImage, {0, 0, 0}, {4, 4, 1}, 64})
      .call(wire::EnqueueFillImage{command(4), kImage, {1, 1, 0}, {4, 4, 1}, {1, 2, 3, 4}})
      .call(wire::EnqueueFillImage{command(), object(11), {4, 0, 0}, {16, 1, 1}, {}})
      .call(wire::EnqueueCopyImageToBuffer{command(), object(11), kOther, {2, 0, 0}, {16, 1, 1}, 0})
      .call(wire::CreateKernel{kKernel, kProgram, "more"})
      .call(launch)
      .records();
}

std::vector<Record> links() {
  const wire::ObjectId inputs[] = {kProgram, kOther};
  const std::uint64_t sizes[] = {4};
  const wire::DeviceIndex devices[] = {0};
  const std::byte binary[] = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  Script script;
  script.queue()
      .call(wire::CreateProgramWithSource{kProgram, kContext, kPrograms[1]})
      .call(wire::CreateProgramWithSource{kOther, kContext, kPrograms[2]});
  wire::ProvideIncludes includes{kProgram, {}, {}, 1};
  includes.places = {{wire::IncludePlace::folder, "/b", {}},
                     {wire::IncludePlace::file, "/c/d.h", "#define D\n"},
                     {wire::IncludePlace::link, "/e.h", "/c/d.h"}};
  wire::CompileProgram compile{kProgram, {}, "", "/", {{kOther, "a.h"}}, event(1)};
  script.call(includes)
      .call(compile)
      .call(wire::CompileProgram{kOther, {}, "", "/", {}, event(2)})
      .call(wire::LinkProgram{object(10), kContext, {}, "", inputs, event(3)})
      .call(wire::CreateKernel{kKernel, object(10), "uses"})
      .call(wire::CreateProgramWithBinary{object(11), kContext, devices, sizes, binary})
      .call(wire::CreateProgramWithIl{object(12), kContext, binary})
      .call(wire::CreateProgramWithBuiltInKernels{object(13), kContext, devices, "a;b"})
      .call(wire::SetSpecializationConstant{kProgram, 1, binary});
  return script.records();
}

std::vector<Record> command_buffers() {
  const PlainArguments arguments;
  const float pattern = 2.5F;
  const auto bytes = std::as_bytes(std::span(&pattern, 1));
  const std::uint32_t first[] = {1};
  Script script;
  script.queue().buffers().image().program().call(wire::CreateKernel{kKernel, kProgram, "plain"});
  return script.call(wire::CreateCommandBuffer{kRecorded, kQueue})
      .call(wire::RecordFillBuffer{{{kRecorded, {}}, {{}, kBuffer, 0, 64, bytes}}})
      .call(wire::RecordCopyBuffer{{{kRecorded, first}, {{}, kBuffer, kOther, 0, 0, 64}}})
      .call(wire::RecordCopyBufferRect{
          {{kRecorded, first}, {{}, kBuffer, kOther, {0, 0, 0}, {8, 0, 0}, {8, 4, 1}, 16, 64, 32, 128}}})
      .call(wire::RecordBarrier{{{kRecorded, {}}, {}}})
      .call(wire::RecordKernel{{{kRecorded, first}, arguments.launch(0)}})
      .call(wire::RecordCopyImage{{{kRecorded, {}}, {{}, kImage, kImage, {0, 0, 0}, {8, 8, 0}, {4, 4, 1}}}})
      .call(wire::RecordCopyImageToBuffer{{{kRecorded, {}}, {{}, kImage, kOther, {0, 0, 0}, {4, 4, 1}, 64}}})
      .call(wire::RecordCopyBufferToImage{{{kRecorded, {}}, {{}, kOther, kImage, {0, 0, 0}, {4, 4, 1}, 64}}})
      .call(wire::RecordFillImage{{{kRecorded, {}}, {{}, kImage, {1, 1, 0}, {4, 4, 1}, {1, 2, 3, 4}}}})
      .call(wire::FinalizeCommandBuffer{kRecorded})
      .call(wire::EnqueueCommandBuffer{command(1), kRecorded})
      .call(wire::EnqueueCommandBuffer{command(2), kRecorded})
      .call(wire::ReleaseObject{kRecorded})
      .records();
}

std::vector<Record> extensions() {
  const std::uint64_t none[] = {kBuffer.raw, 0};
  Script script;
  return script.queue()
      .buffers()
      .call(wire::FindExtensionFunction{0, "clGetKernelSuggestedLocalWorkSizeKHR"})
      .call(wire::CallExtension{0, "clSetContentSizeBufferPoCL", none, {}})
      .records();
}

}  // namespace

std::vector<std::vector<Record>> worker_scripts() {
  return {queries(),    buffers(), events(0),        events(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE),
          kernels(),    images(),  links(),          command_buffers(),
          extensions(), checks(),  reserved_memory()};
}

}  // namespace fairgv::fuzz
