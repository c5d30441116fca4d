#include "tests/fuzz/records.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fairgv::fuzz {
namespace {

constexpr std::size_t kHeaderBytes = 4;
constexpr std::size_t kMostRecords = 256;

std::size_t below(std::size_t count, Random& random) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

std::uint16_t number_at(Input input, std::size_t at) {
  return static_cast<std::uint16_t>(input[at] | (input[at + 1] << 8));
}

void append_number(Bytes& to, std::size_t number) {
  to.push_back(static_cast<std::uint8_t>(number));
  to.push_back(static_cast<std::uint8_t>(number >> 8));
}

/// A number that code often mishandles, or a number that looks like an id.
std::uint64_t tempting(Random& random) {
  constexpr std::array<std::uint64_t, 14> kEdges{
      0,           1,          2,           3,          64,         4096,       1U << 20,
      0x7FFF'FFFF, 1ULL << 31, 0xFFFF'FFFF, 1ULL << 32, 1ULL << 63, UINT64_MAX, UINT64_MAX - 63};
  switch (below(3, random)) {
    case 0:
      return kEdges.at(below(kEdges.size(), random));
    case 1:
      return (std::uint64_t{1} << 32) | below(40, random);  // generation 1
    default:
      return random() >> below(64, random);
  }
}

void mutate_word(Bytes& bytes, Random& random) {
  const std::size_t width = below(2, random) == 0 ? 4 : 8;
  if (bytes.size() < width) return mutate_bytes(bytes, random);
  const std::size_t at = below(bytes.size() / width, random) * width;
  std::uint64_t word = 0;
  std::memcpy(&word, &bytes[at], width);
  switch (below(3, random)) {
    case 0:
      word = tempting(random);
      break;
    case 1:
      word ^= std::uint64_t{1} << below(8 * width, random);
      break;
    default:
      word += below(2, random) == 0 ? 1 : UINT64_MAX;
      break;
  }
  std::memcpy(&bytes[at], &word, width);
}

}  // namespace

void expect(bool so, std::string_view what) {
  if (so) return;
  std::fprintf(stderr, "does not hold: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

std::vector<Record> split(Input input) {
  std::vector<Record> records;
  while (input.size() >= kHeaderBytes && records.size() < kMostRecords) {
    const std::size_t length = std::min<std::size_t>(number_at(input, 2), input.size() - kHeaderBytes);
    const Input bytes = input.subspan(kHeaderBytes, length);
    records.push_back({number_at(input, 0), {bytes.begin(), bytes.end()}});
    input = input.subspan(kHeaderBytes + length);
  }
  return records;
}

Bytes joined(const std::vector<Record>& records) {
  Bytes all;
  for (const Record& record : records) {
    const std::size_t length = std::min<std::size_t>(record.bytes.size(), UINT16_MAX);
    append_number(all, record.kind);
    append_number(all, length);
    all.insert(all.end(), record.bytes.begin(), record.bytes.begin() + static_cast<std::ptrdiff_t>(length));
  }
  return all;
}

void mutate_records(Bytes& input, Random& random) {
  std::vector<Record> records = split(input);
  if (records.empty()) return mutate_bytes(input, random);
  const std::size_t which = below(records.size(), random);
  const auto place = records.begin() + static_cast<std::ptrdiff_t>(which);
  const std::size_t other = below(records.size(), random);
  switch (below(8, random)) {
    case 0:
      records.erase(place);
      break;
    case 1:
      records.insert(place, Record(records[other]));
      break;
    case 2:
      std::swap(records[which], records[other]);
      break;
    case 3:
      mutate_bytes(place->bytes, random);
      break;
    default:
      mutate_word(place->bytes, random);
      break;
  }
  input = joined(records);
}

void mutate_bytes(Bytes& input, Random& random) {
  const std::size_t at = below(input.size() + 1, random);
  const auto place = input.begin() + static_cast<std::ptrdiff_t>(at);
  const auto byte = static_cast<std::uint8_t>(random());
  if (at == input.size() || below(4, random) == 0) {
    input.insert(place, 1 + below(8, random), byte);
  } else if (below(4, random) == 0) {
    input.erase(place, place + static_cast<std::ptrdiff_t>(
                                   1 + below(std::min<std::size_t>(input.size() - at, 8), random)));
  } else {
    *place = byte;
  }
}

}  // namespace fairgv::fuzz
