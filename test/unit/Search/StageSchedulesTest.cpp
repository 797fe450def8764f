#include "compiler/Search/StageSchedules.h"

#include <algorithm>
#include <catch2/catch.hpp>

using namespace weft;

namespace {
std::vector<ScheduleTime> rank(size_t blocks, int64_t microbatches, double secondsPerByte = 0) {
  std::vector<BlockTimes> times(blocks, {1, 1, 1});
  return rankSchedules(times, std::vector<int64_t>(blocks - 1, 1), 2, microbatches, secondsPerByte);
}
double getSeconds(const std::vector<ScheduleTime> &times, const std::string &name) {
  auto found = std::find_if(times.begin(), times.end(),
                            [&](const ScheduleTime &time) { return time.name == name; });
  return found == times.end() ? -1 : found->seconds;
}
} // namespace

TEST_CASE("eight equal blocks on two groups: gaps as in closed forms") {
  std::vector<ScheduleTime> times = rank(8, 4);
  double work = 4 * 4 * 3; // microbatches, blocks of a group, seconds
  CHECK(getSeconds(times, "1f1b") == Approx(work + 4 * 3));
  CHECK(getSeconds(times, "gpipe") == Approx(work + 4 * 3));
  CHECK(getSeconds(times, "interleaved") == Approx(work + 2 * 3));
  CHECK(getSeconds(times, "zb-h1") < getSeconds(times, "1f1b"));
  CHECK(getSeconds(times, "zb-v") < getSeconds(times, "interleaved"));
  CHECK(std::is_sorted(times.begin(), times.end(),
                       [](const auto &a, const auto &b) { return a.seconds < b.seconds; }));
}

TEST_CASE("what cannot be had is not listed") {
  CHECK(getSeconds(rank(3, 4), "zb-v") < 0);        // four stages of three blocks
  CHECK(getSeconds(rank(8, 3), "interleaved") < 0); // no multiple of the groups
  CHECK(getSeconds(rank(8, 3), "1f1b") > 0);
  CHECK(getSeconds(rank(8, 3), "dualpipev") < 0); // fewer than twice the groups
}

TEST_CASE("messages weigh more where there are more of them") {
  std::vector<ScheduleTime> quick = rank(8, 8), slow = rank(8, 8, /*secondsPerByte=*/10);
  auto getRatio = [](const std::vector<ScheduleTime> &times) {
    return getSeconds(times, "interleaved") / getSeconds(times, "1f1b");
  };
  CHECK(getRatio(quick) < 1);
  CHECK(getRatio(slow) > 1);
}
