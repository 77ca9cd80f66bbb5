// Scenarios of residual update mechanisms whose parameters are outside their range.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/scenarios/read/refused_case.hpp"

namespace depthcost::mechanism_scenarios_test {
namespace {

using test::RefusedCase;

/// 16 layers of width 8; `body` from line 3 on.
std::string small(const std::string& body) {
  return "schema: depthcost/1\nmodel: {decoder_layers: 8, hidden_size: 8, dtype: f16}\n" + body +
         "\n";
}

class BadMechanism : public testing::TestWithParam<RefusedCase> {};

TEST_P(BadMechanism, NamesTheLineAndTheCause) { test::expect_refused(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Parameters, BadMechanism,
    testing::ValuesIn(std::vector<RefusedCase>{
        {"NoStreams", small("residual: {scheme: hc_static, num_streams: 0}"),
         "it.yaml:3:44: error: invalid residual.num_streams '0' (must be a positive integer)"},
        {"TooManyStreams", small("residual: {scheme: hc_dynamic, num_streams: 1025}"),
         "it.yaml:3:45: error: invalid residual.num_streams '1025' for hc_dynamic (more than 1024 streams)"},
        {"TooManyPermutations", small("residual: {scheme: mhc_lite, num_streams: 7}"),
         "it.yaml:3:43: error: invalid residual.num_streams '7' for mhc_lite (m! permutations; more than 6 streams are not sensible)"},
        {"NoPowerOfTwo", small("residual: {scheme: kromhc, num_streams: 3}"),
         "it.yaml:3:41: error: invalid residual.num_streams '3' for kromhc (must be a power of two)"},
        {"NoWindow", small("residual: {scheme: attnres_sliding_window, window: 0}"),
         "it.yaml:3:52: error: invalid residual.window '0' (must be a positive integer)"},
        {"WindowOverAllLayers", small("residual: {scheme: attnres_sliding_window, window: 17}"),
         "it.yaml:3:52: error: invalid residual.window '17' for attnres_sliding_window (more than 16 layers)"},
        {"NoDilation", small("residual: {scheme: denseformer, dilation: 0}"),
         "it.yaml:3:43: error: invalid residual.dilation '0' (must be a positive integer)"},
        {"DilationOverAllBlocks", small("residual: {scheme: denseformer, dilation: 9}"),
         "it.yaml:3:43: error: invalid residual.dilation '9' for denseformer (more than 8 decoder layers)"},
        {"PeriodOverAllBlocks", small("residual: {scheme: denseformer, period: 9}"),
         "it.yaml:3:41: error: invalid residual.period '9' for denseformer (more than 8 decoder layers)"},
        {"ValuesThatDoNotDivide", small("residual: {scheme: deep_delta, value_width: 3}"),
         "it.yaml:3:45: error: invalid residual.value_width '3' for deep_delta (must divide d = 8)"},
        {"HeadsThatDoNotDivide", small("residual: {scheme: attnres_multihead, heads: 3}"),
         "it.yaml:3:46: error: invalid residual.heads '3' for attnres_multihead (must divide d = 8)"},
        {"BlocksOverAllLayers", small("residual: {scheme: boundary_attention, block_size: 17}"),
         "it.yaml:3:52: error: invalid block_size '17' (the model has only 16 layers)"},
        {"BlocksOfAnotherScheme", small("residual: {scheme: standard, block_size: 17}"),
         "it.yaml:3:42: error: invalid block_size '17' (the model has only 16 layers)"},
        {"ValuesMuchWiderThanTheModel", small("residual: {scheme: value_residual, kv_size: 9000}"),
         "it.yaml:3:45: error: invalid residual.kv_size '9000' for value_residual (more than 1024 d)"},
        {"TooManyWays", small("residual: {scheme: muddformer, ways: 1025}"),
         "it.yaml:3:38: error: invalid residual.ways '1025' for muddformer (more than 1024 ways)"},
        {"RankOfAFraction", small("residual: {scheme: laurel_lr, rank: 0.5}"),
         "it.yaml:3:37: error: invalid residual.rank '0.5' (must be a positive integer in plain digits)"},
        {"BesideAnother",
         small("residual: {scheme: standard, compare: [deep_delta], value_width: 3}"),
         "it.yaml:3:66: error: invalid residual.value_width '3' for deep_delta (must divide d = 8)"},
        {"ADefaultThatIsTooLarge", small("residual: {scheme: attnres_multihead}"),
         "it.yaml:3:20: error: invalid residual.heads '16' for attnres_multihead (must divide d = 8)"},
        {"ADefaultBesideAnother",
         small("residual: {scheme: standard, compare: [attnres_multihead]}"),
         "it.yaml:3:40: error: invalid residual.heads '16' for attnres_multihead (must divide d = 8)"},
        {"ScheduleOfAnother", small("residual: {scheme: rezero, schedule: two_phase}"),
         "it.yaml:3:38: error: invalid residual.schedule 'two_phase' (rezero runs as unfused | fused)"},
    }),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::mechanism_scenarios_test
