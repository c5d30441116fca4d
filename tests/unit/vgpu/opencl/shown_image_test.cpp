// A session's image as people see it: what the journal shows, also when the file is damaged.
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "runtime/control/checkpoint/image_report.hpp"
#include "runtime/vgpu/journal/shown.hpp"
#include "tests/unit/vgpu/opencl/moving_fixture.hpp"

namespace fairgv::vgpu {
namespace {

struct ShownImage : MovingSession {};

TEST_F(ShownImage, ShowsWhatTheJournalShows) {
  const ObjectId buffer = make_buffer(std::vector<float>(100, 1.0F));
  const ObjectId kernel = make_kernel("scale");
  scale(queue, kernel, buffer, 2.0F, 100);
  EXPECT_EQ(read(buffer, 100)[0], 2.0F);
  const auto image = leave_worker();
  ASSERT_TRUE(image) << image.error().message;
  const auto report = control::report_of_image(image->file);
  ASSERT_TRUE(report) << report.error().message;
  session::JournalReport live = shown(backend.journal());
  live.bytes = report->journal.bytes;  // the one counts its own memory, too
  EXPECT_EQ(to_text(report->journal), to_text(live));
  EXPECT_TRUE(std::any_of(live.calls.begin(), live.calls.end(),
                          [](const auto& call) { return call.needs.size() > 1; }));
  const auto found = std::find_if(report->objects.begin(), report->objects.end(), [&](const auto& object) {
    return object.object == buffer.index() && object.generation == buffer.generation();
  });
  ASSERT_NE(found, report->objects.end());
  EXPECT_EQ(found->made_by, "CreateBuffer");
  EXPECT_EQ(found->contents, 400U);
  EXPECT_FALSE(report->facts);
  leaves.back()->go_on();
}

TEST_F(ShownImage, ADamagedOneIsOneLineOrShowsWhatIsThere) {
  const ObjectId buffer = make_buffer(std::vector<float>(10, 1.0F));
  const ObjectId kernel = make_kernel("scale");
  scale(queue, kernel, buffer, 2.0F, 10);
  const auto image = leave_worker();
  ASSERT_TRUE(image) << image.error().message;
  const int file = image->file.get();
  std::mt19937_64 random(std::random_device{}());
  const std::uint64_t seed = random();
  SCOPED_TRACE("seed " + std::to_string(seed));
  random.seed(seed);
  struct stat found {};
  ASSERT_EQ(::fstat(file, &found), 0);
  int refused = 0;
  for (int round = 0; round < 3'000; ++round) {
    const auto at = static_cast<off_t>(random() % static_cast<std::uint64_t>(found.st_size));
    unsigned char before = 0;
    ASSERT_EQ(::pread(file, &before, 1, at), 1);
    const auto after = static_cast<unsigned char>(before ^ (1U + random() % 255));
    ASSERT_EQ(::pwrite(file, &after, 1, at), 1);
    const auto report = control::report_of_image(image->file);
    if (!report) {
      ++refused;
      EXPECT_EQ(report.error().message.find('\n'), std::string::npos) << report.error().message;
    }
    ASSERT_EQ(::pwrite(file, &before, 1, at), 1);
  }
  EXPECT_GT(refused, 0);
  ASSERT_EQ(::ftruncate(file, found.st_size - 16), 0);
  const auto cut = control::report_of_image(image->file);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().message, "is a damaged image: an image without an end");
  leaves.back()->go_on();
  EXPECT_EQ(finish(queue), CL_COMPLETE);  // a launch that is left at its gate would keep a thread of PoCL's
}

}  // namespace
}  // namespace fairgv::vgpu
