// Every mistake in the arguments of an operation, with the whole message.
#include "kernels/operations/altup.hpp"
#include "tests/kernels/operations/complaint.hpp"

namespace depthcost::test::check_test {
namespace {

AttnResSinglePass<float> single_pass() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .num_bank_rows = 4,
          .num_bank_sources = 2,
          .bank = buffer(0),
          .partial_sum = buffer(1),
          .layer_output = buffer(2),
          .bank_row = 2,
          .query = buffer(3),
          .norm = {.gain = buffer(4)},
          .output = buffer(5)};
}

AttnResPhase1<float, float> phase1() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .num_bank_rows = 4,
          .num_bank_sources = 2,
          .num_queries = 3,
          .bank = buffer(0),
          .partial_sum = buffer(1),
          .layer_output = buffer(2),
          .bank_row = 2,
          .queries = buffer(3),
          .output = buffer(5),
          .outputs = buffer(6),
          .maxima = buffer(7),
          .sums = buffer(8)};
}

AttnResPhase2<float, float> phase2() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .num_further_sources = 2,
          .further_sources = buffer(0),
          .partial_sum = buffer(1),
          .layer_output = buffer(2),
          .phase1_output = buffer(6),
          .maximum = buffer(7),
          .sum = buffer(8),
          .query = buffer(3),
          .output = buffer(5)};
}

MhcPre<float> pre() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .num_streams = kStreams,
          .streams = buffer(2),
          .mapping = mapping(),
          .output = buffer(3),
          .post = buffer(4),
          .residual = buffer(5)};
}

MhcPost<float> post() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .num_streams = kStreams,
          .streams = buffer(2),
          .layer_output = buffer(6),
          .post = buffer(4),
          .residual = buffer(5),
          .next_streams = buffer(7)};
}

MhcBoundary<float> boundary() {
  return {.post = post(),
          .mapping = mapping(),
          .output = buffer(3),
          .next_post = buffer(8),
          .next_residual = buffer(9)};
}

TEST(Check, AcceptsWhatTheContractAllows) {
  EXPECT_EQ(complaint(single_pass()), "nothing");
  EXPECT_EQ(complaint(phase1()), "nothing");
  EXPECT_EQ(complaint(phase2()), "nothing");
  EXPECT_EQ(complaint(pre()), "nothing");
  EXPECT_EQ(complaint(post()), "nothing");
  EXPECT_EQ(complaint(boundary()), "nothing");
  EXPECT_EQ(complaint(Sinkhorn{kTokens, kStreams, buffer(0)}), "nothing");
}

TEST(Check, AcceptsNoTokensWithoutTheirBuffers) {
  EXPECT_EQ(complaint(ResidualAdd<float>{0, kSize, nullptr, nullptr}), "nothing");
  EXPECT_EQ(complaint(UnfusedMhcMerge<Bf16>{0, kSize, kStreams, nullptr, nullptr, nullptr}),
            "nothing");
  EXPECT_EQ(complaint(Sinkhorn{0, kStreams, nullptr}), "nothing");
}

TEST(Check, AcceptsAPartialSumInTheBank) {
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.partial_sum = op.bank + 3 * kRow; }),
            "nothing");
  EXPECT_EQ(complaint(phase1(), [](auto& op) { op.partial_sum = op.bank + 2 * kRow; }), "nothing");
  const auto closes_where_it_is = [](auto& op) {
    op.store = SumStore::bank_row;
    op.partial_sum = op.bank + op.bank_row * kRow;
  };
  EXPECT_EQ(complaint(single_pass(), closes_where_it_is), "nothing");
}

/// What may be a row of a larger buffer begins wherever an element does.
TEST(Check, AcceptsUnalignedRows) {
  EXPECT_EQ(complaint(ResidualAdd<float>{kTokens, kSize, buffer(0) + 1, buffer(1)}), "nothing");
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { ++op.partial_sum; }), "nothing");
  EXPECT_EQ(complaint(phase1(), [](auto& op) { ++op.partial_sum; }), "nothing");
  EXPECT_EQ(complaint(phase2(),
                      [](auto& op) {
                        ++op.partial_sum;
                        ++op.further_sources;
                        ++op.phase1_output;
                      }),
            "nothing");
  const float* sources[] = {buffer(0) + 1};
  EXPECT_EQ(complaint(UnfusedStack<float>{kTokens, kSize, 1, sources, buffer(2)}), "nothing");
}

