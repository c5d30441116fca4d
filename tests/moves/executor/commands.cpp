#include "tests/moves/executor/expect.hpp"
#include "tests/moves/executor/steps.hpp"

namespace fairgv::moves {
namespace {

/// One clEnqueue* call, as the action says which.
class Enqueuer {
 public:
  Enqueuer(Objects& objects, const Enqueue& step)
      : objects_(objects),
        queue_(objects.queues.at(step.queue)),
        blocking_(step.blocking ? CL_TRUE : CL_FALSE) {
    for (const Number each : step.waits) waits_.push_back(objects.events.at(each));
    if (step.event != kNone) event_ = &objects.events[step.event];
  }

  cl_int operator()(const Launch& a) const {
    return clEnqueueNDRangeKernel(queue_, objects_.kernels.at(a.kernel), a.dimensions,
                                  a.has_offset ? a.offset.data() : nullptr, a.global.data(),
                                  a.has_local ? a.local.data() : nullptr, count(), waits(), event_);
  }
  cl_int operator()(const ReadBuffer& a) const {
    return clEnqueueReadBuffer(queue_, memory(a.memory), blocking_, a.offset, a.to.bytes, array(a.to),
                               count(), waits(), event_);
  }
  cl_int operator()(const WriteBuffer& a) const {
    return clEnqueueWriteBuffer(queue_, memory(a.memory), blocking_, a.offset, a.from.bytes, data(a.from),
                                count(), waits(), event_);
  }
  cl_int operator()(const FillBuffer& a) const {
    return clEnqueueFillBuffer(queue_, memory(a.memory), data(a.pattern), a.pattern.bytes, a.offset, a.bytes,
                               count(), waits(), event_);
  }
  cl_int operator()(const CopyBuffer& a) const {
    return clEnqueueCopyBuffer(queue_, memory(a.from), memory(a.to), a.from_offset, a.to_offset, a.bytes,
                               count(), waits(), event_);
  }
  cl_int operator()(const ReadRect& a) const {
    return clEnqueueReadBufferRect(queue_, memory(a.memory), blocking_, a.in_buffer.origin.data(),
                                   a.in_host.origin.data(), a.region.data(), a.in_buffer.row,
                                   a.in_buffer.slice, a.in_host.row, a.in_host.slice, array(a.to), count(),
                                   waits(), event_);
  }
  cl_int operator()(const WriteRect& a) const {
    return clEnqueueWriteBufferRect(queue_, memory(a.memory), blocking_, a.in_buffer.origin.data(),
                                    a.in_host.origin.data(), a.region.data(), a.in_buffer.row,
                                    a.in_buffer.slice, a.in_host.row, a.in_host.slice, data(a.from), count(),
                                    waits(), event_);
  }
  cl_int operator()(const CopyRect& a) const {
    return clEnqueueCopyBufferRect(queue_, memory(a.from), memory(a.to), a.in_from.origin.data(),
                                   a.in_to.origin.data(), a.region.data(), a.in_from.row, a.in_from.slice,
                                   a.in_to.row, a.in_to.slice, count(), waits(), event_);
  }
  cl_int operator()(const ReadImage& a) const {
    return clEnqueueReadImage(queue_, memory(a.memory), blocking_, a.origin.data(), a.region.data(), 0, 0,
                              array(a.to), count(), waits(), event_);
  }
  cl_int operator()(const WriteImage& a) const {
    return clEnqueueWriteImage(queue_, memory(a.memory), blocking_, a.origin.data(), a.region.data(), 0, 0,
                               data(a.from), count(), waits(), event_);
  }
  cl_int operator()(const FillImage& a) const {
    return clEnqueueFillImage(queue_, memory(a.memory), a.color.data(), a.origin.data(), a.region.data(),
                              count(), waits(), event_);
  }
  cl_int operator()(const CopyImage& a) const {
    return clEnqueueCopyImage(queue_, memory(a.from), memory(a.to), a.from_origin.data(), a.to_origin.data(),
                              a.region.data(), count(), waits(), event_);
  }
  cl_int operator()(const CopyImageToBuffer& a) const {
    return clEnqueueCopyImageToBuffer(queue_, memory(a.from), memory(a.to), a.origin.data(), a.region.data(),
                                      a.offset, count(), waits(), event_);
  }
  cl_int operator()(const CopyBufferToImage& a) const {
    return clEnqueueCopyBufferToImage(queue_, memory(a.from), memory(a.to), a.offset, a.origin.data(),
                                      a.region.data(), count(), waits(), event_);
  }
  cl_int operator()(const Map& a) const { return a.is_image ? map_image(a) : map_buffer(a); }
  cl_int operator()(const Unmap& a) const {
    const Mapping& mapping = objects_.mappings.at(a.mapping);
    return clEnqueueUnmapMemObject(queue_, mapping.memory, mapping.start, count(), waits(), event_);
  }
  cl_int operator()(const Migrate& a) const {
    const cl_mem moved = memory(a.memory);
    return clEnqueueMigrateMemObjects(queue_, 1, &moved, a.flags, count(), waits(), event_);
  }
  cl_int operator()(const SvmMap& a) const {
    std::uint8_t* const start = objects_.svm.at(a.svm) + a.offset;
    objects_.mappings[a.mapping] = {nullptr, start, a.bytes, a.bytes, {a.bytes, 1, 1}};
    return clEnqueueSVMMap(queue_, blocking_, a.flags, start, a.bytes, count(), waits(), event_);
  }
  cl_int operator()(const SvmUnmap& a) const {
    return clEnqueueSVMUnmap(queue_, objects_.mappings.at(a.mapping).start, count(), waits(), event_);
  }
  cl_int operator()(const SvmFill& a) const {
    return clEnqueueSVMMemFill(queue_, objects_.svm.at(a.svm) + a.offset, data(a.pattern), a.pattern.bytes,
                               a.bytes, count(), waits(), event_);
  }
  cl_int operator()(const SvmRead& a) const {
    return clEnqueueSVMMemcpy(queue_, blocking_, array(a.to), objects_.svm.at(a.svm) + a.offset, a.to.bytes,
                              count(), waits(), event_);
  }
  cl_int operator()(const SvmWrite& a) const {
    return clEnqueueSVMMemcpy(queue_, blocking_, objects_.svm.at(a.svm) + a.offset, data(a.from),
                              a.from.bytes, count(), waits(), event_);
  }
  cl_int operator()(const SvmFree& a) const {
    void* pointer = objects_.svm.at(a.svm);
    return clEnqueueSVMFree(queue_, 1, &pointer, nullptr, nullptr, count(), waits(), event_);
  }
  cl_int operator()(const Marker&) const {
    return clEnqueueMarkerWithWaitList(queue_, count(), waits(), event_);
  }
  cl_int operator()(const Barrier&) const {
    return clEnqueueBarrierWithWaitList(queue_, count(), waits(), event_);
  }
  cl_int operator()(const Replay& a) const {
    return objects_.recording_functions.enqueue(0, nullptr, objects_.recordings.at(a.recording), count(),
                                                waits(), event_);
  }

