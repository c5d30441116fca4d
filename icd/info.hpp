// Answering clGet*Info: where the application wants the answer, and answers fetched from the worker once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string_view>

#include "icd/cl.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::icd {

/// The last three parameters of every query. Each method writes an answer and returns what the query returns:
/// CL_INVALID_VALUE if the application's memory is too small for it.
struct InfoSink {
  std::size_t size;
  void* value;
  std::size_t* size_ret;

  cl_int bytes(const void* from, std::size_t count) const {
    if (value != nullptr) {
      if (size < count) return CL_INVALID_VALUE;
      if (count != 0) std::memcpy(value, from, count);
    }
    if (size_ret != nullptr) *size_ret = count;
    return CL_SUCCESS;
  }
  template <class T>
  cl_int scalar(const T& answer) const {
    return bytes(&answer, sizeof(T));
  }
  template <class T>
  cl_int array(std::span<const T> answer) const {
    return bytes(answer.data(), answer.size_bytes());
  }
  /// `answer` must be followed by a NUL, which belongs to the answer.
  cl_int string(std::string_view answer) const { return bytes(answer.data(), answer.size() + 1); }

  cl_int reply(const wire::InfoReply& answer) const {
    if (answer.error != CL_SUCCESS) return answer.error;
    return bytes(answer.value.data(), answer.value.size());
  }
};

/// Remembers replies by key. Any thread may call get().
template <class Key>
class InfoCache {
 public:
  /// The remembered reply, or what `fetch` returns (std::optional<wire::InfoReply>), remembered from then on.
  /// nullptr if it returned nothing. The reply lives as long as the cache.
  template <class Fetch>
  const wire::InfoReply* get(const Key& key, Fetch&& fetch) {
    {
      const std::shared_lock lock(mutex_);
      if (const auto found = replies_.find(key); found != replies_.end()) return &found->second;
    }
    std::optional<wire::InfoReply> reply = fetch();
    if (!reply) return nullptr;
    const std::unique_lock lock(mutex_);
    return &replies_.try_emplace(key, std::move(*reply)).first->second;
  }

  /// In the child of a fork, where another thread may have held the lock.
  void forget() { std::construct_at(this); }

 private:
  std::shared_mutex mutex_;
  std::map<Key, wire::InfoReply> replies_;
};

}  // namespace fairgv::icd
