#include "cuda-shim/softcuda/driver/launch/begun.hpp"

#include <utility>

namespace fairgv::cuda::soft {

void Begun::keep(std::unique_ptr<Begun> begun, cl_command_queue queue, cl_event event) {
  if (clSetEventCallback(event, CL_COMPLETE, &Begun::ended, begun.get()) == CL_SUCCESS) {
    begun.release();  // the callback owns it
    clFlush(queue);
    return;
  }
  // No driver should refuse; waiting here is slow but right.
  const cl_int status = clWaitForEvents(1, &event);
  ended(event, status == CL_SUCCESS ? CL_COMPLETE : status, begun.release());
}

void CL_CALLBACK Begun::ended(cl_event event, cl_int status, void* data) {
  std::unique_ptr<Begun> begun(static_cast<Begun*>(data));
  Scheduler& scheduler = begun->scheduler_;
  const auto operation = std::move(begun->operation_);
  const CUresult result = begun->finish(status);
  begun.reset();  // before the end is reported
  clReleaseEvent(event);
  scheduler.ended(operation, result);
}

cl_command_queue device_queue(const OpenClDevice& device, Stream& stream) {
  if (!stream.device_queue) stream.device_queue = device.make_queue();
  return static_cast<cl_command_queue>(stream.device_queue.get());
}

}  // namespace fairgv::cuda::soft
