// Known segments of links are found again, and noise does not make segments.
#include "profile/links.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "profile/profile.hpp"
#include "profile/verify.hpp"
#include "scenarios/device/device.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/profile/synthetic.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::profile::links_test {
namespace {

/// Eager messages, rendezvous from 4 KiB on, and a second path of larger bandwidth from 1 MiB on.
const LinkCurve kLink{
    Transfer::one_way,
    2,
    {{{8}, {1e-6}, {4e9}}, {{8192}, {5e-6}, {9e9}}, {{2097152}, {40e-6}, {12e9}}}};

/// 8 B to 64 MiB by factors of 2, each time off by up to `noise`.
std::vector<LinkPoint> points_of(const LinkCurve& link, double noise = 0, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<LinkPoint> points;
  for (double size = 8; size <= 67108864; size *= 2) {
    const double off = noise * (static_cast<double>(random()) / 2147483648.0 - 1);
    points.push_back({{size}, (1 + off) * message_time(link, {size})});
  }
  return points;
}

TEST(LinkFit, FindsKnownSegmentsAgain) {
  const std::vector<LinkSegment> segments = fit_segments(points_of(kLink));
  ASSERT_EQ(segments.size(), kLink.segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    EXPECT_EQ(segments[i].from, kLink.segments[i].from);
    EXPECT_NEAR(segments[i].latency / kLink.segments[i].latency, 1, 1e-6);
    EXPECT_NEAR(segments[i].bandwidth / kLink.segments[i].bandwidth, 1, 1e-6);
  }
}

TEST(LinkFit, FindsThemUnderNoise) {
  int found = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::vector<LinkSegment> segments = fit_segments(points_of(kLink, 0.03, seed));
    found += segments.size() >= 3 ? 1 : 0;
    const LinkCurve again{Transfer::one_way, 2, segments};
    for (const LinkPoint& point : points_of(kLink))
      EXPECT_NEAR(message_time(again, point.size) / point.time, 1, 0.06) << point.size.value;
  }
  EXPECT_GE(found, 48);
}

TEST(LinkFit, TakesNoNoiseForASegment) {
  const LinkCurve straight{Transfer::one_way, 2, {{{8}, {2e-6}, {5e9}}}};
  EXPECT_EQ(fit_segments(points_of(straight)).size(), 1U);
  int straight_ones = 0;
  for (unsigned seed = 0; seed < 50; ++seed)
    straight_ones += fit_segments(points_of(straight, 0.03, seed)).size() == 1 ? 1 : 0;
  EXPECT_GE(straight_ones, 45);
}

/// Times that fall with the size do not make bandwidths or times negative.
TEST(LinkFit, HasNoNegativeConstants) {
  std::vector<LinkPoint> falling;
  std::vector<LinkPoint> steep;
  for (double size = 8; size <= 1024; size *= 2) {
    falling.push_back({{size}, {2e-6 - 1e-10 * size}});
    steep.push_back({{size}, {1e-9 * size - 7e-9}});
  }
  for (const LinkSegment& segment : fit_segments(falling)) {
    EXPECT_GT(segment.latency.value, 0);
    EXPECT_TRUE(std::isinf(segment.bandwidth.value));
  }
  for (const LinkSegment& segment : fit_segments(steep)) EXPECT_GE(segment.latency.value, 0);
}

