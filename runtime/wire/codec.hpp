// Turns messages into bytes and bytes into messages: one codec for both sides of a session.
//
// A message is a struct that lists its fields once with FAIRGV_FIELDS. Supported fields: trivially copyable
// values (integers, enumerations, ids, small structs of those without padding that matters), std::string_view
// and std::string, std::span<const T> and std::vector<T> of such values, and std::vector of messages. Values
// lie at their natural alignment (at most 8) from the start of the message, so a message must be decoded from
// memory that is aligned to 8 bytes. Views in a decoded message point into the bytes it was decoded from.
//
// Decoding trusts nothing: every length is checked against the remaining bytes, and bytes left over are an
// error. The bytes must be private (copied out of shared memory) before decode() looks at them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

/// Lists the fields of a message in wire order.
#define FAIRGV_FIELDS(...)        \
  auto fields() {                 \
    return std::tie(__VA_ARGS__); \
  }                               \
  auto fields() const {           \
    return std::tie(__VA_ARGS__); \
  }

namespace fairgv::wire {

template <class T>
concept Message = requires(T& message) {
  message.fields();
};

/// Counts the bytes that a message takes.
class Measurer {
 public:
  template <class T>
  void value(const T&) {
    align(alignof(T));
    size_ += sizeof(T);
  }
  void bytes(const void*, std::size_t count) {
    align(8);
    size_ += count;
  }
  std::size_t size() const { return size_; }

 private:
  void align(std::size_t to) { size_ = (size_ + to - 1) & ~(to - 1); }
  std::size_t size_ = 0;
};

/// Writes a message into memory of the size that Measurer found, aligned to 8 bytes. Padding is zeroed, so
/// that nothing of the writer's memory leaks.
class Writer {
 public:
  explicit Writer(std::byte* to) : start_(to), at_(to) {}

  template <class T>
  void value(const T& v) {
    align(alignof(T));
    std::memcpy(at_, &v, sizeof(T));
    at_ += sizeof(T);
  }
  void bytes(const void* from, std::size_t count) {
    align(8);
    if (count != 0) std::memcpy(at_, from, count);
    at_ += count;
  }

 private:
  void align(std::size_t to) {
    while ((static_cast<std::size_t>(at_ - start_) & (to - 1)) != 0) *at_++ = std::byte{0};
  }
  std::byte* start_;
  std::byte* at_;
};

/// Reads a message; remembers the first failure.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> from) : from_(from) {}

  template <class T>
  void value(T& v) {
    const std::byte* p = take(alignof(T), sizeof(T));
    if (p != nullptr) std::memcpy(static_cast<void*>(&v), p, sizeof(T));
  }
  /// `count` elements of `size` bytes each, or nullptr if they are not there.
  const std::byte* array(std::uint64_t count, std::size_t size) {
    if (size != 0 && count > (from_.size() - at_) / size) {
      ok_ = false;
      return nullptr;
    }
    return take(8, static_cast<std::size_t>(count) * size);
  }
  std::size_t left() const { return from_.size() - at_; }
  bool ok() const { return ok_; }
  bool finished() const { return ok_ && at_ == from_.size(); }

 private:
  const std::byte* take(std::size_t align_to, std::size_t size) {
    const std::size_t start = (at_ + align_to - 1) & ~(align_to - 1);
    if (!ok_ || start > from_.size() || size > from_.size() - start) {
      ok_ = false;
      return nullptr;
    }
    at_ = start + size;
    return from_.data() + start;
  }
  std::span<const std::byte> from_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

namespace detail {

template <class T>
struct Sequence : std::false_type {};
template <class T>
struct Sequence<std::span<const T>> : std::true_type {};
template <class T>
struct Sequence<std::vector<T>> : std::true_type {};
template <>
struct Sequence<std::string_view> : std::true_type {};
template <>
struct Sequence<std::string> : std::true_type {};

template <class Sink, class T>
void put(Sink& sink, const T& field) {
  if constexpr (Sequence<T>::value) {
    using Element = std::remove_const_t<std::remove_pointer_t<decltype(field.data())>>;
    sink.value(std::uint64_t{field.size()});
    if constexpr (Message<Element>) {
      for (const Element& element : field) put(sink, element);
    } else {
      static_assert(std::is_trivially_copyable_v<Element> && alignof(Element) <= 8);
      sink.bytes(field.data(), field.size() * sizeof(Element));
    }
  } else if constexpr (Message<T>) {
    std::apply([&](const auto&... f) { (put(sink, f), ...); }, field.fields());
  } else {
    static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && alignof(T) <= 8);
    sink.value(field);
  }
}

template <class T>
void get(Reader& reader, T& field) {
  if constexpr (Sequence<T>::value) {
    using Element = std::remove_const_t<std::remove_pointer_t<decltype(field.data())>>;
    std::uint64_t count = 0;
    reader.value(count);
    if constexpr (Message<Element>) {
      // Each element takes at least one byte, so a count beyond the remaining bytes cannot make us allocate.
      for (std::uint64_t i = 0; reader.ok() && i < count; ++i) {
        if (reader.left() == 0) {
          reader.array(1, 1);  // marks the reader as failed
          return;
        }
        get(reader, field.emplace_back());
      }
    } else {
      const std::byte* first = reader.array(count, sizeof(Element));
      if (first == nullptr) return;
      const auto* elements = reinterpret_cast<const Element*>(first);
      field = T(elements, elements + count);
    }
  } else if constexpr (Message<T>) {
    std::apply([&](auto&... f) { (get(reader, f), ...); }, field.fields());
  } else {
    reader.value(field);
  }
}

}  // namespace detail

/// Bytes that `message` takes on the wire.
template <Message M>
std::size_t encoded_size(const M& message) {
  Measurer measurer;
  detail::put(measurer, message);
  return measurer.size();
}

/// Writes `message` to `to`, which has encoded_size(message) bytes and is aligned to 8.
template <Message M>
void encode(const M& message, std::byte* to) {
  Writer writer(to);
  detail::put(writer, message);
}

/// Reads a message from private memory aligned to 8 bytes. False if the bytes are not exactly one such
/// message; `message` is then in a valid but unspecified state.
template <Message M>
[[nodiscard]] bool decode(std::span<const std::byte> from, M& message) {
  Reader reader(from);
  detail::get(reader, message);
  return reader.finished();
}

}  // namespace fairgv::wire
