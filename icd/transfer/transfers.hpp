// Reads and writes under way: bulk data waits in the session's arena ("staging") until the device has taken
// it or the application may have it.
//
// A write's data is copied into staging when it is enqueued. A read's data reaches the application's memory
// before the application can learn, by whatever route, that the read has ended: every route calls settle()
// first. Any thread may call any method; none calls back into the application.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "icd/memory/host_region.hpp"
#include "icd/objects/object.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::session {
class ClientSession;
}

namespace fairgv::icd {

class Connection;
class Event;

/// A piece of the arena, given back when the last owner lets go.
class Staging {
 public:
  Staging(session::ClientSession& session, wire::ArenaRange range) : session_(session), range_(range) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::byte* data() const;
  wire::ArenaRange range() const { return range_; }
  wire::ArenaRange part(std::uint64_t offset, std::uint64_t bytes) const {
    return {range_.offset + offset, bytes};
  }

 private:
  session::ClientSession& session_;
  const wire::ArenaRange range_;
};

using StagingRef = std::shared_ptr<Staging>;

/// Part of a staging piece that holds the data of a write.
struct StagedSource {
  StagingRef staging;
  wire::ArenaRange range;
};

class Transfers {
 public:
  explicit Transfers(Connection& connection);
  ~Transfers();

  /// Staging for `bytes` bytes. Waits for earlier writes when much is under way and waiting cannot deadlock.
  /// Null when the arena is full.
  StagingRef allocate(std::uint64_t bytes);

  /// Keeps a write's staging until its command has ended.
  void keep_until_ended(Ref<Event> command, StagingRef staging);

  /// Fills `host` from `offset` of `staging` once the command has ended well.
  void deliver(Ref<Event> command, StagingRef staging, std::uint64_t offset, const HostRegion& host);

  /// Copies the data of ended reads to where the application wants it.
  void settle();

  /// Memory that a write is about to read may itself be the destination of a read under way; the write then
  /// means the read's data. Returns the read's staging if it holds all of the data, else waits until the
  /// memory is valid.
  std::optional<StagedSource> find_source(const HostRegion& host);

 private:
  struct Read {
    Ref<Event> command;
    StagingRef staging;
    std::uint64_t offset;
    HostRegion host;
  };
  struct Write {
    Ref<Event> command;
    StagingRef staging;
  };

  /// With more staging of writes under way than this, or than a part of the arena if that is smaller, the
  /// next write waits for the oldest.
  static constexpr std::uint64_t kPatienceBytes = std::uint64_t{256} << 20;
  static constexpr std::uint64_t kPatiencePart = 4;

  StagingRef try_allocate(std::uint64_t bytes);
  void reclaim();
  void wait_for_oldest_write();
  bool ended(const Ref<Event>& command) const;

  Connection& connection_;
  const std::uint64_t patience_;
  std::atomic<std::uint32_t> read_count_{0};  // size of reads_: settle() without reads costs one load

  std::mutex mutex_;  // guards the members below; held during copies, so that settle() returns after them
  std::vector<Read> reads_;  // in the order in which they were enqueued
  std::deque<Write> writes_;
  std::uint64_t write_bytes_ = 0;
};

}  // namespace fairgv::icd
