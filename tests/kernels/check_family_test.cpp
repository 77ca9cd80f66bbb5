// As check_test.cpp, of the operations of family_operations.hpp.
#include "tests/kernels/complaint.hpp"

namespace depthcost::test::check_family_test {
namespace {

ScaledAddRmsNorm<float> scaled() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .hidden_state = buffer(0),
          .layer_output = buffer(1),
          .num_scales = kSize,
          .scales = buffer(2),
          .norm = {.gain = buffer(3)},
          .output = buffer(4)};
}

HighwayRmsNorm<float> highway() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .hidden_state = buffer(0),
          .layer_output = buffer(1),
          .gate_logits = buffer(2),
          .norm = {.gain = buffer(3)},
          .output = buffer(4)};
}

HcBoundary<float> hc() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .num_streams = kStreams,
          .streams = buffer(0),
          .layer_output = buffer(1),
          .residual = buffer(2),
          .post = buffer(3),
          .pre = buffer(4),
          .next_streams = buffer(5),
          .output = buffer(6)};
}

SinglePassMhc<float> single_pass_streams() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .num_streams = kStreams,
          .streams = buffer(2),
          .layer_output = buffer(3),
          .pre = buffer(4),
          .post = buffer(5),
          .residual = buffer(6),
          .mapping = mapping(),
          .next_streams = buffer(7),
          .output = buffer(8),
          .next_pre = buffer(9),
          .next_post = buffer(10),
          .next_residual = buffer(11)};
}

/// DenseFormer's.
DenseMix<float> dense() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .num_bank_rows = 4,
          .num_bank_sources = 2,
          .bank = buffer(0),
          .hidden_state = buffer(1),
          .layer_output = buffer(2),
          .bank_row = 2,
          .weights = buffer(3),
          .mixed = buffer(1),
          .output = buffer(4)};
}

TEST(CheckFamily, AcceptsWhatTheContractAllows) {
  EXPECT_EQ(complaint(scaled()), "nothing");
  EXPECT_EQ(complaint(highway()), "nothing");
  EXPECT_EQ(complaint(hc()), "nothing");
  EXPECT_EQ(complaint(single_pass_streams()), "nothing");
  EXPECT_EQ(complaint(dense()), "nothing");
}

TEST(CheckFamily, AcceptsStreamsAndCoefficientsInPlace) {
  const auto all_in_place = [](auto& op) {
    op.next_streams = buffer(2);
    op.next_pre = buffer(4);
    op.next_post = buffer(5);
    op.next_residual = buffer(6);
  };
  EXPECT_EQ(complaint(single_pass_streams(), all_in_place), "nothing");
}

TEST(CheckFamily, AcceptsADenseMixWithoutAStreamOrABank) {
  const auto plain = [](auto& op) {
    op.hidden_state = op.mixed = nullptr;
    op.bank_row = kNoRow;
    op.num_bank_sources = 0;
  };
  EXPECT_EQ(complaint(dense(), plain), "nothing");
  EXPECT_EQ(complaint(dense(), [](auto& op) { op.layer_output = op.bank + 3 * kRow; }), "nothing");
}

TEST(CheckFamily, NamesWhatIsWrong) {
  EXPECT_EQ(complaint(scaled(), [](auto& op) { op.num_scales = 2; }),
            "scaled_add_rmsnorm: num_scales is 2 (must be 1 or hidden_size, 4)");
  EXPECT_EQ(complaint(scaled(), [](auto& op) { op.norm.gain = nullptr; }),
            "scaled_add_rmsnorm: gain is null (must be 16 bytes)");
  EXPECT_EQ(complaint(highway(), [](auto& op) { op.gate_logits = op.hidden_state; }),
            "highway_rmsnorm: hidden_state overlaps gate_logits (must be distinct)");
  EXPECT_EQ(complaint(hc(), [](auto& op) { op.num_streams = 0; }),
            "hc_boundary: num_streams is 0 (must be at least 1)");
  EXPECT_EQ(complaint(hc(), [](auto& op) { op.pre = nullptr; }),
            "hc_boundary: pre is null (must be 8 bytes)");
  EXPECT_EQ(complaint(single_pass_streams(), [](auto& op) { op.next_post = buffer(4); }),
            "single_pass_mhc: next_post overlaps pre (must be distinct)");
  EXPECT_EQ(complaint(single_pass_streams(), [](auto& op) { op.mapping.iterations = 0; }),
            "single_pass_mhc: iterations is 0 (must be at least 1)");
  EXPECT_EQ(complaint(dense(), [](auto& op) { op.bank_row = 1; }),
            "dense_mix: bank_row is not a free row (must be at least 2 and below 4)");
  EXPECT_EQ(complaint(dense(), [](auto& op) { op.num_bank_sources = 5; }),
            "dense_mix: num_bank_sources is 5 (must be at most num_bank_rows, 4)");
  EXPECT_EQ(complaint(dense(), [](auto& op) { op.mixed = op.bank + 3 * kRow; }),
            "dense_mix: mixed overlaps bank (must be distinct)");
  EXPECT_EQ(complaint(dense(), [](auto& op) { op.layer_output = op.bank + 2 * kRow; }),
            "dense_mix: bank_row overlaps layer_output (must be distinct)");
}

}  // namespace
}  // namespace depthcost::test::check_family_test