 private:
  cl_uint count() const { return static_cast<cl_uint>(waits_.size()); }
  const cl_event* waits() const { return waits_.empty() ? nullptr : waits_.data(); }
  cl_mem memory(Number number) const { return objects_.memories.at(number); }
  void* array(const Array& array) const {
    return objects_.arrays.emplace(array.number, array).first->second.get();
  }
  const void* data(const Data& data) const { return objects_.data.emplace_back(data).get(); }

  cl_int map_buffer(const Map& a) const {
    cl_int error = CL_SUCCESS;
    void* const start = clEnqueueMapBuffer(queue_, memory(a.memory), blocking_, a.flags, a.origin[0],
                                           a.region[0], count(), waits(), event_, &error);
    const std::size_t bytes = a.region[0];
    objects_.mappings[a.mapping] = {
        memory(a.memory), static_cast<std::uint8_t*>(start), bytes, bytes, {bytes, 1, 1}};
    return error;
  }
  cl_int map_image(const Map& a) const {
    cl_int error = CL_SUCCESS;
    std::size_t row = 0, slice = 0;
    void* const start = clEnqueueMapImage(queue_, memory(a.memory), blocking_, a.flags, a.origin.data(),
                                          a.region.data(), &row, &slice, count(), waits(), event_, &error);
    const ImageDescription& image = objects_.images.at(a.memory);
    if (image.type == CL_MEM_OBJECT_IMAGE1D_ARRAY && slice != 0) row = slice;
    objects_.mappings[a.mapping] = {memory(a.memory),
                                    static_cast<std::uint8_t*>(start),
                                    row,
                                    slice,
                                    {a.region[0] * image.pixel, a.region[1], a.region[2]}};
    return error;
  }

  Objects& objects_;
  cl_command_queue queue_;
  cl_bool blocking_;
  std::vector<cl_event> waits_;
  cl_event* event_ = nullptr;
};

}  // namespace

void carry_out(Objects& objects, const Enqueue& step) {
  const Enqueuer enqueuer(objects, step);
  const std::string what = "the command of kind " + std::to_string(step.action.index());
  expect(std::visit(enqueuer, step.action), what.c_str());
}

}  // namespace fairgv::moves
