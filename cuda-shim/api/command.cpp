#include "cuda-shim/api/command.hpp"

#include "cuda-shim/api/context.hpp"
#include "cuda-shim/api/memory/mapped.hpp"

namespace fairgv::cuda {

CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, LaunchCommand command) {
  return driver.scheduler.launch(stream, std::move(command.function), command.shape,
                                 std::move(command.parameters));
}

CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, const CopyCommand& command) {
  const CUresult code = check_target(driver, command.to, command.extent);
  if (code != CUDA_SUCCESS) return code;
  return driver.scheduler.copy(stream, command.to, command.from, command.extent, command.async);
}

CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, const FillCommand& command) {
  const CUresult code = fill(driver, stream, command.fill);
  if (code != CUDA_SUCCESS || command.async) return code;
  // No fill of device memory waits. The exception is pinned host memory, which the program reads without a
  // call.
  const auto allocation = driver.memory.find(command.fill.address);
  return allocation && allocation->is_host() ? driver.scheduler.synchronize(stream) : CUDA_SUCCESS;
}

CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, const HostCommand& command) {
  return driver.scheduler.run_on_host(
      stream,
      [command](CUresult) {
        in_host_function() = true;
        command.function(command.data);
        in_host_function() = false;
      },
      false);
}

CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, const RecordCommand& command) {
  if (command.event->owner != stream->group()->owner()) return CUDA_ERROR_INVALID_HANDLE;
  CUresult code = CUDA_SUCCESS;
  if (command.event->shared) code = SharedEvents::record(driver, stream, *command.event);
  command.event->record(driver.scheduler.mark(stream, nullptr));
  return code;
}

CUresult enqueue(Driver& driver, const std::shared_ptr<Stream>& stream, const WaitCommand& command) {
  if (command.event->is_captured()) return CUDA_ERROR_CAPTURED_EVENT;
  if (is_recorded_elsewhere(*command.event)) return driver.shared_events.wait(driver, stream, *command.event);
  // An event that was never recorded blocks nothing.
  const auto marker = command.event->recorded();
  if (marker && !marker->done()) driver.scheduler.mark(stream, marker);
  return CUDA_SUCCESS;
}

}  // namespace fairgv::cuda