TEST(Check, AcceptsStreamsAndCoefficientsInPlace) {
  EXPECT_EQ(complaint(post(), [](auto& op) { op.next_streams = buffer(2); }), "nothing");
  const auto in_place = [](auto& op) {
    op.post.next_streams = buffer(2);
    op.next_post = buffer(4);
    op.next_residual = buffer(5);
  };
  EXPECT_EQ(complaint(boundary(), in_place), "nothing");
}

TEST(Check, NamesASizeOfZero) {
  EXPECT_EQ(complaint(ResidualAdd<float>{kTokens, 0, buffer(0), buffer(1)}),
            "residual_add: hidden_size is 0 (must be at least 1)");
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.hidden_size = 0; }),
            "attnres_single_pass: hidden_size is 0 (must be at least 1)");
  EXPECT_EQ(complaint(phase1(), [](auto& op) { op.num_queries = 0; }),
            "attnres_phase1: num_queries is 0 (must be at least 1)");
  EXPECT_EQ(complaint(pre(), [](auto& op) { op.num_streams = 0; }),
            "mhc_pre: num_streams is 0 (must be at least 1)");
  EXPECT_EQ(complaint(boundary(), [](auto& op) { op.mapping.iterations = 0; }),
            "mhc_boundary: iterations is 0 (must be at least 1)");
  EXPECT_EQ(complaint(Sinkhorn{1, 0, buffer(0)}),
            "sinkhorn: num_streams is 0 (must be at least 1)");
  EXPECT_EQ(complaint(UnfusedMix<float>{kTokens, kSize, 0, buffer(0), buffer(1), buffer(2)}),
            "unfused_mix: num_sources is 0 (must be at least 1)");
}

TEST(Check, NamesSizesBeyondMemory) {
  const auto grow = [](auto& op) { op.num_tokens = std::size_t{1} << 61; };
  EXPECT_EQ(complaint(post(), grow),
            "mhc_post: layer_output does not fit into the address space (must be below 2^63 "
            "bytes)");
}

TEST(Check, NamesSourcesThatAreNotThere) {
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.num_bank_sources = 5; }),
            "attnres_single_pass: num_bank_sources is 5 (must be at most num_bank_rows, 4)");
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.partial_sum = nullptr; }),
            "attnres_single_pass: layer_output without a partial_sum (must be added to one)");
  EXPECT_EQ(complaint(phase1(), [](auto& op) { op.layer_output = nullptr; }),
            "attnres_phase1: partial_sum without a layer_output (must be both or neither)");
  const auto no_sources = [](auto& op) {
    op.num_bank_sources = 0;
    op.partial_sum = nullptr;
    op.layer_output = nullptr;
  };
  EXPECT_EQ(complaint(single_pass(), no_sources),
            "attnres_single_pass: no sources (must be a bank row or a partial_sum)");
  EXPECT_EQ(complaint(phase1(), no_sources),
            "attnres_phase1: no sources (must be a bank row or a partial_sum)");
}

TEST(Check, NamesAVariantThatDoesNotFit) {
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.variant.num_heads = 3; }),
            "attnres_single_pass: num_heads is 3 (must divide hidden_size, 4)");
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.variant.first_recent_row = 3; }),
            "attnres_single_pass: first_recent_row is 3 (must be at least 1 and at most 2)");
  const auto by_token = [](auto& op) {
    op.query = nullptr;
    op.variant.token_queries = buffer(3);
  };
  EXPECT_EQ(complaint(single_pass(), by_token), "nothing");
}

TEST(Check, NamesABankRowThatIsNotFree) {
  const auto to_row = [](std::size_t row) {
    return [row](auto& op) {
      op.store = SumStore::bank_row;
      op.bank_row = row;
    };
  };
  const std::string not_free =
      "attnres_single_pass: bank_row is not a free row (must be at least 2 and below 4)";
  EXPECT_EQ(complaint(single_pass(), to_row(1)), not_free);
  EXPECT_EQ(complaint(single_pass(), to_row(4)), not_free);
  EXPECT_EQ(complaint(single_pass(), to_row(kNoRow)), not_free);
  EXPECT_EQ(complaint(single_pass(), to_row(3)), "nothing");
  EXPECT_EQ(complaint(phase1(), [](auto& op) { op.bank_row = 3; }),
            "attnres_phase1: bank_row is 3 (must follow the valid rows, be 2)");
}

