// The kernels of a random CUDA program, as PTX.
#pragma once

#include <cstdint>
#include <string>

namespace fairgv::moves::cuda {

inline constexpr unsigned kBlock = 64;       // threads of a block, of all kernels but those for images
inline constexpr unsigned kImageWidth = 32;  // the same of those for images, one block for each row

/// A module with variables, whose kernels compute differently for each `salt`:
///
///   mix(data, n, a)            data[i] = data[i] * a + i + constant + salt
///   combine(out, in, n, step)  out[i] = out[i] * 3 ^ in[i * step % n]; out and in are different memory
///   work(data, n, rounds)      so many steps of a generator of random numbers on data[i]
///   reduce(out, in, n)         out[0] += the sum of in, by way of shared memory
///   bump(amount)               counter += amount, by each thread
///   remember(address)          place = address
///   recall(n, a)               the memory at `place`: data[i] = data[i] * a + 1
///   paint(surface, r)          each texel += r * (x + y)
///   look(texture, out)         out[y * width + x] += the texel
///   say(number)                prints a line
std::string kernels(std::uint32_t salt);

}  // namespace fairgv::moves::cuda
