// Measured points are met exactly, and lines lie between and beyond them.
#include "model/machine/transfer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <array>
#include <vector>

#include "model/machine/machine.hpp"

namespace depthcost::transfer_test {
namespace {

using enum TransferKind;

constexpr auto kNode = TransferScope::node;

TransferPoint point(TransferKind kind, Count ranks, double bytes, double microseconds) {
  const double seconds = microseconds * 1e-6;
  return {.kind = kind,
          .scope = kNode,
          .num_ranks = ranks,
          .size = {bytes},
          .time = {{0.9 * seconds}, {seconds}, {1.1 * seconds}, Evidence::published}};
}

/// Out of order, as a file may be.
const std::vector<TransferPoint>& points() {
  static const std::vector<TransferPoint> all{
      point(all_reduce, 8, 1e6, 30), point(all_reduce, 8, 1e3, 10), point(all_reduce, 8, 1e7, 300),
      point(all_reduce, 2, 1e3, 4),  point(all_reduce, 2, 1e6, 12), point(all_reduce, 2, 1e7, 90),
      point(all_gather, 4, 1e6, 20)};
  return all;
}

Estimate<Seconds> time(TransferKind kind, Count ranks, double bytes) {
  return transfer_time(points(), kind, kNode, ranks, {bytes}).value();
}

double microseconds(TransferKind kind, Count ranks, double bytes) {
  return time(kind, ranks, bytes).value.value * 1e6;
}

TEST(TransferTime, MeetsWhatWasMeasured) {
  for (const TransferPoint& each : points()) {
    const auto got = time(each.kind, each.num_ranks, each.size.value);
    EXPECT_DOUBLE_EQ(got.low.value, each.time.low.value);
    EXPECT_DOUBLE_EQ(got.value.value, each.time.value.value);
    EXPECT_DOUBLE_EQ(got.high.value, each.time.high.value);
    EXPECT_EQ(got.evidence, Evidence::published);
  }
}

TEST(TransferTime, IsAStraightLineBetweenSizes) {
  EXPECT_NEAR(microseconds(all_reduce, 8, (1e3 + 1e6) / 2), 20, 1e-9);
  EXPECT_NEAR(microseconds(all_reduce, 8, 5.5e6), 165, 1e-9);
}

TEST(TransferTime, IsThatOfTheSmallestSizeBelowIt) {
  EXPECT_DOUBLE_EQ(microseconds(all_reduce, 8, 1), 10);
}

TEST(TransferTime, GoesOnWithTheLastSlope) {
  // 270 us for the last 9 MB.
  EXPECT_NEAR(microseconds(all_reduce, 8, 1.9e7), 570, 1e-9);
  const auto far = time(all_reduce, 8, 1.9e7);
  EXPECT_NEAR(far.low.value / far.value.value, 0.9, 1e-12);
  EXPECT_NEAR(far.high.value / far.value.value, 1.1, 1e-12);
}

TEST(TransferTime, NeverFallsWithMoreBytes) {
  // As measured once: 512 KiB took longer than 2 MiB.
  const std::vector<TransferPoint> dip{point(send, 2, 1e5, 26), point(send, 2, 1e6, 20)};
  EXPECT_NEAR(transfer_time(dip, send, kNode, 2, {1e8})->value.value, 20e-6, 1e-15);
  // Before the dip too: what takes longer could be sent as more bytes.
  EXPECT_NEAR(transfer_time(dip, send, kNode, 2, {1e5})->value.value, 20e-6, 1e-15);
  EXPECT_NEAR(transfer_time(dip, send, kNode, 2, {5e5})->high.value, 22e-6, 1e-15);
}

TEST(TransferTime, TakesOneSizeAsARateAboveIt) {
  EXPECT_NEAR(microseconds(all_gather, 4, 5e6), 100, 1e-9);
  EXPECT_NEAR(microseconds(all_gather, 4, 1e3), 20, 1e-9);
}

TEST(TransferTime, IsAStraightLineBetweenNumbersOfRanks) {
  EXPECT_NEAR(microseconds(all_reduce, 4, 1e3), 6, 1e-9);
  EXPECT_NEAR(microseconds(all_reduce, 5, 1e6), 21, 1e-9);
  EXPECT_EQ(time(all_reduce, 5, 1e6).evidence, Evidence::published);
}

TEST(TransferTime, SpansBytesAndRoundsBeyondTheMeasuredRanks) {
  // 16 ranks: each moves 15/16 of the vector instead of 7/8. The latency of 10 us, the time of the
  // smallest size, may take the four rounds of a tree instead of three.
  const auto more = time(all_reduce, 16, 1e6);
  EXPECT_NEAR(more.value.value * 1e6, 30 * (15.0 / 16) / (7.0 / 8), 1e-9);
  EXPECT_NEAR(more.low.value * 1e6, 0.9 * 30 * (15.0 / 16) / (7.0 / 8), 1e-9);
  EXPECT_NEAR(more.high.value * 1e6, 1.1 * (10.0 * 4 / 3 + 20 * (15.0 / 16) / (7.0 / 8)), 1e-9);
  EXPECT_EQ(more.evidence, Evidence::assumed);
  // 2 ranks instead of 4: half of the vector instead of three quarters, or one round of two. One
  // size may be all latency.
  const auto fewer = time(all_gather, 2, 1e6);
  EXPECT_NEAR(fewer.value.value * 1e6, 20 * 0.5 / 0.75, 1e-9);
  EXPECT_NEAR(fewer.low.value * 1e6, 0.9 * 20 / 2, 1e-9);
  EXPECT_EQ(fewer.evidence, Evidence::assumed);
}

TEST(TransferTime, OfManyBytesDoesNotGrowWithRounds) {
  const auto large = time(all_reduce, 72, 1e12);
  EXPECT_NEAR(large.high / large.value, 1.1, 1e-4);
  const auto tiny = time(all_reduce, 72, 1);
  EXPECT_NEAR(tiny.high.value * 1e6, 1.1 * 10 * std::log2(72) / 3, 1e-9);
}

TEST(TransferTime, KeepsTheEndsAroundTheValueEverywhere) {
  for (const Count ranks : {2, 3, 5, 8, 9, 64})
    for (double bytes = 1; bytes < 1e12; bytes *= 7) {
      const auto got = time(all_reduce, ranks, bytes);
      EXPECT_LE(got.low, got.value);
      EXPECT_LE(got.value, got.high);
    }
}

TEST(TransferTime, IsUnknownForWhatNobodyMeasured) {
  EXPECT_FALSE(transfer_time(points(), all_to_all, kNode, 8, {1e6}));
  EXPECT_FALSE(transfer_time(points(), all_reduce, TransferScope::network, 8, {1e6}));
  EXPECT_FALSE(transfer_time(std::vector<TransferPoint>{}, all_reduce, kNode, 8, {1e6}));
}

TEST(TransferTime, IsNothingForARankByItself) {
  EXPECT_EQ(transfer_time(std::vector<TransferPoint>{}, all_reduce, kNode, 1, {1e6})->high.value,
            0);
}

TEST(TransferNames, AreThoseOfHardwareFiles) {
  constexpr std::array<std::string_view, 5> names{"send", "all_reduce", "all_gather",
                                                  "reduce_scatter", "all_to_all"};
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(name(static_cast<TransferKind>(i)), names[i]);
  EXPECT_EQ(name(TransferScope::node), "node");
  EXPECT_EQ(name(TransferScope::network), "network");
}

Machine machine_with_links() {
  Machine machine;
  machine.core = Core{};
  machine.links = {{Transfer::one_way, 2, {{{0}, {1e-6}, {1e9}}, {{4096}, {5e-6}, {2e9}}}},
                   {Transfer::all_reduce, 4, {{{0}, {3e-6}, {1e9}}}}};
  machine.transfers = points();
  return machine;
}

TEST(TransfersOfACpu, AreThoseOfItsLinks) {
  const auto time = transfer_time(machine_with_links(), send, kNode, 2, {8192}).value();
  EXPECT_DOUBLE_EQ(time.value.value, 5e-6 + 8192 / 2e9);
  EXPECT_DOUBLE_EQ(time.low.value, 0.9 * time.value.value);
  EXPECT_DOUBLE_EQ(time.high.value, 1.1 * time.value.value);
  EXPECT_EQ(time.evidence, Evidence::calibrated);
  EXPECT_DOUBLE_EQ(
      transfer_time(machine_with_links(), all_reduce, kNode, 4, {1e6}).value().value.value,
      3e-6 + 1e6 / 1e9);
}

TEST(TransfersOfACpu, ArePointsWhereNoLinkWasFitted) {
  const Machine machine = machine_with_links();
  EXPECT_EQ(transfer_time(machine, all_reduce, kNode, 8, {1e6}).value().value,
            time(all_reduce, 8, 1e6).value);
  EXPECT_FALSE(transfer_time(machine, send, TransferScope::network, 2, {1e6}));
  EXPECT_FALSE(transfer_time(machine, all_to_all, kNode, 2, {1e6}));
}

TEST(TransfersOfAGpu, AreNotItsHosts) {
  Machine machine = machine_with_links();
  machine.core.reset();
  EXPECT_FALSE(transfer_time(machine, send, kNode, 2, {8192}));
}

}  // namespace
}  // namespace depthcost::transfer_test
