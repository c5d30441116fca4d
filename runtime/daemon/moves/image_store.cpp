#include "runtime/daemon/moves/image_store.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "runtime/base/files/sparse_copy.hpp"
#include "runtime/base/memory_size.hpp"
#include "runtime/session/own_files.hpp"

namespace fairgv::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kPartOfMachine = 4;

/// A file in the folder that has no name any more, for this process alone.
Result<UniqueFd> nameless_file(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder.parent_path(), code);
  FAIRGV_CHECK(session::ensure_own_directory(folder, 0700, "choose another parked_folder in [session]"));
  std::string name = folder / "image-XXXXXX";
  UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));  // mode 0600
  if (!file) return system_error("cannot make a file in " + folder.string());
  if (::unlink(name.c_str()) != 0) return system_error("cannot remove the name of " + name);
  return file;
}

/// Another opening of the same file, by which nobody can write to it.
Result<UniqueFd> for_reading(int file) {
  UniqueFd opened(::open(("/proc/self/fd/" + std::to_string(file)).c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened) return system_error("cannot open the file of an image again");
  return opened;
}

Result<UniqueFd> stored(int image, std::uint64_t bytes, const fs::path& folder,
                        const std::atomic<bool>& stop) {
  FAIRGV_TRY(file, nameless_file(folder));
  if (::ftruncate(file->get(), static_cast<off_t>(bytes)) != 0)
    return system_error("cannot make a file of " + readable_bytes(bytes) + " in " + folder.string());
  const auto copied = copy_sparse({image, 0}, {file->get(), 0}, bytes, stop);
  if (!copied)
    return Error{fmt::format("a file of {} in {}: cannot {}", readable_bytes(bytes), folder.string(),
                             copied.error().message)};
  return for_reading(file->get());
}

}  // namespace

std::uint64_t parked_memory_limit(const SessionRule& rule) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return rule.parked_memory.value_or(static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * page /
                                     kPartOfMachine);
}

Result<fs::path> parked_folder(const SessionRule& rule) {
  if (!rule.parked_folder.empty()) return fs::path(rule.parked_folder);
  if (::geteuid() == 0) return fs::path("/var/lib/fairgv/parked");
  if (const char* state = std::getenv("XDG_STATE_HOME"); state != nullptr && *state == '/')
    return fs::path(state) / "fairgv" / "parked";
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/')
    return fs::path(home) / ".local" / "state" / "fairgv" / "parked";
  return Error{"there is no folder for images: name one as parked_folder in [session]"};
}

Result<void> ImageStore::may_stay(int image) const {
  std::uint64_t taken = 0;
  for (const auto& [id, session] : sessions_.all()) {
    if (session->parked && !session->parked->how.to_file)
      taken += allocated_bytes(session->parked->image.get());
  }
  const std::uint64_t bytes = allocated_bytes(image);
  const std::uint64_t limit = parked_memory_limit(config_.session);
  if (taken <= limit && bytes <= limit - taken) return {};
  return Error{
      fmt::format("images of parked sessions may take {} of memory (parked_memory), {} are taken, and its "
                  "image has {}",
                  readable_bytes(limit), readable_bytes(taken), readable_bytes(bytes))};
}

Result<ImageStore::Id> ImageStore::store(int image, std::uint64_t bytes, Done done) {
  FAIRGV_TRY(folder, parked_folder(config_.session));
  const auto source = std::make_shared<UniqueFd>(::fcntl(image, F_DUPFD_CLOEXEC, 0));
  if (!*source) return system_error("cannot keep an image open");
  const auto file = std::make_shared<UniqueFd>();
  const auto work = [source, file, bytes,
                     where = std::move(folder).value()](const std::atomic<bool>& stop) -> Result<void> {
    FAIRGV_TRY(made, stored(source->get(), bytes, where, stop));
    *file = std::move(made).value();
    return {};
  };
  return work_.start(work, [file, tell = std::move(done)](const Result<void>& result) {
    if (!result) return tell(result.error());
    tell(std::move(*file));
  });
}

}  // namespace fairgv::daemon
