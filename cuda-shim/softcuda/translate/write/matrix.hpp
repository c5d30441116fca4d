// Matrices in the registers of a warp (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions"): mma
// and wmma. Their layouts and arithmetic are in prelude/matrix.cl. Kernels with them are stepped.
#pragma once

#include <cstdint>
#include <string>

#include "cuda-shim/softcuda/translate/write/writer.hpp"

namespace fairgv::softcuda {

/// A product needs all lanes' registers: it stops, like a warp operation.
bool is_matrix_product(const FlatInstruction& instruction);
/// A wmma.load or wmma.store. All lanes of a warp must be there before it and after it, which the flattening
/// sees to.
bool is_matrix_transfer(const FlatInstruction& instruction);

/// Bytes that a lane has for its registers of A and B.
inline constexpr std::uint64_t kMatrixArea = 64;

/// Before the stop: puts the registers of A and B into the lane's area, at the C expression `area`.
void give_matrices(Writer& writer, const FlatInstruction& instruction, const std::string& area);
/// After it: computes this lane's part of D. `areas`: the area of the warp's first lane, `stride`: from one
/// to the next.
void multiply_matrices(Writer& writer, const FlatInstruction& instruction, const std::string& areas,
                       std::uint64_t stride);

void write_matrix_transfer(Writer& writer, const FlatInstruction& instruction);

}  // namespace fairgv::softcuda
