// prelude/*.cl as texts: built into the library, so that nothing has to be found at run time.
#pragma once

#include <string_view>

namespace fairgv::softcuda {

extern const std::string_view kPreludeBase;
extern const std::string_view kPreludeInteger;
extern const std::string_view kPreludeFloat;
extern const std::string_view kPreludeAtomic;
extern const std::string_view kPreludeMatrix;
extern const std::string_view kPreludeStepped;
extern const std::string_view kPreludeDouble;
extern const std::string_view kPreludeGrid;
extern const std::string_view kPreludeHeap;
extern const std::string_view kPreludeImage;

}  // namespace fairgv::softcuda
