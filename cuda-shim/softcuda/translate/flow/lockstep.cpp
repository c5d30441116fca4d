#include "cuda-shim/softcuda/translate/flow/lockstep.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "cuda-shim/softcuda/translate/flow/flow.hpp"

namespace fairgv::softcuda {
namespace {

bool names_shared(const FlatInstruction& i) {
  return i.has("shared") || i.has("shared::cta");
}

bool counts_on_warp(const FlatInstruction& i) {
  return (i.name == "ld" || i.name == "st") && names_shared(i) && i.has("volatile");
}

// A generic address may lead to shared memory.
bool names_other_space(const FlatInstruction& i) {
  constexpr std::array<std::string_view, 4> kOthers = {"global", "local", "param", "const"};
  return std::any_of(kOthers.begin(), kOthers.end(), [&i](std::string_view space) { return i.has(space); });
}

}  // namespace

Lockstep::Accesses Lockstep::to_shared(const FlatInstruction& i) {
  const bool load = i.name == "ld" || i.name == "ldu";
  const bool store = i.name == "st";
  const bool generic = load || store || i.name == "atom" || i.name == "red" || i.name == "wmma";
  if (!names_shared(i) && (!generic || names_other_space(i))) return {};
  return {!store, !load};
}

bool Lockstep::stops_before(const FlatInstruction& next) {
  if (is_block_barrier(next) && next.guard < 0) open_ = {};
  const Accesses its = to_shared(next);
  const bool stop = counts_on_warp(next) && (open_.stores || (its.stores && open_.loads));
  if (stop) open_ = {};
  open_.loads = open_.loads || its.loads;
  open_.stores = open_.stores || its.stores;
  return stop;
}

}  // namespace fairgv::softcuda
