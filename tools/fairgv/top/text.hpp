// The drawing tools of `fairgv top`: lines of styled text, numbers in few columns, and bars.
//
// Pure logic, nothing of a terminal in it. Text from outside must be ASCII when it gets here (plain_ascii()),
// so that every character is one column wide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairgv::tools::top {

/// How a piece of a line is to be shown; the terminal decides what that means.
enum class Style { plain, title, heading, dim, used, excess, entitled, chosen, warning };

struct Span {
  std::string text;
  Style style = Style::plain;

  bool operator==(const Span&) const = default;
};

using Line = std::vector<Span>;

/// The characters that the terminal can show: ASCII; the solid block that also the Linux console's fonts
/// have; or the blocks of eighths as well.
enum class Glyphs { ascii, blocks, eighths };

/// Columns of UTF-8 text all of whose characters are one column wide.
std::size_t width_of(std::string_view text);
std::size_t width_of(const Line& line);
/// Cut or filled up with spaces to exactly `width` columns. Cut text ends with '~'.
std::string pad_right(std::string_view ascii, std::size_t width);
std::string pad_left(std::string_view ascii, std::size_t width);
/// A name that fits `width` columns: a longer one loses its middle, for names that begin alike often end
/// apart.
std::string fitting_name(std::string_view ascii, std::size_t width);
/// Each character that is not ASCII becomes '?'.
std::string plain_ascii(std::string_view utf8);
/// Without styles.
std::string text_of(const Line& line);

/// "33.4%", " 100%": five columns.
std::string percent(double share);
/// "850us", "1.2ms", "12ms", "1.2s", "100s": at most five columns.
std::string short_time(std::uint64_t ns);
/// "0", "512B", "1.5G", "512M": at most four columns.
std::string short_bytes(std::uint64_t bytes);
/// "3d 04:05" or "4:05:06": of a daemon's life.
std::string long_time(double seconds);

/// Where a bar has marks, 0 to 1: none for all or nothing.
struct BarMarks {
  double entitled = 0;  // a line
  double min = 0;       // '['
  double max = 1;       // ']'
};

/// `width` columns: filled as far as `share`, with marks. The part that is filled beyond the mark of
/// `entitled` is `excess`. Of marks in the same column, that of `entitled` is shown, or else that of `max`.
Line bar(double share, const BarMarks& marks, std::size_t width, Glyphs glyphs);

}  // namespace fairgv::tools::top
