#include "runtime/daemon/cage/failure.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace fairgv::daemon {
namespace {

/// Text of bounded length in memory of its own: nothing may be allocated here.
class Line {
 public:
  void add(std::string_view text) {
    const std::size_t room = text_.size() - length_;
    const std::size_t bytes = text.size() < room ? text.size() : room;
    std::memcpy(text_.data() + length_, text.data(), bytes);
    length_ += bytes;
  }
  /// Adds the characters that may stand between quotes in JSON.
  void add_plain(std::string_view text) {
    for (const char c : text) {
      const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
      add(std::string_view(plain ? &c : "?", 1));
    }
  }
  std::string_view text() const { return {text_.data(), length_}; }

 private:
  std::array<char, 768> text_{};
  std::size_t length_ = 0;
};

}  // namespace

void StartFailure::give_up(const char* what, const char* object) const {
  const char* const reason = ::strerrordesc_np(errno);
  Line line;
  for (const char* part : {"a worker cannot ", what, *object == '\0' ? "" : " ", object, ": ",
                           reason == nullptr ? "unknown error" : reason}) {
    line.add_plain(part);
  }
  Line packet;  // session::WorkerFailed as text
  packet.add(R"({"worker":"failed","reason":")");
  packet.add(line.text());
  packet.add(R"("})");
  if (channel_ >= 0) {
    [[maybe_unused]] const ssize_t sent =
        ::send(channel_, packet.text().data(), packet.text().size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  } else {
    line.add("\n");
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.text().data(), line.text().size());
  }
  ::_exit(kExitStatus);
}

}  // namespace fairgv::daemon
