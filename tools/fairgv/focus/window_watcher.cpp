#include "tools/fairgv/focus/window_watcher.hpp"

#include <unistd.h>
#include <xcb/xcb.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace fairgv::tools::focus {
namespace {

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
/// Memory that xcb hands over.
template <class T>
using Owned = std::unique_ptr<T, Free>;
struct Disconnect {
  void operator()(xcb_connection_t* connection) const { xcb_disconnect(connection); }
};
using Connection = std::unique_ptr<xcb_connection_t, Disconnect>;

/// The longest property that is read, in units of four bytes.
constexpr std::uint32_t kLongestProperty = 1'024;

struct Atoms {
  xcb_atom_t active_window = XCB_ATOM_NONE;
  xcb_atom_t wm_pid = XCB_ATOM_NONE;
  xcb_atom_t supported = XCB_ATOM_NONE;
};

class XcbWatcher final : public WindowWatcher {
 public:
  explicit XcbWatcher(Connection connection, xcb_window_t root)
      : connection_(std::move(connection)), root_(root) {}

  /// Asks for news of the root window; false: its window manager does not tell the window in front.
  bool begin() {
    atoms_ = {atom("_NET_ACTIVE_WINDOW"), atom("_NET_WM_PID"), atom("_NET_SUPPORTED")};
    const std::uint32_t events = XCB_EVENT_MASK_PROPERTY_CHANGE;
    xcb_change_window_attributes(connection_.get(), root_, XCB_CW_EVENT_MASK, &events);
    if (property(root_, atoms_.active_window, XCB_ATOM_WINDOW)) return true;
    const auto supported = property(root_, atoms_.supported, XCB_ATOM_ATOM);
    const auto list = supported ? numbers(*supported) : std::vector<std::uint32_t>{};
    return std::find(list.begin(), list.end(), atoms_.active_window) != list.end();
  }

  int fd() const override { return xcb_get_file_descriptor(connection_.get()); }

  Result<std::optional<pid_t>> process_in_front() override {
    std::optional<pid_t> process;
    // News that comes with a reply does not make the descriptor readable again.
    do {
      take_news();
      process = read_process();
    } while (take_news());
    if (xcb_connection_has_error(connection_.get()) != 0) return Error{"the X server is gone"};
    return process;
  }

 private:
  xcb_atom_t atom(std::string_view name) {
    const auto cookie =
        xcb_intern_atom(connection_.get(), 0, static_cast<std::uint16_t>(name.size()), name.data());
    const Owned<xcb_intern_atom_reply_t> reply(xcb_intern_atom_reply(connection_.get(), cookie, nullptr));
    return reply ? reply->atom : static_cast<xcb_atom_t>(XCB_ATOM_NONE);
  }

  /// The property's bytes; none: it is not there, of another type, or the window is gone.
  std::optional<std::string> property(xcb_window_t window, xcb_atom_t name, xcb_atom_t type) {
    const auto cookie = xcb_get_property(connection_.get(), 0, window, name, type, 0, kLongestProperty);
    const Owned<xcb_get_property_reply_t> reply(xcb_get_property_reply(connection_.get(), cookie, nullptr));
    if (!reply || reply->type != type) return std::nullopt;
    return std::string(static_cast<const char*>(xcb_get_property_value(reply.get())),
                       static_cast<std::size_t>(xcb_get_property_value_length(reply.get())));
  }

  static std::vector<std::uint32_t> numbers(const std::string& bytes) {
    std::vector<std::uint32_t> list(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(list.data(), bytes.data(), list.size() * sizeof(std::uint32_t));
    return list;
  }

  std::optional<std::uint32_t> number(xcb_window_t window, xcb_atom_t name, xcb_atom_t type) {
    const auto bytes = property(window, name, type);
    const auto list = bytes ? numbers(*bytes) : std::vector<std::uint32_t>{};
    return list.empty() ? std::nullopt : std::optional(list.front());
  }

  /// A number of another machine's process means nothing here. Windows without a machine are of this one.
  bool is_of_this_machine(xcb_window_t window) {
    const auto machine = property(window, XCB_ATOM_WM_CLIENT_MACHINE, XCB_ATOM_STRING);
    std::array<char, 256> own{};
    if (!machine || machine->empty() || ::gethostname(own.data(), own.size() - 1) != 0) return true;
    const std::string_view host(own.data());
    const std::string_view its(*machine);
    return its.substr(0, its.find('\0')) == host ||
           its.substr(0, its.find('.')) == host.substr(0, host.find('.'));
  }

  std::optional<pid_t> read_process() {
    const auto window = number(root_, atoms_.active_window, XCB_ATOM_WINDOW);
    if (!window || *window == XCB_WINDOW_NONE || !is_of_this_machine(*window)) return std::nullopt;
    const auto pid = number(*window, atoms_.wm_pid, XCB_ATOM_CARDINAL);
    if (!pid || *pid <= 1) return std::nullopt;
    return static_cast<pid_t>(*pid);
  }

  /// Whether another window may be in front since the last call.
  bool take_news() {
    bool changed = false;
    while (const Owned<xcb_generic_event_t> event{xcb_poll_for_event(connection_.get())}) {
      constexpr std::uint8_t kSent = 0x80;  // set if a client has sent the event
      if ((event->response_type & ~kSent) != XCB_PROPERTY_NOTIFY) continue;
      const auto* const news = reinterpret_cast<const xcb_property_notify_event_t*>(event.get());
      changed = changed || news->atom == atoms_.active_window;
    }
    return changed;
  }

  const Connection connection_;
  const xcb_window_t root_;
  Atoms atoms_;
};

}  // namespace

Result<std::unique_ptr<WindowWatcher>> WindowWatcher::connect() {
  const char* const display = std::getenv("DISPLAY");
  if (display == nullptr || *display == '\0') {
    return Error{"DISPLAY is not set: start this inside the X session whose windows it is to follow"};
  }
  const std::string name = "the X server '" + std::string(display) + "' (DISPLAY)";
  int screen = 0;
  Connection connection(xcb_connect(nullptr, &screen));
  if (xcb_connection_has_error(connection.get()) != 0) return Error{"cannot connect to " + name};
  auto screens = xcb_setup_roots_iterator(xcb_get_setup(connection.get()));
  for (; screen > 0 && screens.rem > 1; --screen) xcb_screen_next(&screens);
  auto watcher = std::make_unique<XcbWatcher>(std::move(connection), screens.data->root);
  if (watcher->begin()) return std::unique_ptr<WindowWatcher>(std::move(watcher));
  return Error{"the window manager of " + name +
               " does not tell which window is in front: it needs one that sets _NET_ACTIVE_WINDOW"};
}

}  // namespace fairgv::tools::focus
