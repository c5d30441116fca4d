// A driver that dies when it is opened, by a signal that no runtime catches.
#include <csignal>

namespace {

[[gnu::constructor]] void crash() {
  ::raise(SIGKILL);
}

}  // namespace
