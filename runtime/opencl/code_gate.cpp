#include "runtime/opencl/code_gate.hpp"

#include <utility>

namespace fairgv::opencl {
namespace {

/// A command that has begun, although its callback has not returned, would be over by then.
constexpr std::chrono::milliseconds kLongerThanARead{1};
constexpr std::uint32_t kUnread = 0xfa1f6b, kInTheBuffer = 0x600d;

struct Trial {
  std::uint32_t read = kUnread;
  bool held = false;
};

void CL_CALLBACK try_to_hold(cl_event, cl_int, void* of) {
  auto& trial = *static_cast<Trial*>(of);
  std::this_thread::sleep_for(kLongerThanARead);
  trial.held = trial.read == kUnread;
}

// Deprecated, and the one function that every driver has: an OpenCL 1.x driver called with
// clCreateCommandQueueWithProperties need not return.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
QueueHandle plain_queue(cl_context context, cl_device_id device, cl_int& error) {
  return QueueHandle(clCreateCommandQueue(context, device, 0, &error));
}
#pragma GCC diagnostic pop

}  // namespace

bool gate_holds(cl_context context, cl_device_id device) {
  cl_device_type type = 0;
  clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof(type), &type, nullptr);
  if ((type & CL_DEVICE_TYPE_CPU) == 0) return false;
  cl_int error = CL_SUCCESS;
  const QueueHandle queue = plain_queue(context, device, error);
  if (error != CL_SUCCESS) return false;
  std::uint32_t content = kInTheBuffer;
  const MemoryHandle buffer(clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof(content), &content, &error));
  if (error != CL_SUCCESS) return false;
  const EventHandle start(clCreateUserEvent(context, &error));
  if (error != CL_SUCCESS) return false;
  Trial trial;
  EventHandle read;
  const cl_event wait = start.get();
  error = clEnqueueReadBuffer(queue.get(), buffer.get(), CL_FALSE, 0, sizeof(trial.read), &trial.read, 1,
                              &wait, read.receive());
  if (error != CL_SUCCESS) return false;
  const bool taken = clSetEventCallback(read.get(), CL_RUNNING, try_to_hold, &trial) == CL_SUCCESS;
  clSetUserEventStatus(start.get(), CL_COMPLETE);
  const bool ended = clFinish(queue.get()) == CL_SUCCESS;
  return taken && ended && trial.held && trial.read == kInTheBuffer;
}

cl_event CodeGate::start(cl_context context, cl_int& error) {
  start_ = EventHandle(clCreateUserEvent(context, &error));
  return start_.get();
}

bool CodeGate::close(cl_event event, std::function<void()> reached) {
  reached_ = std::move(reached);
  missed_with_.reset();
  held_ = {};
  state_.store(State::closed, std::memory_order_release);
  return clSetEventCallback(event, CL_RUNNING, &CodeGate::arrive, this) == CL_SUCCESS;
}

void CodeGate::begin(cl_command_queue queue) {
  beginning_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  clSetUserEventStatus(start_.get(), CL_COMPLETE);
  start_.reset();
  clFlush(queue);
  // This may be a thread of the driver's, which is going to run the command afterwards.
  beginning_.store({}, std::memory_order_relaxed);
}

void CodeGate::cancel() {
  state_.store(State::open, std::memory_order_release);
  if (start_) clSetUserEventStatus(start_.get(), CL_INVALID_OPERATION);
  start_.reset();
}

void CL_CALLBACK CodeGate::arrive(cl_event, cl_int status, void* gate) {
  auto& self = *static_cast<CodeGate*>(gate);
  // A driver that runs commands on the thread that sends them would wait for itself.
  if (status != CL_RUNNING || std::this_thread::get_id() == self.beginning_.load(std::memory_order_relaxed))
    return;
  State closed = State::closed;
  if (!self.state_.compare_exchange_strong(closed, State::reached, std::memory_order_acq_rel)) return;
  const auto from = std::chrono::steady_clock::now();
  self.reached_();
  self.state_.wait(State::reached, std::memory_order_acquire);
  self.held_ = std::chrono::steady_clock::now() - from;
}

void CodeGate::open() {
  State reached = State::reached;
  if (state_.compare_exchange_strong(reached, State::open, std::memory_order_acq_rel)) state_.notify_one();
}

bool CodeGate::ended(cl_int status) {
  State closed = State::closed;
  if (!state_.compare_exchange_strong(closed, State::missed, std::memory_order_acq_rel)) return false;
  missed_with_ = status;  // seen by the thread that the next line tells
  reached_();
  return true;
}

}  // namespace fairgv::opencl
