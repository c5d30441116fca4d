#include "runtime/vgpu/residency/residencies.hpp"

namespace fairgv::vgpu {

Residencies::Residencies(std::span<session::DeviceResidency> pages, const std::function<void()>& knock,
                         bool is_silent)
    : others_(pages.size()) {
  for (session::DeviceResidency& page : pages) {
    owned_.push_back(std::make_unique<Residency>(
        Residency::Settings{page, knock, [wake = wake_] { (*wake)(); }, is_silent}));
    by_device_.push_back(owned_.back().get());
  }
}

Residency* Residencies::of(std::size_t device) const {
  Residency* const found = device < by_device_.size() ? by_device_[device] : nullptr;
  if (found == nullptr || !found->is_lent()) return nullptr;
  found->turn_on();
  return found;
}

void Residencies::change_other(std::uint64_t devices, std::uint64_t bytes, bool more) {
  for (std::size_t device = 0; device < by_device_.size(); ++device) {
    if ((devices >> device & 1) == 0) continue;
    others_[device] = more ? others_[device] + bytes : others_[device] - bytes;
    if (Residency* const lender = of(device)) lender->set_others(others_[device]);
  }
}

}  // namespace fairgv::vgpu
