#include "tools/fairgv/run/cuda_program.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "runtime/session/paths.hpp"
#include "tools/fairgv/run/elf_program.hpp"

namespace fairgv::tools {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> folders;
  std::istringstream text(path);
  for (std::string folder; std::getline(text, folder, ':');) folders.push_back(folder);
  return folders;
}

/// The file that execvp(3) would take.
std::optional<fs::path> find_program(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* const path = std::getenv("PATH");
  for (const std::string& folder : split(path != nullptr ? path : "/bin:/usr/bin")) {
    const fs::path candidate = fs::path(folder.empty() ? "." : folder) / program;
    std::error_code ignored;
    if (::access(candidate.c_str(), X_OK) == 0 && fs::is_regular_file(candidate, ignored)) return candidate;
  }
  return std::nullopt;
}

bool is_cuda_library(const std::string& needed) {
  const std::string name = fs::path(needed).filename();
  return name.starts_with("libcuda.so") || name.starts_with("libcudart.so");
}

/// The dynamic linker ignores LD_LIBRARY_PATH for programs with more rights than the user who starts them.
bool gains_rights(const fs::path& program) {
  struct stat status {};
  if (::stat(program.c_str(), &status) != 0) return false;
  return ((status.st_mode & S_ISUID) != 0 && status.st_uid != ::getuid()) ||
         ((status.st_mode & S_ISGID) != 0 && status.st_gid != ::getgid()) ||
         (::getuid() != 0 && ::getxattr(program.c_str(), "security.capability", nullptr, 0) > 0);
}

std::string with_origin(std::string folder, const fs::path& program) {
  std::error_code ignored;
  const std::string origin = fs::canonical(program, ignored).parent_path();
  for (const std::string name : {"${ORIGIN}", "$ORIGIN"}) {
    for (auto at = folder.find(name); at != std::string::npos; at = folder.find(name, at + origin.size())) {
      folder.replace(at, name.size(), origin);
    }
  }
  return folder;
}

/// A CUDA library that the program's RPATH leads to, and that is not ours.
std::optional<fs::path> found_by_rpath(const ElfProgram& elf, const fs::path& program,
                                       const fs::path& folder) {
  if (!elf.runpath.empty()) return std::nullopt;  // it makes the linker ignore the RPATH
  std::vector<std::string> names{"libcuda.so.1"};
  std::copy_if(elf.needed.begin(), elf.needed.end(), std::back_inserter(names), is_cuda_library);
  for (const std::string& each : split(elf.rpath)) {
    const fs::path candidate = with_origin(each, program);
    std::error_code ignored;
    if (fs::equivalent(candidate, folder, ignored)) return std::nullopt;  // ours come first
    for (const std::string& name : names) {
      if (fs::exists(candidate / name, ignored)) return candidate / name;
    }
  }
  return std::nullopt;
}

}  // namespace

namespace {

/// In the build tree, or where we are installed.
std::optional<fs::path> library_folder(const std::string& name) {
  const auto programs = session::program_directory();
  if (!programs) return std::nullopt;
  for (const std::string place : {"../lib/", "../" FAIRGV_LIBDIR "/fairgv/", "../lib/fairgv/"}) {
    const fs::path folder = (programs.value() / (place + name)).lexically_normal();
    std::error_code ignored;
    // Without the driver's front end the runtime alone would go past FairGV.
    if (fs::exists(folder / "libcuda.so.1", ignored)) return folder;
  }
  return std::nullopt;
}

}  // namespace

std::optional<fs::path> cuda_folder() {
  return library_folder("cuda");
}

std::optional<fs::path> cuda_direct_folder() {
  return library_folder("cuda-direct");
}

std::string library_path(const fs::path& folder, const char* own) {
  if (own == nullptr || *own == '\0') return folder;
  const std::string before = own;
  if (before == folder || before.starts_with(folder.string() + ":")) return before;
  return folder.string() + ":" + before;
}

std::optional<std::string> preload_path(const fs::path& folder, const char* own) {
  const std::string library = folder / "libfairgv-cudart-preload.so";
  std::error_code ignored;
  // The dynamic linker takes both characters for the end of a name, and has no way to quote them.
  if (!fs::exists(library, ignored) || library.find_first_of(" :") != std::string::npos) return std::nullopt;
  if (own == nullptr || *own == '\0') return library;
  const std::string before = own;
  const auto at = before.find(library);
  const auto ends_name = [&](std::size_t i) {
    return i >= before.size() || before[i] == ' ' || before[i] == ':';
  };
  const bool is_there =
      at != std::string::npos && (at == 0 || ends_name(at - 1)) && ends_name(at + library.size());
  return is_there ? before : before + ":" + library;
}

std::optional<std::string> cuda_obstacle(const std::string& program, const fs::path& folder) {
  const auto found = find_program(program);
  if (!found) return std::nullopt;
  const auto elf = read_elf(*found);
  if (!elf) return std::nullopt;
  const bool needs_cuda = std::any_of(elf->needed.begin(), elf->needed.end(), is_cuda_library);
  if (!needs_cuda && !elf->has_cuda_code) return std::nullopt;

  const std::string name = "'" + found->string() + "'";
  if (gains_rights(*found)) {
    return name +
           " is set-uid, set-gid or has capabilities, so that LD_LIBRARY_PATH and LD_PRELOAD are ignored and "
           "it would go past FairGV: start it as its owner";
  }
  for (const std::string& needed : elf->needed) {
    if (needed.find('/') != std::string::npos && is_cuda_library(needed)) {
      return name + " names " + needed + " by its path and would go past FairGV: link it by its name";
    }
  }
  if (const auto library = found_by_rpath(*elf, *found, folder)) {
    return name + " has an RPATH that leads to " + library->string() +
           " before FairGV's libraries: link it without, or with --enable-new-dtags";
  }
  if (needs_cuda) return std::nullopt;
  // The runtime is in the program.
  if (!elf->is_dynamic) {
    return name +
           " is linked wholly statically, so that nothing can be preloaded into it and it would go past "
           "FairGV: "
           "link it without -static";
  }
  if (!preload_path(folder, nullptr)) {
    return name + " embeds the CUDA runtime (nvcc's default), and the library that replaces it is not in " +
           folder.string() +
           ", or LD_PRELOAD cannot name it because of a space or colon: install FairGV elsewhere, or compile "
           "with -cudart shared";
  }
  return std::nullopt;
}

}  // namespace fairgv::tools
