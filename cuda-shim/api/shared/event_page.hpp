// The state of an event that processes share: a page of memory, in which every process may record.
//
// Records are numbered. The page has the latest record's number and recorder, and a word for each of the last
// records, which says the number of a record that has ended. Waiters sleep on the word (futex).
//
// A process that has the page has locked a byte of its file: the kernel lets the lock go when the process
// dies, however it does, and its records then count as ended. The page's contents are whatever any of the
// processes writes: a wrong number makes somebody wait, or not wait, and nothing else.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"

namespace fairgv::cuda {

/// A record of an event, by whichever process.
struct RecordName {
  std::uint64_t number = 0;  // 0: none
  std::uint16_t recorder = 0;
};

/// Any thread may call.
class EventPage {
 public:
  static Result<std::shared_ptr<EventPage>> make();
  /// Of another process' page.
  static Result<std::shared_ptr<EventPage>> open(UniqueFd file);

  /// A copy for other processes.
  Result<UniqueFd> file() const;

  /// Begins a record of this process, which is the latest one now.
  RecordName begin_record();
  void end_record(const RecordName& record);
  RecordName latest() const;
  bool is_own(const RecordName& record) const { return record.recorder == own_; }
  /// Also if its recorder has died.
  bool has_ended(const RecordName& record) const;
  /// Waits until it has ended, or for a short while. Returns whether it has ended.
  bool wait_a_while(const RecordName& record) const;

 private:
  struct Contents;
  EventPage(UniqueFd file, Mapping page, std::uint16_t own);
  static Result<std::shared_ptr<EventPage>> enter(UniqueFd file);
  Contents& contents() const;
  bool lives(std::uint16_t process) const;

  const UniqueFd file_;  // an opening of this process' own: its locks are its own
  const Mapping page_;
  const std::uint16_t own_;
};

}  // namespace fairgv::cuda
