#include "runtime/vgpu/issue/device_issuer.hpp"

#include <algorithm>
#include <utility>

#include "runtime/vgpu/issue/tracer.hpp"

namespace fairgv::vgpu {

using session::TurnWait;

namespace {

/// A turn that is kept no longer than this for the program's next command is not worth a sleep.
constexpr std::chrono::microseconds kWorthSpinning{100};

/// CL_MEM_OBJECT_ALLOCATION_FAILURE: no other driver's commands name blocks.
constexpr std::int32_t kMemoryNeverFits = -4;

}  // namespace

DeviceIssuer::DeviceIssuer(session::DeviceTurn& turn, const IssueShared& shared, wire::DeviceIndex index)
    : shared_(shared),
      index_(index),
      turn_({turn, shared.settings.promises.empty() ? nullptr : &shared.settings.promises[index]},
            shared.settings.turn, [this] { knock_again_ = !shared_.settings.knock(index_); }),
      slicer_(shared.settings.slicing),
      residency_(shared.settings.residencies.empty() ? nullptr : shared.settings.residencies[index]) {
  if (residency_ != nullptr) turn_.keep_turns([this] { return residency_->keep(); });
}

void DeviceIssuer::knock_again() {
  if (std::exchange(knock_again_, false)) knock_again_ = !shared_.settings.knock(index_);
}

// ---- the next command

Next DeviceIssuer::next() {
  slicer_.forget_to_prepare();  // it may be among those that go now
  compile_next_ = false;
  if (compiling_) return std::nullopt;
  if ((rests_ || has_failed_) && compiled_ == nullptr) return std::nullopt;
  // A command may have been doomed by an error since it became ready; the graph ends it.
  while (!ready_.empty() && !ready_.front()->ready()) {
    shared_.dropped.push_back(std::move(ready_.front()));
    ready_.pop_front();
  }
  if (ready_.empty()) return std::nullopt;
  DeviceCommand& first = *ready_.front();
  if (compiled_ == &first) return Offer(first.kind(), first.cut);
  switch (slicer_.way(first, turn_, shared_.settings.turn.slice)) {
    case Slicer::Way::whole:
      return offer(first, false);
    case Slicer::Way::part:
      return offer(first, true);
    case Slicer::Way::not_yet:
      break;
  }
  return std::nullopt;
}

Next DeviceIssuer::offer(DeviceCommand& first, bool in_parts) {
  const bool may_run = in_parts || first.begun == 0;
  // A launch that waits in the driver for its turn would keep its memory on the device meanwhile.
  if (may_run && !lends() && first.compiles_late(in_parts)) {
    compile_next_ = turn_.in_flight() == 0;
    compile_in_parts_ = in_parts;
    return std::nullopt;
  }
  Offer offer(first.kind());
  if (in_parts) offer = Offer(first.kind(), true, slicer_.ahead_from(shared_.settings.turn.slice));
  if (lends()) look_at_memory(offer, first);
  return offer;
}

void DeviceIssuer::rest(Rest rest) {
  if (rest == Rest::device_fails || rest == Rest::device_is_used) {
    has_failed_ = rest == Rest::device_fails;
    return;
  }
  rests_ = rest == Rest::begins;
  if (rest != Rest::is_taken_over) return;
  turn_.take_over();
  if (residency_ != nullptr) residency_->take_over();
}

// ---- memory that is lent

void DeviceIssuer::look_at_memory(Offer& offer, DeviceCommand& first) {
  const Residency::Fit fit = residency_->fit(first);
  offer.lacks_memory = fit == Residency::Fit::to_come;
  if (fit == Residency::Fit::never) first.memory_error = kMemoryNeverFits;
}

Permit DeviceIssuer::may_issue_with_memory(const Next& next, TimePoint now) {
  residency_->look();
  if (next && next->lacks_memory) residency_->plan(ready_);
  const bool was_busy = turn_.is_busy();
  const Permit permit = turn_.may_issue(next, now);
  if (!was_busy && turn_.is_busy()) residency_->turn_begins();
  return permit;
}

bool DeviceIssuer::has_memory(DeviceCommand& first) {
  return !lends() || first.memory_error != 0 || residency_->use(first);
}

/// While nothing is in the driver's hands, objects may go. The plan is made before the turn is given back.
void DeviceIssuer::tell_memory() {
  if (!lends() || turn_.in_flight() != 0) return;
  residency_->plan(ready_);
  residency_->rests();
}

TurnWait DeviceIssuer::why_nothing_is_next() const {
  if (compiling_ || prepares()) return TurnWait::compiler;
  const bool program = shared_.graph.pending() != 0 && !busy();
  return program ? TurnWait::program : TurnWait::nothing;
}

std::shared_ptr<DeviceCommand> DeviceIssuer::begin_compiling() {
  if (!std::exchange(compile_next_, false)) return nullptr;
  const std::shared_ptr<DeviceCommand> command = ready_.front();
  command->cut = compile_in_parts_;
  if (command->cut) {
    if (command->begun == 0) shared_.events.progressed(*command, kSubmitted);
    slicer_.begin_part(*command, shared_.settings.now());
  } else {
    ready_.pop_front();
  }
  compiling_ = command;
  shared_.in_flight.fetch_add(1, kHint);
  return command;
}

/// DeviceCommand::issue() is going to say why.
void DeviceIssuer::compile_refused(const std::shared_ptr<DeviceCommand>& command) {
  compiling_.reset();
  shared_.in_flight.fetch_sub(1, kHint);
  if (!command->cut) return ready_.push_front(command);
  slicer_.finish();
  command->cut = false;
  command->sliceable()->give_up();
}

void DeviceIssuer::compiled(DeviceCommand& command) {
  shared_.in_flight.fetch_sub(1, kHint);
  compiled_ = &command;
  first_waits_ = TurnWait::compiler;
  if (!command.cut) ready_.push_front(compiling_);
  compiling_.reset();
}

// ---- issuing

void DeviceIssuer::pick(Batch& batch, std::uint64_t allowed, std::uint32_t cpu, TimePoint now) {
  while (batch.size() < std::min<std::uint64_t>(allowed, kMostInBatch)) {
    const Next next = this->next();
    if (!next || next->lacks_memory || !turn_.admits(*next)) break;
    if (next->part && !batch.empty()) break;
    if (!has_memory(*ready_.front())) break;
    if (next->part) {
      pick_part(batch, *next, cpu, now);
      break;
    }
    std::shared_ptr<DeviceCommand> command = std::move(ready_.front());
    ready_.pop_front();
    if (compiled_ == command.get()) compiled_ = nullptr;
    command->issued_at = now;
    command->waited_for = std::exchange(first_waits_, TurnWait::nothing);
    turn_.issued(*next, cpu, now);
    shared_.events.progressed(*command, kSubmitted);
    shared_.graph.issued(*command);
    shared_.ready.collect_ready();
    batch.push_back(std::move(command));
  }
  shared_.in_flight.fetch_add(batch.size(), kHint);
  choose_observed(batch);
}

/// The command stays where it is until its last part has ended.
void DeviceIssuer::pick_part(Batch& batch, const Offer& offer, std::uint32_t cpu, TimePoint now) {
  const std::shared_ptr<DeviceCommand>& command = ready_.front();
  if (compiled_ == command.get()) {
    compiled_ = nullptr;
    slicer_.run_part_from(now);
  } else {
    const bool begins = !slicer_.is_under_way(*command) && command->begun == 0;
    if (begins) shared_.events.progressed(*command, kSubmitted);
    slicer_.begin_part(*command, now);
  }
  command->cut = true;
  command->waited_for = std::exchange(first_waits_, TurnWait::nothing);
  turn_.issued(offer, cpu, now);
  batch.push_back(command);
}

void DeviceIssuer::choose_observed(const Batch& batch) const {
  const std::uint64_t every = turn_.observe_every();
  std::array<const Lane*, kMostInBatch> lanes{};  // their last command of the batch has been seen
  std::size_t lane_count = 0;
  for (std::size_t i = batch.size(); i-- > 0;) {
    DeviceCommand& command = *batch[i];
    const auto seen = std::span(lanes).first(lane_count);
    const bool last_of_lane = std::find(seen.begin(), seen.end(), command.lane()) == seen.end();
    if (last_of_lane) lanes.at(lane_count++) = command.lane();
    command.observed = command.event || !command.lane()->in_order() || last_of_lane || i % every == 0;
  }
}

void DeviceIssuer::rest(const Next& next, TimePoint now) {
  ahead_from_ = next && !next->part ? turn_.next_from() : next ? next->ahead_from : std::nullopt;
  turn_.settle(next, now);
}

// ---- ends

/// The launch counts as issued and ended with its last part, or when one has failed.
bool DeviceIssuer::ended_part(DeviceCommand& command, std::int32_t status, TimePoint now) {
  if (!slicer_.is_under_way(command)) return false;
  turn_.meter().count(1, 0);
  if (Tracer* const tracer = shared_.settings.tracer; tracer != nullptr) {
    tracer->part_ended(command, slicer_.oldest_part(), now);
  }
  const auto ended_with = slicer_.end_part(status, now);
  command.begun = slicer_.blocks_begun();
  if (!ended_with) {
    shared_.in_flight.fetch_sub(1, kHint);
    turn_.completed(1, 0, now);
    tell_memory();
    turn_.settle(next(), now);
    return true;
  }
  const Duration used = slicer_.finish();
  if (*ended_with >= 0) turn_.meter().history().sampled(command.kind(), used);
  const std::shared_ptr<DeviceCommand> ended = std::move(ready_.front());
  ready_.pop_front();
  shared_.graph.issued(*ended);
  shared_.graph.completed(*ended, *ended_with);
  return true;
}

bool DeviceIssuer::refused_part(DeviceCommand& command, TimePoint now) {
  if (!slicer_.is_under_way(command)) return false;
  const std::int32_t error = std::exchange(command.issue_error, 0);
  if (!slicer_.runs_whole_after_refusal()) return ended_part(command, error, now);
  slicer_.finish();
  command.cut = false;
  command.sliceable()->give_up();
  shared_.in_flight.fetch_sub(1, kHint);
  turn_.completed(1, 0, now);
  return true;
}

void DeviceIssuer::note_end(DeviceCommand& command, const CommandTimes* times, TimePoint now) {
  if (command.is_launch()) {
    if (!command.cut) turn_.meter().ran_whole(command.kind(), now - command.issued_at);
  } else if (const std::uint64_t bytes = command.bytes(); bytes > 0) {
    turn_.meter().count(0, bytes);
  }
  if (times != nullptr && !command.cut) turn_.ran(times->started, times->ended);
  tell_if_held_long(command, now);
}

void DeviceIssuer::completed(std::uint64_t commands, std::uint64_t launches, TimePoint now) {
  shared_.in_flight.fetch_sub(commands, kHint);
  turn_.completed(commands, launches, now);
  tell_memory();
  turn_.settle(next(), now);
}

void DeviceIssuer::tell_if_held_long(DeviceCommand& command, TimePoint now) {
  if (command.cut || !shared_.settings.held_long) return;
  const auto held = turn_.overrun_by_one(now);
  if (!held) return;
  const std::string_view why = slicer_.why_whole(command);
  if (!why.empty()) shared_.settings.held_long(command, why, *held, now);
}

// ---- for the loop

bool DeviceIssuer::wants_loop() {
  const Next next = this->next();
  const bool issue = next ? turn_.worth_issuing(*next) : prepares();
  return issue || turn_.lingers_until();
}

DeviceIssuer::Deadline DeviceIssuer::deadline(TimePoint now) const {
  Deadline first;
  if (knock_again_) first.at = now + kRetry;
  // However long that is: a sleeper would be woken only by the grant, and come late.
  if (const auto until = turn_.due_until(); until > now && *until < first.at) first = {*until, true};
  // Only a time that is still to come: a part whose time has passed was held back for another reason.
  if (ahead_from_ > now) first.at = std::min(first.at, *ahead_from_);
  if (const auto until = turn_.lingers_until(); until && *until < first.at) {
    first = {*until, *until - now <= kWorthSpinning};
  }
  return first;
}

}  // namespace fairgv::vgpu
