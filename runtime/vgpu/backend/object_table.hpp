// The session's objects by the ids that the front end chose.
//
// Every id that comes over the wire is looked up here: index, generation and kind must fit, or the front end
// broke the protocol. The table grows with the largest index used, up to a limit that the front end knows and
// keeps. The loop thread's alone.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/base/result.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::vgpu {

/// `Object` has a virtual destructor, an `id`, which is set here, and a `kind()`; each class T derived from
/// it that is looked up has a static `kKind` and `kName`.
template <class Object>
class ObjectTable {
 public:
  static constexpr std::uint32_t kMost = std::uint32_t{1} << 22;

  explicit ObjectTable(std::uint32_t limit = kMost) : limit_(limit) {}

  Result<void> insert(wire::ObjectId id, std::shared_ptr<Object> object) {
    if (id.generation() == 0 || id.index() >= limit_) {
      return Error{fmt::format("object id {:#x} is impossible or beyond {} objects", id.raw, limit_)};
    }
    if (id.index() >= entries_.size()) {
      entries_.resize(std::min<std::size_t>(
          limit_, std::max<std::size_t>(id.index() + std::size_t{1}, 2 * entries_.size())));
    }
    Entry& entry = entries_[id.index()];
    if (entry.object) return Error{fmt::format("object id {:#x} is already in use", id.raw)};
    object->id = id;
    entry = {id.generation(), std::move(object)};
    return {};
  }

  /// The object, of class T; an Error if the id is unknown, stale, or another kind of object's.
  template <class T>
  Result<std::shared_ptr<T>> get(wire::ObjectId id) const {
    const Entry* entry = find(id);
    if (entry == nullptr || entry->object->kind() != T::kKind) {
      return Error{fmt::format("{:#x} names no {}", id.raw, T::kName)};
    }
    return std::static_pointer_cast<T>(entry->object);
  }

  /// Some object of class T for which `is_wanted` holds, or null. Looks at all objects.
  template <class T, class Predicate>
  std::shared_ptr<T> find_if(Predicate&& is_wanted) const {
    for (const Entry& entry : entries_) {
      if (!entry.object || entry.object->kind() != T::kKind) continue;
      auto object = std::static_pointer_cast<T>(entry.object);
      if (is_wanted(*object)) return object;
    }
    return nullptr;
  }

  /// Calls `visit` with each object of class T.
  template <class T, class Visit>
  void each(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.object && entry.object->kind() == T::kKind) visit(static_cast<T&>(*entry.object));
    }
  }

  /// The object, whatever its class; null: there is none.
  std::shared_ptr<Object> find_any(wire::ObjectId id) const {
    const Entry* entry = find(id);
    return entry == nullptr ? nullptr : entry->object;
  }

  /// Calls visit(id, object) with each id that names an object: several may name the same.
  template <class Visit>
  void each_id(Visit&& visit) const {
    for (std::uint32_t index = 0; index < entries_.size(); ++index) {
      const Entry& entry = entries_[index];
      if (entry.object) visit(wire::ObjectId::make(index, entry.generation), *entry.object);
    }
  }

  /// Calls `visit` with each object.
  template <class Visit>
  void each_object(Visit&& visit) const {
    for (const Entry& entry : entries_) {
      if (entry.object) visit(*entry.object);
    }
  }

  /// Takes an object out, whatever its class.
  Result<std::shared_ptr<Object>> take(wire::ObjectId id) {
    if (find(id) == nullptr) return Error{fmt::format("{:#x} names no object", id.raw)};
    return std::move(entries_[id.index()].object);
  }

 private:
  struct Entry {
    std::uint32_t generation = 0;
    std::shared_ptr<Object> object;
  };

  const Entry* find(wire::ObjectId id) const {
    if (id.index() >= entries_.size()) return nullptr;
    const Entry& entry = entries_[id.index()];
    return entry.object && entry.generation == id.generation() ? &entry : nullptr;
  }

  const std::uint32_t limit_;
  std::vector<Entry> entries_;
};

}  // namespace fairgv::vgpu
