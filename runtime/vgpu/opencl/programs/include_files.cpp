#include "runtime/vgpu/opencl/programs/include_files.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <mutex>
#include <system_error>

#include "runtime/wire/insertion.hpp"

namespace fairgv::vgpu::opencl {
namespace {

namespace fs = std::filesystem;
using Kind = wire::IncludePlace::Kind;

constexpr std::string_view kFolderName = "fairgv-build-";
constexpr std::string_view kRootName = "fairgv-headers-";
constexpr std::size_t kHashDigits = 16;

// More than a front end sends (icd/includes/collector.hpp).
constexpr std::size_t kMostPlaces = 100'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{256} << 20;

/// Absolute and without empty names, "." and "..": then it leads nowhere but into the copy.
bool is_plain_path(std::string_view path) {
  if (path == "/") return true;
  if (path.empty() || path.size() >= PATH_MAX || path.find('\0') != std::string_view::npos) return false;
  while (!path.empty()) {
    if (path.front() != '/') return false;
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    if (name.empty() || name == "." || name == "..") return false;
    path.remove_prefix(name.size());
  }
  return true;
}

std::size_t depth_of(std::string_view plain_path) {
  return plain_path == "/" ? 0
                           : static_cast<std::size_t>(std::count(plain_path.begin(), plain_path.end(), '/'));
}

std::string upwards(std::size_t folders) {
  std::string path;
  for (; folders > 0; --folders) path += "../";
  return path;
}

/// FNV-1a: it only has to tell apart the includes of one user's programs.
class Hash {
 public:
  void add(std::string_view bytes) {
    add(bytes.size());
    for (const char c : bytes) mix(static_cast<unsigned char>(c));
  }
  void add(std::uint64_t number) {
    for (int shift = 0; shift < 64; shift += 8) mix(number >> shift & 0xFF);
  }
  std::uint64_t value() const { return value_; }

