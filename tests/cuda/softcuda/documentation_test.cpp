// docs/SOFTCUDA.md lists what is not served.
#include "tests/cuda/unserved_names.hpp"

TEST(SoftCudaDocumentation, ListsEveryEntryPointThatIsNotServed) {
  expect_lists_unserved_names(FAIRGV_SOFTCUDA_DOC);
}
