// Inputs that are sequences: each record is a kind and a length, 16 bits each, and as many bytes.
#pragma once

#include "tests/fuzz/target.hpp"

namespace fairgv::fuzz {

struct Record {
  std::uint16_t kind = 0;
  Bytes bytes;
};

/// Splits any bytes into records: a length beyond the end means the rest.
std::vector<Record> split(Input input);
Bytes joined(const std::vector<Record>& records);

/// Deletes, repeats, moves or changes records, or a word of one.
void mutate_records(Bytes& input, Random& random);

/// Changes, inserts or deletes a few bytes.
void mutate_bytes(Bytes& input, Random& random);

}  // namespace fairgv::fuzz
