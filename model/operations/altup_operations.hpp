// Launches of AltUp with LAuReL, of A copies. REFERENCES.md, "operations" and [altup].
#pragma once

#include "model/operations/catalogue_entry.hpp"

namespace depthcost::operations {

inline constexpr OperationId kAltupPredict{"altup_predict"};

/// p and x: A r, A + 1 w. M with its gain, P_c, and the gain of x.
constexpr Operation altup_predict(double A) {
  return {.id = kAltupPredict,
          .accesses = {Access{Operand::streams, A, A}, Access{Operand::layer_input, 0, 1}},
          .flops_d = 2 * A * A + 2 * A + 4,
          .parameters_d = kGain_d + A + 1,
          .parameters = A * A * A};
}

inline constexpr OperationId kAltupLaurel{"altup_laurel"};

/// l: 1 r, 1 w. L, R and the gain of its norm.
constexpr Operation altup_laurel(double rank) {
  return {.id = kAltupLaurel,
          .accesses = {Access{Operand::layer_input, 1, 0}, Access{Operand::recent, 0, 1}},
          .flops_d = 4 * rank + 5,
          .parameters_d = kGain_d + 2 * rank};
}

inline constexpr OperationId kAltupMiddle{"altup_middle"};

/// q and the MLP's input: attention's output, p_0 and l r, 2 w. Two gains.
constexpr Operation altup_middle() {
  return {.id = kAltupMiddle,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::streams, 1, 0},
                       Access{Operand::recent, 1, 1}, Access{Operand::layer_input, 0, 1}},
          .flops_d = 11,
          .parameters_d = kGain_d + 1};
}

inline constexpr OperationId kAltupCorrect{"altup_correct"};

/// h: the MLP's output, q and p r, A w. The gain behind the MLP, M with its gain, and C.
constexpr Operation altup_correct(double A) {
  return {.id = kAltupCorrect,
          .accesses = {Access{Operand::layer_output, 1, 0}, Access{Operand::recent, 1, 0},
                       Access{Operand::streams, A, A}},
          .flops_d = 5 * A + 8,
          .parameters_d = kGain_d + A + 1,
          .parameters = A * A};
}

/// LAuReL's rank in Gemma 3n, of the call that is measured.
inline constexpr double kLaurelRank = 64;

inline constexpr std::array kAltupEntries{
    CatalogueEntry{
        .name = kAltupPredict.text,
        .meaning = "AltUp of Gemma 3n: p = h + P(h_0) h, x = norm(p_0)",
        .moves = "m r, m + 1 w",
        .has_streams = true,
        .operation = [](const CallCounts& c) { return altup_predict(as_double(c.num_streams)); }},
    CatalogueEntry{.name = kAltupLaurel.text,
                   .meaning = "LAuReL beside it: l = x + norm(R L x)",
                   .moves = "1 r, 1 w",
                   .operation = [](const CallCounts&) { return altup_laurel(kLaurelRank); }},
    CatalogueEntry{.name = kAltupMiddle.text,
                   .meaning = "q = (p_0 + norm(attention) + l) / sqrt 2, x = norm(q)",
                   .moves = "3 r, 2 w",
                   .operation = [](const CallCounts&) { return altup_middle(); }},
    CatalogueEntry{
        .name = kAltupCorrect.text,
        .meaning = "a = q + norm(MLP), h_i = p_i + c_i(a) (a - p_0)",
        .moves = "m + 2 r, m w",
        .has_streams = true,
        .operation = [](const CallCounts& c) { return altup_correct(as_double(c.num_streams)); }},
};

}  // namespace depthcost::operations
