// One line of text for each row of the ledger; the code that it describes is named beside it.
#include "reports/topics/ledger/ledger_formula.hpp"

#include "model/schemes/mechanism.hpp"

namespace depthcost {
namespace {

using enum Schedule;

LedgerFormula table1(const std::string& formula, const std::string& row) {
  return {formula, "[attnres] Table 1, row \"" + row + "\"",
          "model/schemes/table1.hpp: table1_traffic"};
}

/// The counts of Appendix B and its corrections differ in what they charge, not in their form.
std::string rules_text(Convention convention) {
  switch (convention) {
    case Convention::appendixB:
      return "keys and values apart (c = 2), without b_0 (e = 0)";
    case Convention::appendixB_emb:
      return "keys and values apart (c = 2), with b_0 (e = 1)";
    case Convention::tied:
      return "k = v read once (c = 1), with b_0 (e = 1)";
    case Convention::physical:
      return "c = 1, e = 1, and b += f folded into the kernel that reads b (+1 r, 1 w for 3 <= i "
             "<= S; +2 r, 1 w to close a block)";
    default:
      return "c = 1, e = 1, and b += f as its own kernel (+2 r, 1 w for i >= 2)";
  }
}

bool is_flat(Convention convention) {
  return convention == Convention::appendixB || convention == Convention::appendixB_emb ||
         convention == Convention::tied;
}

struct CountedFormula {
  Counting counting;

  LedgerFormula operator()(const Standard&) const { return {}; }
  LedgerFormula operator()(const Mhc&) const { return {}; }
  LedgerFormula operator()(const MechanismScheme&) const { return {}; }
  LedgerFormula operator()(const FullAttnRes&) const {
    if (counting.schedule == single_pass)
      return with("layer l: c (l - 1 + e) r, 1 w", "full_single_pass", "Eq. 4, 11");
    if (is_flat(counting.convention))
      return with("first layer of a group: c (l - 1 + e) r; i-th layer: c (i - 1) r; 2 w each",
                  "full_two_phase", "Eq. 11-17");
    return with(
        "first layer of a group: l r, 1 w; i-th layer: (i - 1) + o r, h + o w, 2 + 2 scalars",
        "full_two_phase", "Algorithm 1");
  }
  LedgerFormula operator()(const BlockAttnRes&) const {
    if (counting.schedule == single_pass)
      return with("i-th layer of block n: c (n - 1 + e + [i >= 2]) r, 1 w", "block_single_pass",
                  "Eq. 6");
    if (is_flat(counting.convention))
      return with("first layer of block n: c (n - 1 + e) r more; every layer: 3 r, 2 w",
                  "block_two_phase", "Table 1, Eq. 11");
    return with("first layer of block n: n r, 1 w; i >= 2: o + b r, h + o w, 2 + 2 scalars",
                "block_two_phase", "Algorithm 1");
  }

  LedgerFormula with(const std::string& form, const std::string& function,
                     const std::string& where) const {
    return {form + "; " + rules_text(counting.convention),
            "[attnres] " + where + "; [ours] REFERENCES.md, conventions",
            "model/schemes/attnres_counting.hpp: " + function};
  }
};

struct PaperFormula {
  LedgerFormula operator()(const Standard&) const { return table1("2 r, 1 w", "Standard"); }
  LedgerFormula operator()(const Mhc&) const {
    return table1("(5m + 1) r, (3m + 1) w, m^2 + 2m scalars r and w", "mHC");
  }
  LedgerFormula operator()(const MechanismScheme&) const { return {}; }
  LedgerFormula operator()(const FullAttnRes&) const {
    return table1("(N - 1) + (S - 1) r, 2 w, S = L/N", "Full");
  }
  LedgerFormula operator()(const BlockAttnRes&) const {
    return table1("N/S + 3 r, 2 w, S = L/N", "Block");
  }
};

struct KernelFormula {
  Schedule schedule;

  LedgerFormula operator()(const Standard&) const {
    if (schedule == fused) return ours("add and norm: 2 r, 2 w", "residual_add_rmsnorm");
    return ours("add: 2 r, 1 w; norm: 1 r, 1 w", "residual_add, rmsnorm");
  }
  LedgerFormula operator()(const Mhc&) const {
    if (schedule == fused)
      return ours("post: m + 1 r, m w; pre with norm: 2m r, 1 w", "mhc_post, mhc_pre");
    if (schedule == two_pass) return ours("boundary: 2m + 1 r, m + 1 w", "mhc_boundary");
    if (schedule == one_pass) return ours("boundary: m + 1 r, m + 1 w", "mhc_boundary");
    return {"the five rows of Table 1, (8m + 2) d, and the norm: 1 r, 1 w", "[mhc] Table 2",
            "model/operations/unfused_operations.hpp: operations::unfused_mhc_*"};
  }
  LedgerFormula operator()(const MechanismScheme& scheme) const {
    const Mechanism& mechanism = *scheme.mechanism;
    return {std::string(mechanism.moves), std::string(mechanism.source),
            "model/schemes/mechanisms/" + std::string(mechanism.file)};
  }
  LedgerFormula operator()(const FullAttnRes&) const {
    if (schedule == single_pass) return ours("layer l: l r, 1 w", "full_single_pass");
    if (schedule == two_phase)
      return ours("Phase 1 of a group: l r, S w; i-th layer: (i - 1) + o r, 1 w",
                  "full_phase1, full_phase2");
    return eager("s = l sources");
  }
  LedgerFormula operator()(const BlockAttnRes&) const {
    if (schedule == single_pass)
      return ours(
          "layer 1: 1 r, 1 w; first layer of block n >= 2: n + 1 r, 2 w; second layer: n + 1 r, 1 "
          "w; later: n + 2 r, 2 w; output: N + 2 r, 1 w",
          "block_single_pass, block_output");
    if (schedule == two_phase)
      return ours(
          "Phase 1 of block 1: 1 r, S w; of block n >= 2: n + 1 r, S + 1 w; second layer: 2 r, 1 "
          "w; later: 3 r, 2 w",
          "block_phase1, block_phase2");
    return eager("s = n sources, n + 1 from the second layer of a block; b += f: 2 r, 1 w");
  }

  static LedgerFormula ours(const std::string& formula, const std::string& function) {
    return {formula, "[ours] REFERENCES.md, operations",
            "model/operations/operation.hpp: operations::" + function};
  }
  static LedgerFormula eager(const std::string& sources) {
    return {
        "stack s r, s w; key norm s r, s w; scores s r; mix s r, 1 w; norm 1 r, 1 w; " + sources,
        "[ours] REFERENCES.md, operations",
        "model/operations/unfused_operations.hpp: operations::unfused_*"};
  }
};

}  // namespace

LedgerFormula ledger_formula(const Scheme& scheme, Counting counting) {
  if (counting.convention == Convention::paper) return std::visit(PaperFormula{}, scheme);
  if (counting.convention == Convention::kernel)
    return std::visit(KernelFormula{counting.schedule}, scheme);
  return std::visit(CountedFormula{counting}, scheme);
}

}  // namespace depthcost
