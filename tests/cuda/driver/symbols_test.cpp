// The library's exports, compared with the list in docs/CUDA.md.
#include <gtest/gtest.h>

#include "tests/cuda/exported_names.hpp"
#include "tests/cuda/unserved_names.hpp"

TEST(CudaLibrary, ExportsExactlyWhatTheToolkitsOwnLibraryExports) {
  const auto wanted = exported_by(FAIRGV_CUDA_STUB);
  if (wanted.empty()) GTEST_SKIP() << "no stub library or no nm: " << FAIRGV_CUDA_STUB;
  EXPECT_EQ(wanted, exported_by(FAIRGV_CUDA_LIBRARY));
}

TEST(CudaDocumentation, ListsEveryEntryPointThatIsNotServed) {
  expect_lists_unserved_names(FAIRGV_CUDA_DOC);
}
