// Where the daemon's socket is, and the folder that belongs to one user alone.
#pragma once

#include <filesystem>
#include <string>

#include "runtime/base/result.hpp"

namespace fairgv::session {

inline constexpr const char* kSystemSocket = "/run/fairgv/fairgvd.sock";

/// The socket that clients and tools use when nothing else is said: FAIRGV_SOCKET, else the system's socket
/// if it exists, else the user's own.
std::string default_socket_path();

inline constexpr const char* kSystemConfig = "/etc/fairgv/fairgvd.toml";

/// The configuration that this user's daemon reads when none is named, whether it is there or not: root's is
/// the system's, else it is in $XDG_CONFIG_HOME or ~/.config. Empty without a home.
std::string default_config_path();

/// $XDG_RUNTIME_DIR/fairgv, else /tmp/fairgv-UID. Need not exist yet.
std::filesystem::path private_directory();

/// Makes the folder (mode 0700) if it is missing. Fails if it is not a real folder, is not ours, or others
/// may write into it: then somebody could put a socket there and play our daemon.
Result<void> ensure_private_directory(const std::filesystem::path& path);

/// The folder of the running program, for finding its siblings.
Result<std::filesystem::path> program_directory();

}  // namespace fairgv::session
