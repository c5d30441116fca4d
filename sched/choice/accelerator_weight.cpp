#include "sched/choice/accelerator_weight.hpp"

#include <algorithm>

#include "sched/promises/promises.hpp"

namespace fairgv::sched {
namespace {

std::uint64_t units(std::uint64_t ppm) {
  return FineShare::of_ppm(ppm).units;
}

std::uint64_t less(std::uint64_t from, std::uint64_t by) {
  return from - std::min(from, by);
}

/// g + (1 - gone - g) * w / (others + w)
std::uint64_t by_weight(std::uint64_t guarantee, std::uint64_t gone, std::uint64_t weight,
                        std::uint64_t others) {
  return guarantee + less(FineShare::kWhole, gone + guarantee) * weight / (others + weight);
}

}  // namespace

std::uint64_t batch_floor_ppm(bool any_batch_tenant) {
  return any_batch_tenant ? Promises::kBatchFloor.share().ppm : 0;
}

ExpectedShare expected_share(const DeviceLoad& others, const TenantAttributes& attributes) {
  const std::uint64_t guarantee = units(attributes.min.share().ppm);
  const std::uint64_t ceiling = units(attributes.max.ppm);
  const bool batch = attributes.service == ServiceClass::batch;
  const std::uint64_t floor = units(batch_floor_ppm(batch || others.batch_weight > 0));
  const std::uint64_t weight = attributes.weight;
  std::uint64_t entitled = 0;
  std::uint64_t left = 0;
  if (batch) {
    entitled = guarantee + floor * weight / (others.batch_weight + weight);
    left = entitled;
    if (others.hungry_weight == 0) {
      left = by_weight(guarantee, units(others.kept_ppm), weight, others.batch_weight);
    }
  } else {
    entitled = by_weight(guarantee, units(others.promised_ppm) + floor, weight, others.weight);
    left = by_weight(guarantee, units(others.kept_ppm) + floor, weight, others.hungry_weight);
  }
  entitled = std::min(entitled, ceiling);
  return {{entitled}, {std::min(ceiling, std::max(entitled, left))}};
}

}  // namespace fairgv::sched
