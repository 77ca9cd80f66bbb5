// Launches of dense mixing over depth: weights that are parameters, no queries. REFERENCES.md,
// "family".
#pragma once

#include "model/operations/catalogue_entry.hpp"

namespace depthcost::operations {

/// What dense mixing moves beside the bank's rows, the layer's output f and x.
struct DenseMixAccess {
  double hidden_reads = 0;   // 1: the last source is h + f, not f
  double bank_writes = 0;    // 1: the last source becomes a row of the bank
  double hidden_writes = 0;  // 1: y replaces the hidden state
};

inline constexpr OperationId kDenseMix{"dense_mix"};

/// y = sum_j alpha_j v_j over n rows of the bank and a last source from f; x = norm(y). One scan:
/// n + 1 r, 1 w, and what `extra` says. The gain and n + 1 weights.
constexpr Operation dense_mix(Count bank_rows, const DenseMixAccess& extra = {}) {
  const double sources = as_double(bank_rows) + 1;
  return {.id = kDenseMix,
          .sources = bank_rows + 1,
          .accesses = {Access{Operand::bank, as_double(bank_rows), extra.bank_writes},
                       Access{Operand::hidden_state, extra.hidden_reads, extra.hidden_writes},
                       Access{Operand::layer_output, 1, 0}, Access{Operand::layer_input, 0, 1}},
          .flops_d = extra.hidden_reads + 2 * sources,
          .parameters_d = kGain_d,
          .parameters = sources};
}

/// DenseFormer behind a Transformer block: its output X_n = h + f goes to the bank, and the mix
/// over X_0 .. X_n is the hidden state from which the next block goes on. n + 2 r, 3 w.
constexpr Operation denseformer_mix(Count bank_rows) {
  return dense_mix(bank_rows, {.hidden_reads = 1, .bank_writes = 1, .hidden_writes = 1});
}

inline constexpr std::array kDenseEntries{
    CatalogueEntry{
        .name = kDenseMix.text,
        .meaning =
            "y = sum_j alpha_j v_j over n bank rows and f, x = norm(y); DenseFormer: h + f to the bank, y in place of h",
        .moves = "n + 1 r, 1 w; DenseFormer n + 2 r, 3 w",
        .sources = "bank rows, beside the layer's output",
        .operation = [](const CallCounts& c) { return dense_mix(c.num_sources); }},
    CatalogueEntry{.name = "dense_mix/stream",
                   .sources = "bank rows, beside the one that is written",
                   .operation = [](const CallCounts& c) { return denseformer_mix(c.num_sources); }},
};

}  // namespace depthcost::operations
