// Two users of the machine, and an administrator.
#pragma once

#include <sys/types.h>

#include "runtime/daemon/tenants/account.hpp"

namespace fairgv::daemon {

inline constexpr uid_t kAlice = 1'000;
inline constexpr uid_t kBob = 1'001;
inline constexpr bool kAdministrator = true;
inline constexpr Account kOfRoot{0, kAdministrator};

}  // namespace fairgv::daemon
