// A driver that does not survive being opened, by a signal that no runtime catches.
#include <csignal>

namespace {

[[gnu::constructor]] void crash() {
  ::raise(SIGKILL);
}

}  // namespace
