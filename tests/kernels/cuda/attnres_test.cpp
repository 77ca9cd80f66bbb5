// AttnRes on the device against the reference, over shapes.
#include <type_traits>

#include "tests/kernels/cpu/attnres_problems.hpp"
#include "tests/kernels/cuda/run.hpp"

namespace depthcost::test::attnres_test {
namespace {

class AttnResOnDevice : public OnDevice {};

template <class T>
void expect_single_pass(const Levels& l) {
  SCOPED_TRACE("T, d, n, joining, norm:" + text_of(l));
  expect_matches_on_device<SinglePassProblem<T>>(SinglePassShape{l[0], l[1], l[2], l[3], l[4]},
                                                 {kLargestLogit});
}

template <class T>
void expect_single_pass_matches() {
  const auto is_feasible = [](const Levels& l) {
    const std::size_t rows = l[2] + kSpareRows + 3;
    return l[2] + l[3] > 0 && rows * l[0] * l[1] * sizeof(T) <= kCaseBytes;
  };
  const Levels joining{nothing, stored_sum, added_sum, closed_block, forgotten_sum};
  for (const Levels& l : covering_cases_on_device(
           {kTokenLevels, kHiddenLevels, kSourceLevels, joining, {0, 1}}, is_feasible)) {
    expect_single_pass<T>(l);
    if (testing::Test::HasFailure()) return;
  }
  // Every wiring of each variant; then tokens for every SM.
  for (const std::size_t num_tokens : {3, 300})
    for (const std::size_t how : joining)
      for (const std::size_t has_norm : {0, 1})
        expect_single_pass<T>({num_tokens, 2304, 5, how, has_norm});
  for (const Levels& l : {Levels{300, 7168, 9}, {1000, 2304, 8}, {600, 136, 23}, {530, 8, 1}})
    expect_single_pass<T>({l[0], l[1], l[2], added_sum, 1});
}

TEST_F(AttnResOnDevice, SinglePassMatchesTheReferenceInFloat) {
  expect_single_pass_matches<float>();
}
TEST_F(AttnResOnDevice, SinglePassMatchesTheReferenceInBf16) { expect_single_pass_matches<Bf16>(); }

template <class T, class O>
void expect_phase1(const Levels& l) {
  SCOPED_TRACE("T, d, n, S, closes, norm:" + text_of(l));
  expect_matches_on_device<Phase1Problem<T, O>>(Phase1Shape{l[0], l[1], l[2], l[3], l[4], l[5]},
                                                {kLargestLogit});
}

/// Of Kimi K3's last block. The emulation, which is slow, takes one number with outputs in float.
template <class O>
Levels tokens_of_last_block() {
  return kIsEmulated && std::is_same_v<O, float> ? Levels{9} : Levels{1, 9, 70};
}

template <class T, class O>
void expect_phase1_matches() {
  const auto is_feasible = [](const Levels& l) {
    const std::size_t bytes = (l[2] + kSpareRows + 3) * sizeof(T) + (l[3] - 1) * sizeof(O);
    return l[2] + l[4] > 0 && bytes * l[0] * l[1] <= kCaseBytes;
  };
  for (const Levels& l : covering_cases_on_device(
           {kTokenLevels, kHiddenLevels, kSourceLevels, {1, 2, 5, 24, 40}, {0, 1}, {0, 1}},
           is_feasible)) {
    expect_phase1<T, O>(l);
    if (testing::Test::HasFailure()) return;
  }
  for (const std::size_t num_tokens : tokens_of_last_block<O>())
    expect_phase1<T, O>({num_tokens, 7168, 7, 24, 1, 1});
}

TEST_F(AttnResOnDevice, Phase1MatchesTheReferenceInFloat) { expect_phase1_matches<float, float>(); }
TEST_F(AttnResOnDevice, Phase1MatchesTheReferenceInBf16) { expect_phase1_matches<Bf16, Bf16>(); }
TEST_F(AttnResOnDevice, Phase1MatchesTheReferenceInBf16WithFloatOutputs) {
  expect_phase1_matches<Bf16, float>();
}

template <class T, class O>
void expect_phase2_matches() {
  const auto is_feasible = [](const Levels& l) {
    const std::size_t bytes = (l[2] + 3) * sizeof(T) + sizeof(O);
    return bytes * l[0] * l[1] <= kCaseBytes;
  };
  for (const Levels& l : covering_cases_on_device(
           {kTokenLevels, kHiddenLevels, kSourceLevels, {0, 1}, {0, 1}}, is_feasible)) {
    SCOPED_TRACE("T, d, k, adds, norm:" + text_of(l));
    expect_matches_on_device<Phase2Problem<T, O>>(Phase2Shape{l[0], l[1], l[2], l[3], l[4]},
                                                  {kLargestLogit});
    if (testing::Test::HasFailure()) return;
  }
}

TEST_F(AttnResOnDevice, Phase2MatchesTheReferenceInFloat) { expect_phase2_matches<float, float>(); }
TEST_F(AttnResOnDevice, Phase2MatchesTheReferenceInBf16) { expect_phase2_matches<Bf16, Bf16>(); }
TEST_F(AttnResOnDevice, Phase2MatchesTheReferenceInBf16WithFloatOutputs) {
  expect_phase2_matches<Bf16, float>();
}

}  // namespace
}  // namespace depthcost::test::attnres_test
