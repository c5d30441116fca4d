#include "runtime/session/worker_options.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "runtime/base/json_fields.hpp"
#include "runtime/base/memory_file.hpp"
#include "runtime/session/device/device_json.hpp"

namespace fairgv::session {
namespace {

using nlohmann::json;

constexpr std::uint64_t kLongestOptions = std::uint64_t{16} << 20;
constexpr std::size_t kLongestList = 4096;
constexpr std::size_t kLongestValue = 4096;

/// Calls `visit(name, field)` for each field, for writing and for reading.
template <class Options, class Visit>
void each_field(Options& options, Visit visit) {
  visit("samples", options.tuning.samples);
  visit("device_cores", options.tuning.device_cores);
  visit("core_per_thread", options.tuning.core_per_thread);
  visit("coscheduling", options.tuning.coscheduling);
  visit("slicing", options.tuning.slicing);
  visit("slicing_floor", options.tuning.slicing_floor);
  visit("never_slice", options.tuning.never_slice);
  visit("objects", options.tuning.objects);
  visit("commands", options.tuning.commands);
  visit("session", options.session);
  visit("segment_fd", options.descriptors.segment);
  visit("turns_fd", options.descriptors.turns);
  visit("daemon_fd", options.descriptors.daemon);
  visit("ledger_fd", options.descriptors.ledger);
  visit("knock_fd", options.descriptors.knock);
  visit("slice_ms", options.slice_ms);
  visit("slicing_wish", options.slicing_wish);
  visit("api", options.api);
  visit("cuda_libraries", options.cuda_libraries);
  visit("examine_drivers", options.examine_drivers);
  visit("takes_over", options.takes_over);
  visit("trial", options.trial);
}

struct Write {
  json& to;

  template <class Value>
  void operator()(const char* name, const Value& value) const {
    if constexpr (std::is_same_v<Value, SlicingWish> || std::is_same_v<Value, Api>) {
      to[name] = to_text(value);
    } else {
      to[name] = value;
    }
  }
  void operator()(const char* name, const std::optional<DeviceDescription>& device) const {
    if (device) to[name] = to_json(*device);
  }
  void operator()(const char* name, const int& descriptor) const {
    if (descriptor >= 0) to[name] = descriptor;
  }
};

struct Read {
  JsonFields& from;

  void operator()(const char* name, std::string& value) const { value = from.string(name, kLongestValue); }
  void operator()(const char* name, bool& value) const { value = from.boolean(name); }
  void operator()(const char* name, double& value) const { value = from.number(name); }
  void operator()(const char* name, std::uint32_t& value) const { value = from.integer32(name); }
  void operator()(const char* name, std::uint64_t& value) const { value = from.integer(name); }
  void operator()(const char* name, int& descriptor) const {
    if (!from.has(name)) return;  // there is none
    descriptor = static_cast<int>(from.integer(name, 0, std::numeric_limits<int>::max()));
  }
  void operator()(const char* name, std::optional<DeviceDescription>& value) const {
    if (!from.has(name)) return;  // it serves a session
    auto device = JsonFields::nested(from.object(name), "device on trial");
    value = device_from(device);
    if (!device.ok()) from.fail("has a device on trial that is none");
  }
  void operator()(const char* name, std::vector<std::string>& value) const {
    for (const json& element : from.list(name, kLongestList)) {
      if (!element.is_string()) return from.fail(std::string(name) + " is not a list of texts");
      value.push_back(element.get<std::string>());
    }
  }
  void operator()(const char* name, SlicingWish& value) const {
    const auto wish = parse_slicing_wish(from.string(name, kLongestValue), name);
    if (!wish) return from.fail(wish.error().message);
    value = wish.value();
  }
  void operator()(const char* name, Api& value) const {
    const auto api = parse_api(from.string(name, kLongestValue));
    if (!api) return from.fail(std::string(name) + " is no API");
    value = *api;
  }
};

}  // namespace

std::string to_text(const WorkerOptions& options) {
  json object = json::object();
  each_field(options, Write{object});
  return json_text(object);
}

Result<WorkerOptions> parse_worker_options(std::string_view text) {
  JsonFields fields(text, "worker's options");
  WorkerOptions options;
  each_field(options, Read{fields});
  if (!fields.ok()) return fields.error();
  return options;
}

Result<UniqueFd> write_worker_options(const WorkerOptions& options) {
  return memory_file(to_text(options), "the worker's options");
}

Result<WorkerOptions> read_worker_options(UniqueFd file) {
  FAIRGV_TRY(text, read_memory_file(file.get(), kLongestOptions, "the worker's options"));
  return parse_worker_options(text.value());
}

}  // namespace fairgv::session
