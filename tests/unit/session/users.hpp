// Users of the machine who have no account: the user who asks, a user whom the administrator trusts, and
// another user.
#pragma once

#include <sys/types.h>

namespace fairgv::session {

inline constexpr uid_t kSelf = 4'001;
inline constexpr uid_t kNamed = 4'002;
inline constexpr uid_t kStranger = 4'003;

}  // namespace fairgv::session
