// CUDA programs under `fairgv run`: where FairGV's CUDA libraries are, and whether a program will use them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace fairgv::tools {

/// The folder with FairGV's libcuda.so.1 and libcudart.so.*: in the build tree, or where we are installed.
/// Nothing where FairGV was built without CUDA.
std::optional<std::filesystem::path> cuda_folder();

/// The folder with the libcuda.so.1 of direct programs alone: their runtime is their own.
std::optional<std::filesystem::path> cuda_direct_folder();

/// LD_LIBRARY_PATH with this folder first; `own`, its value before, comes behind it.
std::string library_path(const std::filesystem::path& folder, const char* own);

/// LD_PRELOAD with the library in this folder that replaces the runtime in programs; `own`, its value before,
/// comes before it: some libraries have to be the first, and ours need not. Nothing where the library is not
/// there, or its path has a space or colon, which LD_PRELOAD cannot have.
std::optional<std::string> preload_path(const std::filesystem::path& folder, const char* own);

/// Why this program (a path, or a name to look for in PATH) would not, or not reliably, use the libraries in
/// the folder, and what to do: one line, or nothing. Programs that are not for CUDA, scripts, and unreadable
/// files are silently fine; libraries that a program loads are not looked at.
std::optional<std::string> cuda_obstacle(const std::string& program, const std::filesystem::path& folder);

}  // namespace fairgv::tools
