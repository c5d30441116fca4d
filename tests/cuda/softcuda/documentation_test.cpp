// docs/SOFTCUDA.md lists the entry points that are not served.
#include "tests/cuda/unserved_names.hpp"

TEST(SoftCudaDocumentation, ListsEveryEntryPointThatIsNotServed) {
  expect_lists_unserved_names(FAIRGV_SOFTCUDA_DOC);
}
