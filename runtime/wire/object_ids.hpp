// The objects that a call names, found by the types of its fields.
#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

#include "runtime/wire/calls/call.hpp"
#include "runtime/wire/codec.hpp"
#include "runtime/wire/ids.hpp"

namespace fairgv::wire {

/// A field that is no id and may hold one: it has a function object_named_in() beside it.
template <class T>
concept MayNameObject = requires(const T& field) {
  { object_named_in(field) } -> std::same_as<ObjectId>;
};

/// Calls visit(ObjectId) with each id in the message, also several times with one; with no empty ids.
template <class T, class Visit>
void each_object_id(const T& field, const Visit& visit) {
  if constexpr (std::is_same_v<T, ObjectId>) {
    if (field) visit(field);
  } else if constexpr (MayNameObject<T>) {
    if (const ObjectId id = object_named_in(field)) visit(id);
  } else if constexpr (detail::Sequence<T>::value) {
    using Element = std::remove_cvref_t<decltype(*field.data())>;
    if constexpr (Message<Element> || MayNameObject<Element> || std::is_same_v<Element, ObjectId>) {
      for (const Element& element : field) each_object_id(element, visit);
    }
  } else if constexpr (Message<T>) {
    std::apply([&](const auto&... part) { (each_object_id(part, visit), ...); }, field.fields());
  }
}

}  // namespace fairgv::wire
