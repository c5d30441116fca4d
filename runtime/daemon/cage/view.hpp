// A worker's view of the file system: the plan, made by the daemon before it starts a worker.
//
// A worker runs code that came from a program, and a program in a container sees far less of this machine
// than its user id could reach. So a worker gets the files that drivers need and its cache, and none of its
// user's files: the program's own process reads and sends the files that a program includes (docs/OPENCL.md,
// Headers).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "runtime/base/result.hpp"

namespace fairgv::daemon {

/// By which means a view can be made here.
enum class ViewMeans {
  mounts,    // a file system of its own; the daemon may mount
  landlock,  // the system's, but only allowed paths can be opened (Linux 5.13)
  nothing
};
ViewMeans view_means();

struct Place {
  enum class Kind {
    link,       // a symbolic link, as the system has it: /bin
    read_only,  // programs can be run from it
    device,     // a device file or a folder of them
    writable,
    temporary,  // empty, in memory, gone with the worker; only where the means are mounts
    processes,  // a /proc that shows the worker's own processes; only where it has numbers of its own
  };
  Kind kind;
  std::string path;    // absolute
  std::string target;  // of a link
  bool folder = true;  // else a file
};

/// In the order in which they have to be made: a place inside another comes after it.
using WorkerView = std::vector<Place>;

inline constexpr std::size_t kMostPlaces = 256;

struct ViewWishes {
  std::filesystem::path worker_program;
  std::filesystem::path worker_vendors;       // the worker's OCL_ICD_VENDORS
  std::filesystem::path system_vendors;       // where its links lead
  std::vector<std::string> drivers;           // libraries that the vendor files name
  std::vector<std::string> readable;          // of the configuration
  std::vector<std::filesystem::path> caches;  // writable
  bool own_processes = false;                 // has the worker a /proc of its own
};

/// Leaves out places that this machine does not have.
WorkerView plan_view(const ViewWishes& wishes);

/// A folder for the caches of a user's drivers that only workers use: no program outside of a worker loads a
/// file that a kernel leaves there. Made if need be: inside `base`, or for an empty one in /var/cache/fairgv
/// (root's daemon) or the user's own cache folder.
Result<std::filesystem::path> worker_cache(const std::filesystem::path& base, uid_t uid, gid_t gid);

}  // namespace fairgv::daemon
