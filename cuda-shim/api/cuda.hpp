// The CUDA Driver API's own declarations, in the one way that every file here includes them.
#pragma once

#include <cuda.h>
#include <cudaProfiler.h>
