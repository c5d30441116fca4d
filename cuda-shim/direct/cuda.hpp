// cuda.h with its functions by the names under which they are exported: cuMemAlloc_v2, cuMemcpy_ptds. Every
// file of this room that needs cuda.h includes it here.
#pragma once

#ifndef __CUDA_API_VERSION_INTERNAL
#define __CUDA_API_VERSION_INTERNAL
#endif
#include <cuda.h>
