#include "icd/objects/device.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "icd/masks.hpp"
#include "icd/objects/platform.hpp"
#include "icd/session/connection.hpp"
#include "runtime/session/client/arena_remark.hpp"

namespace fairgv::icd {

cl_version parse_version(std::string_view text) {
  unsigned major = 0;
  unsigned minor = 0;
  if (std::sscanf(std::string(text).c_str(), "OpenCL %u.%u", &major, &minor) != 2)
    return CL_MAKE_VERSION(1, 0, 0);
  return CL_MAKE_VERSION(major, minor, 0);
}

Device::~Device() {
  if (owner_ != nullptr) owner_->send(wire::ReleaseSubDevice{index_});
}

Connection* Device::connection() const {
  return owner_ != nullptr ? owner_ : Connection::get_live();
}

cl_int Device::retain_reference() {
  if (parent_) retain();
  return CL_SUCCESS;
}

cl_int Device::release_reference() {
  return !parent_ || release() ? CL_SUCCESS : CL_INVALID_DEVICE;
}

cl_int Device::partition(std::span<const cl_device_partition_property> properties, cl_uint room,
                         cl_device_id* made, cl_uint* count) {
  Connection* const connection = this->connection();
  if (connection == nullptr) return kSessionLost;
  const std::vector<std::int64_t> list(properties.begin(), properties.end());
  const auto counted = connection->call(wire::CreateSubDevices{index_, 1, list});
  if (!counted) return kSessionLost;
  if (counted->error != CL_SUCCESS) return counted->error;
  if (made != nullptr && room < counted->count) return CL_INVALID_VALUE;
  if (made != nullptr) {
    const auto split = connection->call(wire::CreateSubDevices{index_, 0, list});
    if (!split) return kSessionLost;
    if (split->error != CL_SUCCESS) return split->error;
    const std::size_t devices = std::min<std::size_t>(split->devices.size(), room);
    for (std::size_t i = 0; i < devices; ++i) {
      made[i] = Ref<Device>::make(*this, *connection, split->devices[i]).publish();
    }
  }
  if (count != nullptr) *count = counted->count;
  return CL_SUCCESS;
}

const wire::InfoReply* Device::raw_info(cl_device_info param) {
  return info_.get(param, [&]() -> std::optional<wire::InfoReply> {
    Connection* const connection = this->connection();
    if (connection == nullptr) return std::nullopt;
    auto reply = connection->call(wire::GetDeviceInfo{index_, param});
    if (reply) mask_device_info(param, *reply);
    if (reply) limit_memory(param, *connection, *reply);
    if (reply && param == CL_DEVICE_SVM_CAPABILITIES && !serves_svm(*connection)) {
      std::fill(reply->value.begin(), reply->value.end(), std::byte{0});
    }
    return reply;
  });
}

cl_int Device::find_info(cl_device_info param, std::size_t size, void* value, std::size_t* size_ret) {
  const InfoSink sink{size, value, size_ret};
  switch (param) {
    case CL_DEVICE_PLATFORM:
      return sink.scalar(platform_.handle());
    case CL_DEVICE_TYPE:
      return sink.scalar(type_);
    case CL_DEVICE_PARENT_DEVICE:
      return sink.scalar(parent_ ? parent_->handle() : cl_device_id{nullptr});
    case CL_DEVICE_REFERENCE_COUNT:
      return sink.scalar(parent_ ? cl_uint{references()} : cl_uint{1});
    case CL_DEVICE_GLOBAL_FREE_MEMORY_AMD:
      return free_memory(sink);
    default: {
      const wire::InfoReply* const reply = raw_info(param);
      return reply == nullptr ? kSessionLost : sink.reply(*reply);
    }
  }
}

void Device::limit_memory(cl_device_info param, Connection& connection, wire::InfoReply& reply) const {
  if (param != CL_DEVICE_GLOBAL_MEM_SIZE && param != CL_DEVICE_MAX_MEM_ALLOC_SIZE) return;
  const auto& limits = connection.session().facts().memory_limits;
  const std::size_t device = root().index();
  cl_ulong bytes = 0;
  if (reply.value.size() != sizeof(bytes)) return;
  std::memcpy(&bytes, reply.value.data(), sizeof(bytes));
  if (limits && device < limits->size()) bytes = std::min<cl_ulong>(bytes, (*limits)[device]);
  // A buffer whose contents could not be transferred is not allowed.
  if (param == CL_DEVICE_MAX_MEM_ALLOC_SIZE && session::arena_is_cut(connection.session().segment())) {
    bytes = std::min<cl_ulong>(bytes, connection.session().segment().arena().size() / 2);
  }
  std::memcpy(reply.value.data(), &bytes, sizeof(bytes));
}

cl_int Device::free_memory(InfoSink sink) {
  Connection* const connection = this->connection();
  if (connection == nullptr) return kSessionLost;
  auto reply = connection->call(wire::GetDeviceInfo{index_, CL_DEVICE_GLOBAL_FREE_MEMORY_AMD});
  if (reply && reply->error == CL_SUCCESS && connection->session().facts().memory_limits) {
    const auto left = connection->call(wire::GetMemoryLeft{root().index()});
    if (!left) return kSessionLost;
    // In KiB: all free memory, and the largest free piece.
    for (std::size_t at = 0; at + sizeof(size_t) <= reply->value.size(); at += sizeof(size_t)) {
      size_t free = 0;
      std::memcpy(&free, reply->value.data() + at, sizeof(free));
      free = std::min<size_t>(free, left->bytes / 1024);
      std::memcpy(reply->value.data() + at, &free, sizeof(free));
    }
  }
  return reply ? sink.reply(*reply) : kSessionLost;
}

template <class T>
std::optional<T> Device::number(cl_device_info param) {
  const wire::InfoReply* const reply = raw_info(param);
  if (reply == nullptr || reply->error != CL_SUCCESS || reply->value.size() < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, reply->value.data(), sizeof(T));
  return value;
}

bool Device::serves_svm(Connection& connection) {
  const DeviceFacts* const facts = this->facts();
  return facts != nullptr && facts->shares_host_memory && connection.direct_memory().enabled() &&
         connection.shares_addresses();
}

cl_device_svm_capabilities Device::svm_capabilities() {
  return number<cl_device_svm_capabilities>(CL_DEVICE_SVM_CAPABILITIES).value_or(0);
}

cl_version Device::fetch_version() {
  const wire::InfoReply* const reply = raw_info(CL_DEVICE_VERSION);
  if (reply == nullptr) return 0;
  return parse_version({reinterpret_cast<const char*>(reply->value.data()), reply->value.size()});
}

std::optional<DeviceFacts> Device::fetch_facts() {
  if (raw_info(CL_DEVICE_VERSION) == nullptr) return std::nullopt;
  DeviceFacts facts;
  facts.version = fetch_version();
  facts.max_dimensions = number<cl_uint>(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS).value_or(3);
  facts.max_group_size = number<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE).value_or(1);
  facts.max_item_sizes.fill(facts.max_group_size);
  if (const auto sizes = number<std::array<size_t, 3>>(CL_DEVICE_MAX_WORK_ITEM_SIZES)) {
    std::copy(sizes->begin(), sizes->end(), facts.max_item_sizes.begin());
  }
  facts.address_alignment = std::max(1U, number<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN).value_or(8) / 8);
  facts.data_type_alignment = std::max(1U, number<cl_uint>(CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE).value_or(128));
  facts.max_allocation = number<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE).value_or(0);
  facts.local_memory = number<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE).value_or(0);
  facts.queue_properties = number<cl_command_queue_properties>(CL_DEVICE_QUEUE_PROPERTIES).value_or(0);
  facts.compiler_available = number<cl_bool>(CL_DEVICE_COMPILER_AVAILABLE).value_or(CL_FALSE) != CL_FALSE;
  facts.has_images = number<cl_bool>(CL_DEVICE_IMAGE_SUPPORT).value_or(CL_FALSE) != CL_FALSE;
  // OpenCL 2.x has non-uniform work-groups always, 3.0 as an option, 1.x never.
  facts.non_uniform_groups =
      facts.at_least(2, 0) &&
      (!facts.at_least(3, 0) ||
       number<cl_bool>(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT).value_or(CL_FALSE) != CL_FALSE);
  facts.shares_host_memory = (type_ & CL_DEVICE_TYPE_CPU) != 0 &&
                             number<cl_bool>(CL_DEVICE_HOST_UNIFIED_MEMORY).value_or(CL_FALSE) != CL_FALSE;
  if (raw_info(CL_DEVICE_EXTENSIONS) == nullptr) return std::nullopt;  // lost in between
  return facts;
}

cl_int Device::ask_for_empty_commands(const wire::CheckEmptyCommand& question, Connection& connection) {
  const std::lock_guard lock(empty_commands_mutex_);
  const auto known = empty_commands_.find(question.type);
  if (known != empty_commands_.end()) return known->second;
  const auto reply = connection.call(question);
  if (!reply) return kSessionLost;
  return empty_commands_.emplace(question.type, reply->error).first->second;
}

const DeviceFacts* Device::facts() {
  // Acquire: pairs with the release store below.
  if (const DeviceFacts* const facts = ready_.load(std::memory_order_acquire)) return facts;
  const std::lock_guard lock(facts_mutex_);
  if (!facts_) facts_ = fetch_facts();
  if (!facts_) return nullptr;
  ready_.store(&*facts_, std::memory_order_release);
  return &*facts_;
}

}  // namespace fairgv::icd
