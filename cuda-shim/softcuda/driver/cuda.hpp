// The CUDA Driver API's own declarations, in the one way that every file here includes them: what the header
// declares is what the shared library exports (everything else is hidden), and its warnings are not ours.
#pragma once

#pragma GCC visibility push(default)
#include <cuda.h>
#pragma GCC visibility pop
