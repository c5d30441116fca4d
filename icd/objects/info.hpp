// Answering clGet*Info: the application's place for the answer, and answers fetched from the worker once.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "icd/cl.hpp"
#include "runtime/wire/calls.hpp"

namespace fairgv::icd {

/// The last three parameters of every query. Each method writes an answer and returns the query's result:
/// CL_INVALID_VALUE if the application's memory is too small for the answer.
struct InfoSink {
  std::size_t size;
  void* value;
  std::size_t* size_ret;

  [[gnu::always_inline]] cl_int bytes(const void* from, std::size_t count) const {
    if (value != nullptr) {
      if (size < count) return CL_INVALID_VALUE;
      // Most answers are one number: of a known size, the copy is one instruction. The others are copied by
      // the last call of the query, so that the numbers need no stack.
      if (count == 4) {
        std::memcpy(value, from, 4);
      } else if (count == 8) {
        std::memcpy(value, from, 8);
      } else if (count != 0) {
        return copy(value, from, count, size_ret);
      }
    }
    if (size_ret != nullptr) *size_ret = count;
    return CL_SUCCESS;
  }
  template <class T>
  cl_int scalar(const T& answer) const {
    if (value != nullptr) {
      if (size < sizeof(T)) return CL_INVALID_VALUE;
      std::memcpy(value, &answer, sizeof(T));
    }
    if (size_ret != nullptr) *size_ret = sizeof(T);
    return CL_SUCCESS;
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

 private:
  [[gnu::noinline]] static cl_int copy(void* to, const void* from, std::size_t count, std::size_t* size_ret) {
    std::memcpy(to, from, count);
    if (size_ret != nullptr) *size_ret = count;
    return CL_SUCCESS;
  }
};

/// Remembers replies by key. Any thread may call get(), which takes no lock: a cached query is a short walk.
/// Entries are added in front of their list and stay until the end. `kLists`: about as many as there are
/// keys.
template <class Key, std::size_t kLists = 32>
class InfoCache {
 public:
  InfoCache() = default;
  InfoCache(const InfoCache&) = delete;
  InfoCache& operator=(const InfoCache&) = delete;
  ~InfoCache() {
    for (auto& list : lists_) {
      for (Entry* entry = list.load(std::memory_order_relaxed); entry != nullptr;) {
        delete std::exchange(entry, entry->next);
      }
    }
  }

  /// The remembered reply, which lives as long as the cache, or nullptr.
  [[gnu::always_inline]] const wire::InfoReply* known(const Key& key) const {
    // Acquire: pairs with the release of the exchange in add().
    const Entry* const entry = find(lists_[position(key)].load(std::memory_order_acquire), key);
    return entry != nullptr ? &entry->reply : nullptr;
  }

  /// The remembered reply, or the reply that `fetch` returns (std::optional<wire::InfoReply>), remembered
  /// from then on. nullptr if `fetch` returned nothing.
  template <class Fetch>
  const wire::InfoReply* get(const Key& key, Fetch&& fetch) {
    const wire::InfoReply* const reply = known(key);
    return reply != nullptr ? reply : add(key, fetch());
  }

  /// In the child of a fork: starts empty. The old entries are never freed: this runs once per fork.
  void forget() { std::construct_at(this); }

 private:
  struct Entry {
    Key key;
    wire::InfoReply reply;
    Entry* next;
  };

  /// Another thread may have added the same key meanwhile. Then there are two entries, and both stay valid.
  const wire::InfoReply* add(const Key& key, std::optional<wire::InfoReply> reply) {
    if (!reply) return nullptr;
    std::atomic<Entry*>& list = lists_[position(key)];
    auto* const entry = new Entry{key, std::move(*reply), list.load(std::memory_order_relaxed)};
    // Release: pairs with the acquire in known(). The entries before it were released by the threads that
    // added them, and this exchange continues their release sequence.
    while (!list.compare_exchange_weak(entry->next, entry, std::memory_order_acq_rel)) {
    }
    return &entry->reply;
  }

  static std::size_t position(std::uint64_t key) { return key % kLists; }
  template <class First, class Second>
  static std::size_t position(const std::pair<First, Second>& key) {
    return (std::uint64_t{key.first} + key.second) % kLists;
  }
  static const Entry* find(const Entry* entry, const Key& key) {
    while (entry != nullptr && entry->key != key) entry = entry->next;
    return entry;
  }

  std::array<std::atomic<Entry*>, kLists> lists_{};
};

}  // namespace fairgv::icd
