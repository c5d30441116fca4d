// The page on OpenCL names each extension whose functions are served.
#include <gtest/gtest.h>

#include <string>

#include "runtime/wire/extension_signatures.hpp"
#include "tests/unit/docs/tree.hpp"

namespace fairgv::docs {
namespace {

TEST(Extensions, WithFunctionsStandOnThePageOnOpenCl) {
  const std::string page = text_of(kRoot / "docs/OPENCL.md");
  for (const wire::ExtensionSignature& row : wire::kExtensions) {
    if (row.served_by == wire::ServedBy::nothing_is_needed) continue;
    EXPECT_NE(page.find("`" + std::string(row.extension) + "`"), std::string::npos) << row.extension;
  }
}

}  // namespace
}  // namespace fairgv::docs
