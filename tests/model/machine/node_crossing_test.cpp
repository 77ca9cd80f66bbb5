// Derived transfers between nodes against loops over their messages, and against published times.
#include "model/machine/node_crossing.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace depthcost::node_crossing_test {
namespace {

using enum TransferKind;

/// Links inside a node that take no time, and 50 GB/s between nodes of eight.
Machine machine() {
  Machine machine;
  machine.network_bandwidth = BytesPerSecond{50e9};
  for (const TransferKind kind : {all_reduce, all_gather, reduce_scatter, all_to_all})
    machine.transfers.push_back(
        {.kind = kind, .num_ranks = 8, .size = {1}, .time = {{0}, {0}, {0}}});
  return machine;
}

Estimate<Seconds> time(const Machine& machine, TransferKind kind, Count ranks, double bytes) {
  return derived_network_time(machine, kind, ranks, {bytes}).value();
}

/// What leaves the adapter of device 0 at full speed.
double sent(TransferKind kind, Count ranks, double bytes) {
  const Seconds wire =
      time(machine(), kind, ranks, bytes).value - time(machine(), kind, ranks, 0).value;
  return wire.value * kNetworkEfficiency.value * 50e9;
}

/// An n-th of the vector for each device in another node.
TEST(NodeCrossing, SendsAnAllToAllToEveryDeviceElsewhere) {
  for (const Count ranks : {16, 24, 64, 256}) {
    double bytes = 0;
    for (Count peer = 0; peer < ranks; ++peer)
      if (peer / 8 != 0) bytes += 6.4e9 / as_double(ranks);
    EXPECT_NEAR(sent(all_to_all, ranks, 6.4e9) / bytes, 1, 1e-6) << ranks;
  }
}

/// Device 0 holds an eighth of its node's vector, and hands a k-th of that to its peer in each
/// other node; for an all-reduce the sums come back the same way.
TEST(NodeCrossing, SendsASharedVectorToOnePeerInEachNode) {
  for (const Count ranks : {16, 24, 64, 256}) {
    const double nodes = as_double(ranks) / 8;
    double bytes = 0;
    for (Count node = 1; node < ranks / 8; ++node) bytes += 6.4e9 / 8 / nodes;
    EXPECT_NEAR(sent(reduce_scatter, ranks, 6.4e9) / bytes, 1, 1e-6) << ranks;
    EXPECT_NEAR(sent(all_gather, ranks, 6.4e9) / bytes, 1, 1e-6) << ranks;
    EXPECT_NEAR(sent(all_reduce, ranks, 6.4e9) / (2 * bytes), 1, 1e-6) << ranks;
  }
}

TEST(NodeCrossing, WaitsForARoundWithoutBytes) {
  const Estimate<Seconds> nothing = time(machine(), all_reduce, 32, 0);
  EXPECT_DOUBLE_EQ(nothing.low.value, 2 * 2 * kNetworkRound.low.value);
  EXPECT_DOUBLE_EQ(nothing.value.value, 2 * 2 * kNetworkRound.value.value);
  EXPECT_DOUBLE_EQ(nothing.high.value, 2 * 3 * kNetworkRound.high.value);
  EXPECT_DOUBLE_EQ(time(machine(), all_to_all, 32, 0).value.value, kNetworkRound.value.value);
  EXPECT_DOUBLE_EQ(time(machine(), send, 2, 50e9).low.value - kNetworkRound.low.value,
                   1 / kNetworkEfficiency.high);
}

/// From one device to another: nothing is handed on inside a node.
TEST(NodeCrossing, SendsAMessageOverTheNetworkAlone) {
  Machine linked = machine();
  linked.transfers.push_back(
      {.kind = send, .num_ranks = 2, .size = {50e9}, .time = {{7}, {8}, {9}}});
  for (const Machine& it : {machine(), linked}) {
    const Estimate<Seconds> message = time(it, send, 2, 50e9);
    EXPECT_DOUBLE_EQ(message.low.value, kNetworkRound.low.value + 1 / kNetworkEfficiency.high);
    EXPECT_DOUBLE_EQ(message.value.value, kNetworkRound.value.value + 1 / kNetworkEfficiency.value);
    EXPECT_DOUBLE_EQ(message.high.value, kNetworkRound.high.value + 1 / kNetworkEfficiency.low);
  }
}

/// A step asks by ranks alone, and crosses nodes where they are more than a node has.
TEST(NodeCrossing, IsWhatAStepTakesForRanksOfSeveralNodes) {
  const auto asked = transfer_time(machine(), all_reduce, 16, Bytes{1e6});
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->value.value, time(machine(), all_reduce, 16, 1e6).value.value);
}

