#include "slicing/planner.hpp"

#include <algorithm>

namespace fairgv::slicing {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t divided_up(std::uint64_t value, std::uint64_t divisor) {
  return value / divisor + (value % divisor != 0 ? 1 : 0);
}

// How many work-groups of this pace fit the time.
std::uint64_t fitting(const Pace& pace, Duration time) {
  if (time <= Duration::zero()) return 0;
  const auto measured = static_cast<std::uint64_t>(std::max(pace.time, Duration(1)).count());
  const Wide blocks = Wide{static_cast<std::uint64_t>(time.count())} * pace.blocks / measured;
  return static_cast<std::uint64_t>(std::min(blocks, Wide{UINT64_MAX}));
}

bool says_something(const std::optional<Pace>& pace) {
  return pace && pace->blocks > 0;
}

}  // namespace

Planner::Planner(const Launch& launch, const PlannerSettings& settings, std::uint64_t done)
    : grid_(launch.groups()),
      unit_{1, grid_[0], grid_[0] * grid_[1]},
      total_(unit_[2] * grid_[2]),
      floor_(std::max<std::uint64_t>(settings.floor, 1)),
      longest_(settings.longest),
      static_grid_(settings.static_grid),
      position_{done % grid_[0], done / unit_[1] % grid_[1], done / unit_[2]},
      left_(total_ - done) {}

SubLaunch Planner::next(const std::optional<Pace>& pace, const Slice& slice) {
  const bool whole = left_ == total_ && stays_whole(pace, slice);
  const Box box =
      whole ? Box{.first = {0, 0, 0}, .groups = grid_} : cut(blocks_that_fit(pace, slice), floor_at(pace));
  advance(box);
  return {.box = box, .whole = box.groups == grid_};
}

bool Planner::stays_whole(const std::optional<Pace>& pace, const Slice& slice) const {
  if (static_grid_) return total_ <= *static_grid_;
  return says_something(pace) && total_ <= fitting(*pace, slice.length);
}

std::uint64_t Planner::blocks_that_fit(const std::optional<Pace>& pace, const Slice& slice) const {
  if (static_grid_ || !says_something(pace)) return 0;
  return fitting(*pace, slice.left);
}

std::uint64_t Planner::floor_at(const std::optional<Pace>& pace) const {
  if (static_grid_ || longest_ <= Duration::zero() || !says_something(pace)) return floor_;
  return std::clamp<std::uint64_t>(fitting(*pace, longest_), 1, floor_);
}

// Whether a step of this dimension can be cut into two pieces of at least the floor.
bool Planner::can_be_cut(std::size_t dimension, std::uint64_t floor) const {
  if (dimension == 0) return false;
  const std::size_t inner = dimension - 1;
  return grid_[inner] / divided_up(floor, unit_[inner]) >= 2 || can_be_cut(inner, floor);
}

Box Planner::cut(std::uint64_t fitting, std::uint64_t floor) const {
  // A row or a plane that was begun is finished first.
  std::size_t dimension = position_[0] != 0 ? 0 : position_[1] != 0 ? 1 : 2;
  while (unit_[dimension] > fitting && can_be_cut(dimension, floor)) --dimension;

  const std::uint64_t unit = unit_[dimension];
  const std::uint64_t steps = grid_[dimension] - position_[dimension];
  const std::uint64_t fewest = divided_up(floor, unit);
  const std::uint64_t most = std::max(fitting / unit, fewest);
  const std::uint64_t most_pieces = std::max<std::uint64_t>(steps / fewest, 1);
  const std::uint64_t pieces = std::min(divided_up(steps, most), most_pieces);

  Box box{.first = position_, .groups = {1, 1, 1}};
  for (std::size_t inner = 0; inner < dimension; ++inner) box.groups[inner] = grid_[inner];
  box.groups[dimension] = divided_up(steps, pieces);
  return box;
}

void Planner::advance(const Box& box) {
  for (std::size_t d = 0; d < kMaxDimensions; ++d) {
    position_[d] += box.groups[d];
    if (position_[d] < grid_[d]) break;
    position_[d] = 0;
  }
  left_ -= *volume(box.groups);
}

}  // namespace fairgv::slicing
