#include "runtime/daemon/service/log_format.hpp"

#include <spdlog/pattern_formatter.h>

#include <string>
#include <string_view>

#include "runtime/base/json_fields.hpp"

namespace fairgv::daemon {
namespace {

class HarmlessFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& message, spdlog::memory_buf_t& into) override {
    const std::string payload =
        printable(std::string_view(message.payload.data(), message.payload.size()), kLongestLogLine);
    spdlog::details::log_msg harmless = message;
    harmless.payload = payload;
    pattern_.format(harmless, into);
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<HarmlessFormatter>(); }

 private:
  spdlog::pattern_formatter pattern_{"%Y-%m-%d %H:%M:%S.%e %l: %v"};
};

}  // namespace

std::unique_ptr<spdlog::formatter> make_log_formatter() {
  return std::make_unique<HarmlessFormatter>();
}

}  // namespace fairgv::daemon