TEST(Check, NamesWhatIsNull) {
  EXPECT_EQ(complaint(ResidualAdd<Bf16>{kTokens, kSize, nullptr,
                                        reinterpret_cast<const Bf16*>(buffer(0))}),
            "residual_add: hidden_state is null (must be 16 bytes)");
  EXPECT_EQ(
      complaint(ResidualAddRmsNorm<float>{kTokens, kSize, buffer(0), buffer(1), {}, buffer(2)}),
      "residual_add_rmsnorm: gain is null (must be 16 bytes)");
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.bank = nullptr; }),
            "attnres_single_pass: bank is null (must be 128 bytes)");
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.query = nullptr; }),
            "attnres_single_pass: query is null (must be 16 bytes)");
  EXPECT_EQ(complaint(phase1(), [](auto& op) { op.sums = nullptr; }),
            "attnres_phase1: sums is null (must be 16 bytes)");
  EXPECT_EQ(complaint(phase2(), [](auto& op) { op.partial_sum = nullptr; }),
            "attnres_phase2: partial_sum is null (must be 32 bytes)");
  EXPECT_EQ(complaint(pre(), [](auto& op) { op.mapping.phi = nullptr; }),
            "mhc_pre: phi is null (must be 256 bytes)");
  EXPECT_EQ(complaint(boundary(), [](auto& op) { op.next_residual = nullptr; }),
            "mhc_boundary: next_residual is null (must be 32 bytes)");
  EXPECT_EQ(complaint(UnfusedStack<float>{kTokens, kSize, 3, nullptr, buffer(2)}),
            "unfused_stack: sources is null (must be 3 pointers)");
  const float* sources[] = {buffer(0), nullptr};
  EXPECT_EQ(complaint(UnfusedStack<float>{kTokens, kSize, 2, sources, buffer(2)}),
            "unfused_stack: sources[1] is null (must be 32 bytes)");
  EXPECT_EQ(complaint(UnfusedScores<float>{kTokens, kSize, 1, buffer(0), buffer(1), nullptr}),
            "unfused_scores: logits is null (must be 8 bytes)");
}

TEST(Check, NamesWhatIsMisaligned) {
  EXPECT_EQ(complaint(ResidualAdd<float>{kTokens, kSize, buffer(0), buffer(1) + 1}),
            "residual_add: layer_output is misaligned (must be at a multiple of 16 bytes)");
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { ++op.output; }),
            "attnres_single_pass: output is misaligned (must be at a multiple of 16 bytes)");
  const auto inside_an_element = [](auto& op) {
    op.maximum = reinterpret_cast<const float*>(reinterpret_cast<const char*>(op.maximum) + 2);
  };
  EXPECT_EQ(complaint(phase2(), inside_an_element),
            "attnres_phase2: maximum is misaligned (must be at a multiple of 4 bytes)");
  EXPECT_EQ(complaint(post(), [](auto& op) { ++op.next_streams; }),
            "mhc_post: next_streams is misaligned (must be at a multiple of 16 bytes)");
  EXPECT_EQ(complaint(UnfusedKeyNorm<float>{kTokens, kSize, 1, buffer(0) + 2, 0, buffer(1)}),
            "unfused_key_norm: stack is misaligned (must be at a multiple of 16 bytes)");
}