/// Tries every division of 12 points into at most three segments.
TEST(LinkFit, IsTheBestOfAllDivisions) {
  const std::vector<LinkPoint> all = points_of(kLink, 0.3, 7);
  const std::vector<LinkPoint> points(all.begin() + 6, all.begin() + 18);
  const auto squares = [&](const std::vector<LinkSegment>& segments) {
    double sum = 0;
    for (const LinkPoint& p : points)
      sum += std::pow(message_time({Transfer::one_way, 2, segments}, p.size) / p.time - 1, 2);
    return sum;
  };
  const auto one = [&](std::size_t begin, std::size_t end) {
    std::vector<LinkPoint> part(points.begin() + static_cast<long>(begin),
                                points.begin() + static_cast<long>(end));
    // Seven points or fewer are one segment.
    return fit_segments(part).front();
  };
  const double n = 12;
  const auto bic = [&](const std::vector<LinkSegment>& segments) {
    return n * std::log(squares(segments) / n) +
           (3 * static_cast<double>(segments.size()) - 1) * std::log(n);
  };
  double best = bic({one(0, 4), one(4, 8), one(8, 12)});
  for (const std::size_t cut : {5U, 6U, 7U})
    best = std::min(best, bic({one(0, cut), one(cut, 12)}));
  EXPECT_LE(bic(fit_segments(points)), best + 1e-9);
}

TEST(LinkTime, BelongsToTheSegmentThatBeginsBelow) {
  EXPECT_EQ(message_time(kLink, {0}).value, 1e-6);
  EXPECT_EQ(message_time(kLink, {8191}).value, 1e-6 + 8191 / 4e9);
  EXPECT_EQ(message_time(kLink, {8192}).value, 5e-6 + 8192 / 9e9);
  EXPECT_EQ(message_time(kLink, {1e9}).value, 40e-6 + 1e9 / 12e9);
}

/// Rows of a file of samples, as microbench/results/sample_file.cpp writes them.
std::string rows_of(const std::string& transfer, int ranks, double factor) {
  std::string rows;
  for (const LinkPoint& p : points_of(kLink)) {
    const double t = factor * p.time.value;
    rows += fmt::format(
        R"({}{{"name":"mpi/{}/f32/ranks:{}/bytes:{}","transfer":"{}","ranks":{},"bytes":{},"seconds":[{},{},{}]}})",
        rows.empty() ? "" : ",\n", transfer, ranks, p.size.value, transfer, ranks, p.size.value, t,
        t, t);
  }
  return rows;
}

TEST(LinkProfile, IsWrittenAndReadBack) {
  const test::TemporaryFolder folder;
  std::string text = test::synthetic_samples();
  text.insert(text.find(" \"others\""),
              fmt::format(" \"links\": [{},\n{}],\n", rows_of("one_way", 2, 1),
                          rows_of("all_reduce", 4, 2)));
  const Profile profile = fit(read_samples(folder.written("s.json", text)));
  const std::string path = folder.written("p.yaml", to_yaml(profile));
  for (const std::string& finding : verify(path)) ADD_FAILURE() << finding;

  std::vector<ResolvedValue> notes;
  const Machine machine = machine_from(resolve_device(path, "--hardware"), notes);
  ASSERT_EQ(machine.links.size(), 2U);
  for (const LinkPoint& p : points_of(kLink)) {
    const LinkCurve* one_way = find_link(machine.links, Transfer::one_way, 2);
    const LinkCurve* all_reduce = find_link(machine.links, Transfer::all_reduce, 4);
    ASSERT_TRUE(one_way != nullptr && all_reduce != nullptr);
    EXPECT_NEAR(message_time(*one_way, p.size) / p.time, 1, 1e-5);
    EXPECT_NEAR(message_time(*all_reduce, p.size) / p.time, 2, 1e-5);
  }
  ASSERT_EQ(profile.link_errors.size(), 2U);
  EXPECT_EQ(profile.link_errors[0].errors.cases, 12U);
  // The last of three segments has too few sizes when every second one is held out.
  EXPECT_LT(profile.link_errors[0].errors.median, 0.05);
}

TEST(LinkProfile, RefusesALinkOfThreeSizes) {
  Samples samples{.path = "s.json"};
  for (const double size : {8, 16, 32})
    samples.links.push_back({"mpi/one_way", Transfer::one_way, 2, {size}, Repetitions(3, 1e-6)});
  try {
    fit_links(samples);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "s.json:1:1: error: too few samples (3 sizes of one_way among 2 ranks, of at "
                 "least 4)");
  }
}

}  // namespace
}  // namespace depthcost::profile::links_test
