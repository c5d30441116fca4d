// The images of parked sessions: in memory as far as the configuration allows, else in files.
//
// A file has no name, and so nobody else can open it, and nothing is left of it when the session goes on or
// ends, whatever becomes of the daemon.
//
// Used by the server's thread only. The constructor's arguments outlive it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/daemon/config/config.hpp"
#include "runtime/daemon/service/disk_work.hpp"
#include "runtime/daemon/service/event_loop.hpp"
#include "runtime/daemon/sessions/sessions.hpp"

namespace fairgv::daemon {

/// The bytes of memory that all images of parked sessions may take together.
std::uint64_t parked_memory_limit(const SessionRule& rule);
/// The folder for images in files, which may be missing; an Error if there is no place for one.
Result<std::filesystem::path> parked_folder(const SessionRule& rule);

class ImageStore {
 public:
  using Id = DiskWork::Id;
  /// The file, for reading; an Error, as one line.
  using Done = std::function<void(Result<UniqueFd>)>;

  ImageStore(const Config& config, EventLoop& events, const Sessions& sessions)
      : config_(config), sessions_(sessions), work_(events) {}

  /// Why the image cannot stay in memory beside those that are there.
  Result<void> may_stay(int image) const;
  /// Copies so many bytes of the image to a file; calls `done` later, or returns an Error at once. The image
  /// stays the caller's, and stays open.
  Result<Id> store(int image, std::uint64_t bytes, Done done);
  /// Nobody wants the file any more.
  void forget(Id id) { work_.forget(id); }

 private:
  const Config& config_;
  const Sessions& sessions_;
  DiskWork work_;
};

}  // namespace fairgv::daemon
