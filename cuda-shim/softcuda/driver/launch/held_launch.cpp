#include "cuda-shim/softcuda/driver/launch/held_launch.hpp"

#include <utility>

#include "cuda-shim/api/of_thread.hpp"

namespace fairgv::cuda::soft {
namespace {

std::shared_ptr<HeldLaunch>& next_launch() {
  return of_thread<std::shared_ptr<HeldLaunch>>();
}

}  // namespace

void HeldLaunch::hold_next(std::shared_ptr<HeldLaunch> launch) {
  next_launch() = std::move(launch);
}

std::shared_ptr<HeldLaunch> HeldLaunch::take_next() {
  auto& next = next_launch();
  if (!next) return nullptr;
  HeldLaunch* const launch = next.get();
  return {launch, [owner = std::exchange(next, nullptr)](HeldLaunch*) { owner->tell(); }};
}

cl_event HeldLaunch::start(cl_context context) {
  cl_int error = CL_SUCCESS;
  return gate_.start(context, error);
}

void HeldLaunch::stop(cl_event launch) {
  gate_.close(launch, [this] { tell(); });
}

void HeldLaunch::let_go() {
  if (const auto operation = operation_.lock()) operation->let_go();
  gate_.open();
}

void HeldLaunch::tell() {
  if (!told_.exchange(true, std::memory_order_relaxed)) reached_(data_);
}

}  // namespace fairgv::cuda::soft
