// The files that a build may include, laid out for the driver: a small copy of the file system that the
// program sees, in a folder of the build's own, in which the same paths lead to the same texts.
//
//   TEMPORARY/fairgv-build-XXXXXX/
//     fairgv-headers-HASH/        the root: /a/b.h of the program's is a/b.h here
//     fairgv-root                 a link to it, for texts that name a file by its whole path
//
// The driver compiles in the copy of the program's working folder, so that relative paths mean the same.
// Absolute ones in the options become relative, too: they are then the same wherever the copy lies, and
// change with the contents of the files. Drivers key their caches of compiled code by the options, among
// others.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "runtime/base/handle.hpp"
#include "runtime/base/result.hpp"
#include "runtime/wire/calls/programs.hpp"

namespace fairgv::vgpu::opencl {

/// The files that wire::ProvideIncludes has brought for one build.
class IncludeFiles {
 public:
  /// An Error if no front end would send it.
  Result<void> add(const wire::ProvideIncludes& message);
  /// Adds the build's own working folder and options. An Error if the files were sent for other options.
  Result<void> complete(std::string_view directory, std::string_view options);

  /// Of all files.
  std::vector<std::string_view> texts() const;

  /// The build's options for a driver that compiles in the copy of the working folder.
  std::string options(std::string_view options) const;

 private:
  friend class IncludeFolder;

  struct Place {
    std::uint32_t kind;
    std::string path;
    std::string contents;
  };

  /// A number that changes with the files, as text.
  std::string hash() const;

  std::vector<Place> places_;
  std::uint64_t bytes_ = 0;
  std::vector<std::uint32_t> absolute_options_;
  bool names_root_ = false;
  std::string directory_ = "/";
  std::string root_name_;  // "fairgv-headers-HASH"
};

/// For the build log: why the files could not be laid out (an errno), or 0. The slow lane writes, the loop
/// thread reads after the end of the build.
using IncludeFailure = std::atomic<int>;

/// The files are laid out, and the process' working directory is in them, while this lives. For the slow
/// lane only: one at a time. Without files it does nothing.
class IncludeFolder {
 public:
  /// A failure is told to `failure`, if that is not null; the driver then finds no file.
  explicit IncludeFolder(const std::shared_ptr<const IncludeFiles>& files, IncludeFailure* failure = nullptr);
  ~IncludeFolder();
  IncludeFolder(const IncludeFolder&) = delete;
  IncludeFolder& operator=(const IncludeFolder&) = delete;

  /// The build's options for the driver.
  std::string options(const std::string& options) const;

 private:
  /// 0, or an errno.
  int lay_out();
  static std::error_code put(const IncludeFiles::Place& place, const std::string& root);

  const std::shared_ptr<const IncludeFiles> files_;
  std::string folder_;  // "fairgv-build-XXXXXX", absolute
  UniqueFd lock_;       // says that the folder is in use
  UniqueFd before_;
  bool moved_ = false;
};

/// A driver's text with the program's own paths where it names the copy's.
std::string with_programs_paths(std::string text);

}  // namespace fairgv::vgpu::opencl
