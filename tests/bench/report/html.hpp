// Text and pictures as parts of a page that is both HTML and well-formed XML.
#pragma once

#include <string>
#include <string_view>

namespace fairgv::bench::report {

/// For element content and for attribute values in double quotes. Bytes that are not UTF-8, and control
/// characters other than tab and line feed, become U+FFFD: a page may not have them.
std::string escaped(std::string_view text);

/// For a data: address.
std::string base64(std::string_view bytes);

}  // namespace fairgv::bench::report
