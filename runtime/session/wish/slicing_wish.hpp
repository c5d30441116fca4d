// A program's wish for its long launches (FAIRGV_SLICE). People set it for kernels that must not be cut, for
// tests and for measurements. Nearly always there is no wish, and the configuration decides.
//
// It travels as text: environment, hello, the worker's arguments.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/result.hpp"

namespace fairgv::session {

struct SlicingWish {
  enum class Kind {
    as_configured,
    off,     // its launches are never cut
    always,  // they are cut to the slice also while nobody else wants the device
    random,  // every launch is cut at random; `number` is the seed
    blocks   // every launch is cut into parts of about `number` work-groups, at least one
  };
  Kind kind = Kind::as_configured;
  std::uint64_t number = 0;

  bool operator==(const SlicingWish&) const = default;
};

/// Reads "off", "always", "random:SEED" or "blocks:N"; no text is no wish. `source` names where the text came
/// from, for the error's text.
Result<SlicingWish> parse_slicing_wish(const std::string& text, const std::string& source);

/// The text that parse_slicing_wish() reads as the same wish.
std::string to_text(const SlicingWish& wish);

}  // namespace fairgv::session
