// Variables of device code by the program's names for them.
#ifndef FAIRGV_CUDA_SHIM_CUDART_SYMBOL_HPP
#define FAIRGV_CUDA_SHIM_CUDART_SYMBOL_HPP

#include "cuda-shim/cudart/runtime.hpp"

namespace fairgv::cudart {

// Address and size of the variable in the current context; cudaErrorInvalidSymbol if no variable of that
// address was registered. Loads the image of the variable if need be.
Status symbol_address(const Driver& driver, const void* symbol, void*& address, std::size_t& size);
// The same for `count` bytes of the variable from an offset on; cudaErrorInvalidValue if they do not all lie
// within it.
Status symbol_range(const Driver& driver, const void* symbol, std::size_t count, std::size_t offset,
                    void*& memory);

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_SYMBOL_HPP
