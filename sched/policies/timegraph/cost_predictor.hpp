// Predicts how long a command will keep the device busy, from the commands of the same shape before it
// (TimeGraph, section 5.3). Apriori enforcement of a reserve needs it.
//
// A record holds the average cost of one shape. A command that hits a record is predicted to cost its
// average, any other as much as the most expensive record. When it has ended, a hit updates the average, and
// a miss makes a record. The least recently used record goes when there are too many.
//
// Preemption impact: the same command takes longer after another context has had the device, for caches are
// cold. Such a command leaves the average as it is. Its difference from the average goes into a running mean,
// which is added to predictions after a switch.
//
// Chosen here:
// - A shape is a kind and a size. The paper compares the methods and data sizes of all commands of a group;
//   the caller maps its commands to two numbers.
// - An average is over all commands of the shape, equally.
// - The impact begins with the cost that the caller has measured beforehand; the first difference replaces
//   it.
// - A miss after a switch makes a record all the same: there is no average to compare it with.
//
// Pure logic, not thread-safe: one owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "sched/types.hpp"

namespace fairgv::sched {

struct CommandShape {
  std::uint64_t kind = 0;
  std::uint64_t size = 0;

  friend bool operator==(const CommandShape&, const CommandShape&) = default;
};

class CostPredictor {
 public:
  /// As in the paper's evaluation (section 6).
  static constexpr std::size_t kDefaultRecords = 100;

  struct Prediction {
    Duration cost{0};  // 0: nothing has been recorded yet
    bool hit = false;  // a record has this shape
  };

  /// records: the most that are kept, at least one. impact: of a switch, as measured beforehand.
  explicit CostPredictor(std::size_t records = kDefaultRecords, Duration impact = Duration(0));

  /// switched: another context has had the device since this one.
  Prediction predict(const CommandShape& shape, bool switched);

  /// The command that was predicted so has kept the device busy for `actual`. A negative time counts as zero.
  void completed(const CommandShape& shape, const Prediction& prediction, Duration actual, bool switched);

  std::size_t size() const { return records_.size(); }
  Duration preemption_impact() const { return impact_; }

 private:
  struct Mean {
    Duration sum{0};
    Duration::rep count = 0;

    void add(Duration sample) {
      sum += sample;
      ++count;
    }
    Duration value() const { return sum / count; }
  };
  struct Record {
    CommandShape shape;
    Mean cost;
  };
  struct Hash {
    std::size_t operator()(const CommandShape& shape) const noexcept {
      return std::hash<std::uint64_t>()(shape.kind * 0x9e3779b97f4a7c15 ^ shape.size);
    }
  };

  Record* find(const CommandShape& shape);
  Duration worst() const;

  const std::size_t most_;
  std::list<Record> recent_;  // the most recently used first
  std::unordered_map<CommandShape, std::list<Record>::iterator, Hash> records_;
  Mean impacts_;
  Duration impact_;
};

}  // namespace fairgv::sched
