#include "icd/objects/platform.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "icd/masks.hpp"
#include "icd/session/connection.hpp"

namespace fairgv::icd {
namespace {

std::mutex fetch_mutex;  // guards fetching
std::atomic<const std::vector<Platform*>*> fetched{nullptr};

std::vector<std::byte> text_value(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  std::vector<std::byte> value(first, first + text.size());
  value.push_back(std::byte{0});
  return value;
}

std::string_view text_of(const wire::InfoReply& reply) {
  const auto* text = reinterpret_cast<const char*>(reply.value.data());
  return {text, strnlen(text, reply.value.size())};
}

/// The front end itself provides cl_khr_icd, whatever the driver says.
std::string platform_extensions(std::string_view driver) {
  const std::string served = served_extensions(driver);
  return served.empty() ? "cl_khr_icd" : "cl_khr_icd " + served;
}

void add_icd_version(wire::InfoReply& reply) {
  keep_served_versions(reply);
  cl_name_version icd{CL_MAKE_VERSION(1, 0, 0), "cl_khr_icd"};
  const auto* first = reinterpret_cast<const std::byte*>(&icd);
  reply.value.insert(reply.value.begin(), first, first + sizeof(icd));
}

}  // namespace

std::span<Platform* const> Platform::all() {
  // Acquire: pairs with the release store below.
  if (const auto* platforms = fetched.load(std::memory_order_acquire)) return *platforms;
  const std::lock_guard lock(fetch_mutex);
  if (const auto* platforms = fetched.load(std::memory_order_acquire)) return *platforms;
  std::vector<Platform*> platforms = fetch_all();
  if (platforms.empty()) return {};
  const auto* kept = new std::vector<Platform*>(std::move(platforms));  // for the life of the process
  fetched.store(kept, std::memory_order_release);
  return *kept;
}

std::vector<Platform*> Platform::fetch_all() {
  Connection* const connection = Connection::get();
  if (connection == nullptr) return {};
  const auto topology = connection->call(wire::GetTopology{});
  if (!topology) return {};
  std::vector<Platform*> platforms;
  for (wire::PlatformIndex i = 0; i < topology->platform_count; ++i) platforms.push_back(new Platform(i));
  for (wire::DeviceIndex i = 0; i < topology->devices.size(); ++i) {
    const wire::DeviceEntry& entry = topology->devices[i];
    if (entry.platform >= platforms.size()) continue;
    Platform& platform = *platforms[entry.platform];
    platform.devices_.push_back(new Device(platform, i, entry.type));
  }
  // A loader may tell its other threads that it is ready as soon as it begins to ask for these (ocl-icd 2.3
  // does): those threads should not find it empty while the worker's answer is under way.
  for (Platform* platform : platforms) {
    for (const auto param : {CL_PLATFORM_EXTENSIONS, CL_PLATFORM_VERSION})
      platform->raw_info(static_cast<cl_platform_info>(param));
  }
  return platforms;
}

bool Platform::are_those_of(Connection& connection) {
  const auto topology = connection.call(wire::GetTopology{});
  if (!topology || topology->platform_count != all().size()) return false;
  std::size_t known = 0;
  for (const Platform* platform : all()) {
    known += platform->devices_.size();
    for (const Device* device : platform->devices_) {
      if (device->index() >= topology->devices.size()) return false;
      const wire::DeviceEntry& entry = topology->devices[device->index()];
      if (entry.platform != platform->index_ || entry.type != device->type()) return false;
    }
  }
  return known == topology->devices.size();
}

void Platform::forget_connection() {
  std::construct_at(&fetch_mutex);
  const auto* platforms = fetched.load(std::memory_order_relaxed);
  if (platforms == nullptr) return;
  for (Platform* platform : *platforms) {
    platform->info_.forget();
    platform->devices_of_type_.forget();
    for (Device* device : platform->devices_) device->forget_connection();
  }
}

const wire::InfoReply* Platform::raw_info(cl_platform_info param) {
  return info_.get(param, [&]() -> std::optional<wire::InfoReply> {
    Connection* const connection = Connection::get_live();
    if (connection == nullptr) return std::nullopt;
    auto reply = connection->call(wire::GetPlatformInfo{index_, param});
    if (reply) reply = adapt(param, connection->names(), std::move(*reply));
    return reply;
  });
}

wire::InfoReply Platform::adapt(cl_platform_info param, session::Names names, wire::InfoReply reply) {
  if (reply.error != CL_SUCCESS) return reply;
  switch (param) {
    case CL_PLATFORM_NAME:
      if (names == session::Names::fairgv)
        reply.value = text_value("FairGV on " + std::string(text_of(reply)));
      break;
    case CL_PLATFORM_EXTENSIONS:
      reply.value = text_value(platform_extensions(text_of(reply)));
      break;
    case CL_PLATFORM_EXTENSIONS_WITH_VERSION:
      add_icd_version(reply);
      break;
    default:
      break;
  }
  return reply;
}

cl_int Platform::find_devices(cl_device_type type, std::vector<Device*>& found) {
  Connection* const connection = Connection::get();
  const bool chosen = connection != nullptr && connection->session().facts().hidden_devices != 0;
  const auto ask = [&]() -> std::optional<wire::InfoReply> {
    Connection* const live = Connection::get_live();
    if (live == nullptr) return std::nullopt;
    const auto devices = live->call(wire::GetDevicesOfType{index_, type});
    if (!devices) return std::nullopt;
    const auto bytes = std::as_bytes(std::span(devices->devices));
    return wire::InfoReply{devices->error, {bytes.begin(), bytes.end()}};
  };
  std::optional<wire::InfoReply> fresh;
  if (chosen) fresh = ask();
  const wire::InfoReply* const reply = chosen ? (fresh ? &*fresh : nullptr) : devices_of_type_.get(type, ask);
  if (reply == nullptr) return kSessionLost;
  for (std::size_t at = 0; at + sizeof(wire::DeviceIndex) <= reply->value.size();
       at += sizeof(wire::DeviceIndex)) {
    wire::DeviceIndex index = 0;
    std::memcpy(&index, reply->value.data() + at, sizeof(index));
    const auto known = std::find_if(devices_.begin(), devices_.end(),
                                    [index](const Device* device) { return device->index() == index; });
    if (known != devices_.end()) found.push_back(*known);
  }
  return reply->error;
}

cl_int Platform::find_info(cl_platform_info param, InfoSink sink) {
  const Connection* const connection = Connection::get();
  const bool is_ours = connection == nullptr || connection->names() == session::Names::fairgv;
  if (param == CL_PLATFORM_VENDOR && is_ours) return sink.string("FairGV");
  switch (param) {
    // The loader finds this library among others by the suffix, whatever name the platform has.
    case CL_PLATFORM_ICD_SUFFIX_KHR:
      return sink.string("FAIRGV");
    default: {
      const wire::InfoReply* const reply = raw_info(param);
      return reply == nullptr ? kSessionLost : sink.reply(*reply);
    }
  }
}

}  // namespace fairgv::icd