 private:
  void mix(std::uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  std::uint64_t value_ = 0xcbf29ce484222325;
};

std::error_code last_error() {
  return {errno, std::generic_category()};
}

std::error_code write_file(const fs::path& path, std::string_view text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return last_error();
  while (!text.empty()) {
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) return last_error();
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

/// Removes folders of builds whose worker was killed. A folder in use is locked, but for the moment after it
/// was made.
void remove_leftovers(const fs::path& temporary) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(temporary, ignored)) {
    if (!entry.path().filename().string().starts_with(kFolderName)) continue;
    const UniqueFd folder(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (folder && ::fstat(folder.get(), &status) == 0 && status.st_uid == ::geteuid() &&
        ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

/// Makes a folder and locks it. Another worker may take it for a leftover before it is locked, so it is tried
/// again.
int make_locked_folder(const fs::path& temporary, std::string& folder, UniqueFd& lock) {
  constexpr int kMostTries = 100;
  for (int tries = 0; tries < kMostTries; ++tries) {
    std::string name = temporary / (std::string(kFolderName) + "XXXXXX");
    if (::mkdtemp(name.data()) == nullptr) return errno;
    UniqueFd made(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat locked {};
    struct stat there {};
    if (made && ::flock(made.get(), LOCK_EX | LOCK_NB) == 0 && ::fstat(made.get(), &locked) == 0 &&
        ::stat(name.c_str(), &there) == 0 && there.st_ino == locked.st_ino) {
      folder = std::move(name);
      lock = std::move(made);
      return 0;
    }
  }
  return EBUSY;
}

}  // namespace

Result<void> IncludeFiles::add(const wire::ProvideIncludes& message) {
  for (const wire::IncludePlace& place : message.places) {
    if (place.kind > Kind::link || place.path == "/" || !is_plain_path(place.path) ||
        (place.kind == Kind::link && !is_plain_path(place.contents))) {
      return Error{"an include at a place that is none"};
    }
    bytes_ += place.path.size() + place.contents.size();
    places_.push_back({place.kind, std::string(place.path), std::string(place.contents)});
    if (places_.size() > kMostPlaces || bytes_ > kMostBytes) {
      return Error{
          fmt::format("more than {} includes, or more than {} MiB of them", kMostPlaces, kMostBytes >> 20)};
    }
  }
  absolute_options_.assign(message.absolute_options.begin(), message.absolute_options.end());
  names_root_ = names_root_ || message.names_root != 0;
  return {};
}

Result<void> IncludeFiles::complete(std::string_view directory, std::string_view options) {
  if (!is_plain_path(directory)) return Error{"a working folder that is none"};
  if (!std::is_sorted(absolute_options_.begin(), absolute_options_.end()) ||
      (!absolute_options_.empty() && absolute_options_.back() >= options.size())) {
    return Error{"paths that are not in the options"};
  }
  directory_ = directory;
  root_name_ = kRootName;
  root_name_ += hash();
  return {};
}

std::vector<std::string_view> IncludeFiles::texts() const {
  std::vector<std::string_view> texts;
  for (const Place& place : places_) {
    if (place.kind == Kind::file) texts.emplace_back(place.contents);
  }
  return texts;
}

std::string IncludeFiles::hash() const {
  Hash hash;
  for (const Place& place : places_) {
    hash.add(place.kind);
    hash.add(place.path);
    hash.add(place.contents);
  }
  return fmt::format("{:016x}", hash.value());
}

std::string IncludeFiles::options(std::string_view options) const {
  const std::string up = upwards(depth_of(directory_) + 1);
  const std::string root = up + root_name_;
  std::string result = wire::with_insertions(options, absolute_options_, root);
  const auto add_folder = [&](const std::string& folder) {
    result += (result.empty() ? "-I" : " -I") + folder;
  };
  // An empty folder, whose name carries the files' hash into the options, where no other option does.
  if (absolute_options_.empty()) add_folder(root + "/.fairgv");
  if (names_root_) add_folder(up + '.');
  return result;
}

IncludeFolder::IncludeFolder(const std::shared_ptr<const IncludeFiles>& files, IncludeFailure* failure)
    : files_(files) {
  if (files_ == nullptr) return;
  const int code = lay_out();
  // Relaxed: the end of the build follows, which the loop thread has seen when it reads this.
  if (failure != nullptr) failure->store(code, std::memory_order_relaxed);
}

IncludeFolder::~IncludeFolder() {
  if (moved_) [[maybe_unused]]
    const int result = ::fchdir(before_.get());
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

/// Puts a file, a folder or a link into the copy below `root`, with the folders on the way.
std::error_code IncludeFolder::put(const IncludeFiles::Place& place, const std::string& root) {
  const fs::path path = root + place.path;
  std::error_code code;
  fs::create_directories(place.kind == Kind::folder ? path : path.parent_path(), code);
  if (code || place.kind == Kind::folder) return code;
  if (place.kind == Kind::file) return write_file(path, place.contents);
  fs::create_symlink(upwards(depth_of(place.path) - 1) + '.' + place.contents, path, code);
  return code;
}

int IncludeFolder::lay_out() {
  std::error_code code;
  const fs::path temporary = fs::temp_directory_path(code);
  if (code) return code.value();
  static std::once_flag looked_for_leftovers;
  std::call_once(looked_for_leftovers, [&] { remove_leftovers(temporary); });
  if (const int error = make_locked_folder(temporary, folder_, lock_)) return error;

  const std::string root = folder_ + '/' + files_->root_name_;
  fs::create_directories(root + files_->directory_, code);
  if (!code) fs::create_symlink(files_->root_name_, folder_ + '/' + std::string(wire::kIncludeRoot), code);
  // Links come last: nothing is written through one.
  for (const Kind kind : {Kind::folder, Kind::file, Kind::link}) {
    for (const IncludeFiles::Place& place : files_->places_) {
      if (code) return code.value();
      if (place.kind == kind) code = put(place, root);
    }
  }
  if (code) return code.value();
  // O_PATH: Landlock lets no worker read the root folder, which it is in.
  before_.reset(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  moved_ = before_ && ::chdir((root + files_->directory_).c_str()) == 0;
  return moved_ ? 0 : errno;
}

std::string IncludeFolder::options(const std::string& options) const {
  return files_ != nullptr ? files_->options(options) : options;
}

namespace {

/// The beginning of the path that goes on at `at`: behind the last character that no path has, and no further
/// back than a driver's own prefix can reach.
std::size_t begin_of_copy(const std::string& text, std::size_t at) {
  const std::size_t folder = text.rfind(kFolderName, at);
  const std::size_t folder_end = folder == std::string::npos ? folder : text.find('/', folder);
  if (folder_end != std::string::npos && folder_end + 1 == at) {
    const std::size_t before = text.find_last_of(" \t\n\"'<(:=", folder);
    return before == std::string::npos ? 0 : before + 1;
  }
  while (at >= 2 && (text.compare(at - 2, 2, "./") == 0)) {
    at -= 2;
    if (at >= 1 && text[at - 1] == '.') --at;
  }
  return at;
}

/// Takes `name`, with `digits` more characters, out of the text, with the path before it.
void remove_root(std::string& text, std::string_view name, std::size_t digits) {
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
    const std::size_t end = std::min(at + name.size() + digits, text.size());
    if (end == text.size() || text[end] != '/') {
      at = end;
      continue;
    }
    const std::size_t begin = begin_of_copy(text, at);
    text.erase(begin, end - begin);
    at = begin;
  }
}

}  // namespace

std::string with_programs_paths(std::string text) {
  remove_root(text, kRootName, kHashDigits);
  remove_root(text, wire::kIncludeRoot, 0);
  return text;
}

}  // namespace fairgv::vgpu::opencl
