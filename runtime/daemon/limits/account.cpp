#include "runtime/daemon/limits/account.hpp"

namespace fairgv::daemon {

std::string account_text(uid_t uid, uid_t owner) {
  const std::string text = "user " + std::to_string(uid);
  return uid == owner ? text : text + ", who counts as user " + std::to_string(owner);
}

}  // namespace fairgv::daemon