TEST(Check, NamesWhatOverlaps) {
  EXPECT_EQ(complaint(ResidualAdd<float>{kTokens, kSize, buffer(0) + kSize, buffer(0)}),
            "residual_add: hidden_state overlaps layer_output (must be distinct)");
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.output = buffer(2); }),
            "attnres_single_pass: output overlaps layer_output (must be distinct)");
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.output = op.bank + 3 * kRow; }),
            "attnres_single_pass: output overlaps bank (must be distinct)");
  EXPECT_EQ(complaint(single_pass(), [](auto& op) { op.partial_sum = op.bank + kRow; }),
            "attnres_single_pass: partial_sum overlaps bank (must be distinct)");
  EXPECT_EQ(complaint(phase1(), [](auto& op) { op.outputs = op.bank + 3 * kRow; }),
            "attnres_phase1: outputs overlaps bank (must be distinct)");
  EXPECT_EQ(complaint(phase1(), [](auto& op) { op.partial_sum = op.bank + 2 * kRow + kSize; }),
            "attnres_phase1: bank_row overlaps partial_sum (must be distinct)");
  EXPECT_EQ(complaint(phase2(), [](auto& op) { op.output = op.partial_sum; }),
            "attnres_phase2: output overlaps partial_sum (must be distinct)");
  EXPECT_EQ(complaint(pre(), [](auto& op) { op.post = op.residual + 2; }),
            "mhc_pre: residual overlaps post (must be distinct)");
  EXPECT_EQ(complaint(post(), [](auto& op) { op.next_streams = buffer(2) + 2 * kSize; }),
            "mhc_post: next_streams overlaps streams (must be distinct)");
  EXPECT_EQ(complaint(boundary(), [](auto& op) { op.next_residual = buffer(4); }),
            "mhc_boundary: next_residual overlaps post (must be distinct)");
  EXPECT_EQ(
      complaint(UnfusedMhcPre<float>{kTokens, kSize, kStreams, buffer(0), buffer(1), buffer(0)}),
      "unfused_mhc_pre: output overlaps streams (must be distinct)");
  EXPECT_EQ(complaint(UnfusedGateProduct<float>{kTokens, kSize, kStreams, buffer(0), buffer(1),
                                                buffer(1)}),
            "unfused_gate_product: output overlaps input (must be distinct)");
  EXPECT_EQ(complaint(UnfusedActivation<float>{kTokens, kSize, kStreams, GateFunction::silu,
                                               buffer(0), buffer(0)}),
            "unfused_activation: output overlaps input (must be distinct)");
}

TEST(Check, FindsSizesThatGatesNeed) {
  EXPECT_EQ(complaint(UnfusedGateDown<float>{kTokens, kSize, kStreams, 0, buffer(0), buffer(1),
                                             buffer(2)}),
            "unfused_gate_down: num_outputs is 0 (must be at least 1)");
  EXPECT_EQ(complaint(UnfusedGateUp<Bf16>{kTokens, kSize, kStreams, 0, nullptr, nullptr, nullptr}),
            "unfused_gate_up: rank is 0 (must be at least 1)");
  EXPECT_EQ(complaint(UnfusedStreamMean<float>{kTokens, kSize, 0, buffer(0), buffer(1)}),
            "unfused_stream_mean: num_streams is 0 (must be at least 1)");
  EXPECT_EQ(complaint(UnfusedGatedNorm<float>{.num_tokens = kTokens,
                                              .hidden_size = kSize,
                                              .num_streams = kStreams,
                                              .streams = buffer(0),
                                              .output = buffer(1)}),
            "unfused_gated_norm: gain is null (must be 32 bytes)");
}

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

