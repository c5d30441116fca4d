#include "sched/policies/timegraph/cost_predictor.hpp"

#include <algorithm>

namespace fairgv::sched {

CostPredictor::CostPredictor(std::size_t records, Duration impact)
    : most_(std::max<std::size_t>(records, 1)), impact_(impact) {}

CostPredictor::Prediction CostPredictor::predict(const CommandShape& shape, bool switched) {
  const Record* record = find(shape);
  const Duration cost = record != nullptr ? record->cost.value() : worst();
  const bool known = record != nullptr || !recent_.empty();
  const Duration impact = switched && known ? impact_ : Duration(0);
  return {std::max(cost + impact, Duration(0)), record != nullptr};
}

void CostPredictor::completed(const CommandShape& shape, const Prediction& prediction, Duration actual,
                              bool switched) {
  actual = std::max(actual, Duration(0));
  Record* record = prediction.hit ? find(shape) : nullptr;
  if (record == nullptr) {
    if (const auto old = records_.find(shape); old != records_.end()) {
      recent_.erase(old->second);  // made by another command of this shape in the meantime
      records_.erase(old);
    }
    if (records_.size() == most_) {
      records_.erase(recent_.back().shape);
      recent_.pop_back();
    }
    recent_.push_front({shape, {}});
    records_.emplace(shape, recent_.begin());
    recent_.front().cost.add(actual);
  } else if (switched) {
    impacts_.add(actual - record->cost.value());
    impact_ = impacts_.value();
  } else {
    record->cost.add(actual);
  }
}

/// The record becomes the most recently used one.
CostPredictor::Record* CostPredictor::find(const CommandShape& shape) {
  const auto found = records_.find(shape);
  if (found == records_.end()) return nullptr;
  recent_.splice(recent_.begin(), recent_, found->second);
  return &recent_.front();
}

Duration CostPredictor::worst() const {
  Duration most{0};
  for (const Record& record : recent_) most = std::max(most, record.cost.value());
  return most;
}

}  // namespace fairgv::sched
