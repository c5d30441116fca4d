// The names that people know for kernels compiled from C++.
#pragma once

#include <string>

namespace fairgv::vgpu {

/// "image::blur" of the symbol of `template <int N> void image::(anonymous namespace)::blur<N>(float*)`: with
/// its namespaces, but for those without a name, and without arguments. A text that is no symbol of C++ stays
/// as it is.
std::string kernel_name(const std::string& symbol);

}  // namespace fairgv::vgpu
