// Errors as values: fallible functions of FairGV return them instead of throwing.
//
// An Error is one line that says what failed, where, and what to do; it is meant to be shown to a person.
// Exceptions are left for programming errors and never cross a C entry point.
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <variant>

namespace fairgv {

struct Error {
  std::string message;
};

/// "what: strerror(errno)", for a system call that has just failed.
inline Error system_error(std::string what, int code = errno) {
  return Error{std::move(what) + ": " + std::strerror(code)};
}

/// Holds a T or an Error. Check with `if (!result)`, then take `value()` or `error()`.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace fairgv

/// In a function that returns a Result: `name` becomes what the expression returns, unless that is an Error:
/// then the function returns the Error. Two statements: not below an `if` without braces.
#define FAIRGV_TRY(name, ...) \
  auto name = (__VA_ARGS__);  \
  if (!name) return name.error()

/// The same for an expression that has no value, or whose value is not wanted.
#define FAIRGV_CHECK(...) \
  if (auto checked = (__VA_ARGS__); !checked) return checked.error()
