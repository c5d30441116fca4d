// docs/OPENCL.md lists the front end's gaps: every mask and every entry point that is not served.
#include <gtest/gtest.h>

#include <regex>
#include <string>

#include "icd/masks.hpp"
#include "tests/unit/icd/source_text.hpp"

namespace fairgv::icd {
namespace {

TEST(Documentation, NamesEveryMaskWithItsReason) {
  const std::string page = text_of(kRoot / "docs/OPENCL.md");
  for (const Mask& mask : device_masks()) {
    const std::regex row("\\| `" + std::string(mask.name) + "` \\| [^|]* \\| " + std::string(mask.reason) +
                         " \\|");
    EXPECT_TRUE(std::regex_search(page, row)) << mask.name;
  }
}

TEST(Documentation, NamesEveryEntryPointThatIsNotServedWithItsError) {
  const std::string page = text_of(kRoot / "docs/OPENCL.md");
  const std::string source = text_of(kRoot / "icd/api/unserved.cpp");
  const std::regex entry("FAIRGV_UNSERVED\\((cl\\w+), (CL_\\w+)\\)");
  int count = 0;
  for (std::sregex_iterator each(source.begin(), source.end(), entry), end; each != end; ++each, ++count) {
    const std::string row = "| `" + (*each)[1].str() + "` | `" + (*each)[2].str() + "` |";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
  EXPECT_GT(count, 10);
}

}  // namespace
}  // namespace fairgv::icd