ResidualScalingRmsNorm<float> shifted() {
  return {.num_tokens = kTokens,
          .hidden_size = kSize,
          .hidden_state = buffer(0),
          .layer_output = buffer(1),
          .hidden_scales = buffer(2),
          .hidden_shifts = buffer(3),
          .scales = buffer(4),
          .shifts = buffer(5),
          .norm = {.gain = buffer(6)},
          .output = buffer(7)};
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

TEST(CheckOtherSchemes, AcceptsWhatTheContractAllows) {
  EXPECT_EQ(complaint(scaled()), "nothing");
  EXPECT_EQ(complaint(highway()), "nothing");
  EXPECT_EQ(complaint(shifted()), "nothing");
  const auto first_merge = [](auto& op) { op.hidden_scales = op.hidden_shifts = nullptr; };
  EXPECT_EQ(complaint(shifted(), first_merge), "nothing");
  EXPECT_EQ(complaint(hc()), "nothing");
  EXPECT_EQ(complaint(single_pass_streams()), "nothing");
  EXPECT_EQ(complaint(dense()), "nothing");
}

TEST(CheckOtherSchemes, AcceptsStreamsAndCoefficientsInPlace) {
  const auto all_in_place = [](auto& op) {
    op.next_streams = buffer(2);
    op.next_pre = buffer(4);
    op.next_post = buffer(5);
    op.next_residual = buffer(6);
  };
  EXPECT_EQ(complaint(single_pass_streams(), all_in_place), "nothing");
}

TEST(CheckOtherSchemes, AcceptsADenseMixWithoutAStreamOrABank) {
  const auto plain = [](auto& op) {
    op.hidden_state = op.mixed = nullptr;
    op.bank_row = kNoRow;
    op.num_bank_sources = 0;
  };
  EXPECT_EQ(complaint(dense(), plain), "nothing");
  EXPECT_EQ(complaint(dense(), [](auto& op) { op.layer_output = op.bank + 3 * kRow; }), "nothing");
}

TEST(CheckAltup, NamesWhatIsWrong) {
  const BasicAltupRouter<float> router{buffer(0), {.gain = buffer(1)}};
  const AltupPredict<float> predict{.num_tokens = kTokens,
                                    .hidden_size = kSize,
                                    .num_copies = kStreams,
                                    .copies = buffer(2),
                                    .router = router,
                                    .coefficients = buffer(3),
                                    .norm = {.gain = buffer(4)},
                                    .output = buffer(5)};
  EXPECT_EQ(complaint(predict), "nothing");
  EXPECT_EQ(complaint(predict, [](auto& op) { op.num_copies = 0; }),
            "altup_predict: num_copies is 0 (must be at least 1)");
  EXPECT_EQ(complaint(predict, [](auto& op) { op.router.norm.gain = nullptr; }),
            "altup_predict: router.gain is null (must be 16 bytes)");
  const AltupLaurel<float> laurel{
      kTokens, kSize, 2, buffer(0), buffer(1), buffer(2), {.gain = buffer(3)}, buffer(4)};
  EXPECT_EQ(complaint(laurel), "nothing");
  EXPECT_EQ(complaint(laurel, [](auto& op) { op.output = buffer(0); }),
            "altup_laurel: output overlaps input (must be distinct)");
  const AltupMiddle<float> middle{kTokens,
                                  kSize,
                                  kStreams,
                                  buffer(0),
                                  buffer(1),
                                  buffer(2),
                                  {.gain = buffer(3)},
                                  {.gain = buffer(4)},
                                  buffer(5)};
  EXPECT_EQ(complaint(middle), "nothing");
  EXPECT_EQ(complaint(middle, [](auto& op) { op.output_norm = {}; }),
            "altup_middle: output_gain is null (must be 16 bytes)");
  const AltupCorrect<float> correct{
      kTokens, kSize,    kStreams, buffer(2), buffer(3), buffer(4), {.gain = buffer(5)},
      router,  buffer(6)};
  EXPECT_EQ(complaint(correct), "nothing");
  EXPECT_EQ(complaint(correct, [](auto& op) { op.middle = op.copies; }),
            "altup_correct: copies overlaps middle (must be distinct)");
}

TEST(CheckOtherSchemes, NamesWhatIsWrong) {
  EXPECT_EQ(complaint(scaled(), [](auto& op) { op.num_scales = 2; }),
            "scaled_add_rmsnorm: num_scales is 2 (must be 1 or hidden_size, 4)");
  EXPECT_EQ(complaint(scaled(), [](auto& op) { op.norm.gain = nullptr; }),
            "scaled_add_rmsnorm: gain is null (must be 16 bytes)");
  EXPECT_EQ(complaint(highway(), [](auto& op) { op.gate_logits = op.hidden_state; }),
            "highway_rmsnorm: hidden_state overlaps gate_logits (must be distinct)");
  EXPECT_EQ(complaint(shifted(), [](auto& op) { op.hidden_shifts = nullptr; }),
            "residual_scaling_rmsnorm: hidden_scales and hidden_shifts are not both null (must be "
            "both or none)");
  EXPECT_EQ(complaint(shifted(), [](auto& op) { op.shifts = op.hidden_state; }),
            "residual_scaling_rmsnorm: hidden_state overlaps shifts (must be distinct)");
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
}  // namespace depthcost::test::check_test
