#include "runtime/daemon/sessions/recording.hpp"

namespace fairgv::daemon {

void start_recording(session::TurnPage& page, ring::SegmentHeader& header,
                     std::optional<std::uint32_t> device, std::uint32_t number) {
  for (std::uint32_t index = 0; index < session::kMaxDevices; ++index) {
    const bool wanted = !device || *device == index;
    page.devices[index].tracing.store(wanted ? number : 0, std::memory_order_relaxed);
  }
  header.recording.on.store(number, std::memory_order_relaxed);
}

void stop_recording(session::TurnPage& page, ring::SegmentHeader& header) {
  start_recording(page, header, std::nullopt, 0);
}

}  // namespace fairgv::daemon