TEST(NodeCrossing, IsUnknownWithoutANetworkOrWithoutTransfersInANode) {
  Machine none = machine();
  none.network_bandwidth.reset();
  EXPECT_FALSE(derived_network_time(none, all_reduce, 16, {1e6}));
  Machine apart = machine();
  apart.transfers.clear();
  EXPECT_FALSE(derived_network_time(apart, all_reduce, 16, {1e6}));
  apart.devices_per_node = 1;
  EXPECT_TRUE(derived_network_time(apart, all_reduce, 16, {1e6})) << "nothing is inside a node";
  EXPECT_FALSE(derived_network_time(machine(), all_reduce, 8, {1e6})) << "one node";
}

TEST(NodeCrossing, GoesBehindWhatWasMeasuredBetweenNodes) {
  Machine measured = machine();
  measured.transfers.push_back({.kind = all_reduce,
                                .scope = TransferScope::network,
                                .num_ranks = 16,
                                .size = {1e6},
                                .time = {{1e-3}, {2e-3}, {3e-3}, Evidence::published}});
  const auto network = [&](TransferKind kind) {
    return transfer_time(measured, kind, TransferScope::network, 16, {1e6}).value();
  };
  EXPECT_EQ(network(all_reduce).value.value, 2e-3);
  EXPECT_EQ(network(all_gather).value, time(measured, all_gather, 16, 1e6).value);
}

struct PublishedAllToAll {
  Count ranks;
  double dispatch;  // us
  double combine;   // us
};

/// [deepep], low-latency kernels: 128 tokens of 7,168 elements to 8 experts each, in fp8 with 56
/// scales there and in bf16 back, H800 with 400 Gb/s. Inside a node as an H100 was measured.
TEST(NodeCrossing, AgreesWithPublishedDispatchAndCombine) {
  Machine h800 = machine();
  h800.transfers = {
      {.kind = all_to_all, .num_ranks = 8, .size = {8192}, .time = {{7e-6}, {7.5e-6}, {8e-6}}},
      {.kind = all_to_all,
       .num_ranks = 8,
       .size = {16777216},
       .time = {{70e-6}, {75.7e-6}, {80e-6}}}};
  const double rows = 128 * 8;
  const auto agrees = [&](Count ranks, double bytes, double microseconds) {
    const Estimate<Seconds> predicted = time(h800, all_to_all, ranks, bytes);
    EXPECT_LT(predicted.low.value, microseconds * 1e-6) << ranks;
    EXPECT_GT(predicted.high.value, microseconds * 1e-6) << ranks;
    EXPECT_NEAR(microseconds * 1e-6 / predicted.value.value, 1, 0.12) << ranks;
  };
  for (const PublishedAllToAll& each : {PublishedAllToAll{16, 118, 195},
                                        {32, 155, 273},
                                        {64, 173, 314},
                                        {128, 192, 369},
                                        {256, 194, 360}}) {
    agrees(each.ranks, rows * (7168 + 56 * 4), each.dispatch);
    agrees(each.ranks, rows * 7168 * 2, each.combine);
  }
}

/// A large all-reduce of four nodes of B200 at 381.8 GB/s of bus bandwidth: stas00/ml-engineering
/// @744d01e1 network/README.md. Inside a node at 682 GB/s, a ring of the same source.
TEST(NodeCrossing, AgreesWithAPublishedAllReduce) {
  Machine b200 = machine();
  b200.transfers = {{.kind = all_reduce,
                     .num_ranks = 8,
                     .size = {1e9},
                     .time = {{2.4e-3}, {2 * 7.0 / 8 / 682}, {2.7e-3}}}};
  const double bytes = 16e9;
  const double measured = 2 * 31.0 / 32 * bytes / 381.8e9;
  const Estimate<Seconds> predicted = time(b200, all_reduce, 32, bytes);
  EXPECT_LT(predicted.low.value, measured);
  EXPECT_GT(predicted.high.value, measured);
  EXPECT_NEAR(measured / predicted.value.value, 1, 0.12);
}

}  // namespace
}  // namespace depthcost::node_crossing_test
