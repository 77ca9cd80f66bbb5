// What a GPU kernel takes for one token, however few there are. A token is one CTA, or a small
// cluster: it draws what its loads in flight allow, and it waits for steps that depend on one
// another. REFERENCES.md, "few tokens".
//
//   token = waves x reads of a token / draw
//         + dependent steps
//         + tokens at work x projection weights / (reuse x bandwidth of the cache)
//         + waves x bytes of a product's CTA / draw
//
// Where a kernel projects, a second wave is hidden in part. Dependent steps of one token are hidden
// behind the bytes of others. model/machine/time.hpp says what becomes of the sum.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/base/evidence.hpp"
#include "model/base/units.hpp"
#include "model/machine/constants.hpp"
#include "model/operations/operation.hpp"

namespace depthcost {

/// How a kernel brings a token's rows in.
///   window  all of them at once: its first latency is in the launch floor
///   loop    one CTA, a few loads at a time
///   ring    a cluster whose bulk copies run ahead of the arithmetic
enum class RowLoads : std::uint8_t { window, loop, ring };

/// Whose kernel makes a matrix product as wide as a layer's.
///   library  a framework's: it makes the product and nothing else, and is never launched ahead
///   engine   one for few tokens, with what stands around the product inside; launched ahead
enum class ProductKernel : std::uint8_t { none, library, engine };

/// How the projection of mHC's streams reads its weights.
///   whole   every token's CTA takes all of them, however few tokens there are, in one kernel
///   split   the CTAs share them out, and a second kernel adds up what they have made: a machine
///           reads them about once
///   either  whichever is faster: whole for few tokens
enum class Projection : std::uint8_t { none, whole, split, either };

/// Counts of an operation's implementation, the fastest that is published.
struct TokenWork {
  double launches = 1;
  double launches_of_split = 0;  // of a split projection: they add its parts up, then read rows
  RowLoads loads = RowLoads::window;
  double coefficient_steps = 0;              // coefficients are read before the rows are
  double sinkhorn_steps = 0;                 // reductions of a row and Sinkhorn iterations
  Projection projection = Projection::none;  // of all streams onto coefficients
  ProductKernel product = ProductKernel::none;
};

/// Whether engines launch the kernels of a plain graph before their neighbour ends.
enum class Prefetch : std::uint8_t { none, before_start };

/// What the kernels of an architecture do. Rings need Blackwell's datacentre parts: vLLM, SGLang
/// and TensorRT-LLM ship them for SM100 alone. Split projections need Hopper or SM100: DeepGEMM.
struct KernelStyle {
  RowLoads attnres_loads = RowLoads::loop;
  Prefetch prefetch = Prefetch::none;
  Projection projection = Projection::whole;
};

/// Counts of this project's kernels on an architecture whose published ones are `published`. A row
/// is split over a cluster and loaded at once where there are clusters; every cluster reads phi
/// whole; nothing is launched ahead but by graph_pdl.
KernelStyle our_style(const KernelStyle& published);

TokenWork token_work(const Operation& operation, const KernelStyle& style);

/// Constants of a GPU, with their 90 % intervals. A part of another architecture borrows them, with
/// wider intervals.
struct FewTokens {
  Count num_multiprocessors = 1;
  KernelStyle style;
  Prefetch engine_prefetch = Prefetch::none;  // of an engine's kernels, also if `style` is ours
  double floor_share = 1;  // floors of kernels that loop over those of plain ones
  double cache_share = 1;  // of the cache's capacity that these kernels find their data in
  // Bandwidth over that of plain streams.
  double stream_efficiency = 1;
  double projection_efficiency = 1;  // of kernels that project the streams
  double projection_wave = 1;        // what the second wave of these takes of the first
  Estimate<BytesPerSecond> loop_draw;
  Estimate<BytesPerSecond> ring_draw;  // and of a window
  Estimate<double> projection_reuse;   // KernelConstants
  Estimate<Seconds> coefficient_step;
  Estimate<Seconds> sinkhorn_step;
  Estimate<Seconds> folded_call;    // what a host kernel takes longer with an operation inside it
  Estimate<double> kernel_scatter;  // measured / predicted of kernels of many tokens
  StackFactors stack;               // whose kernels of mHC they are
};

/// Whether stacks' kernels of an operation have been measured: of mHC alone.
bool is_measured_by_stack(OperationId operation);

/// What a stack's kernel takes over the fastest; 1 where nobody has measured that.
const Estimate<double>& stack_factor(const FewTokens& constants, const Operation& operation);

/// The same part with the kernels of an implementation. `eager` has operations of its own, and
/// nothing else changes.
FewTokens with_kernels_of(Implementation implementation, FewTokens part,
                          const Constants& constants);

/// A part whose architecture is `architecture`, as near as `kinship` says to those of the
/// constants.
FewTokens few_tokens(Count num_multiprocessors, const KernelStyle& style,
                     const Constants& constants, std::string_view architecture, Kinship kinship);

/// Bytes that one multiprocessor's CTAs of an engine's product draw one after the other. A CTA
/// makes 64 results of the tokens of its tile. K is split over a cluster of as many CTAs as one
/// wave holds. Tiles are those that SGLang ships for up to 24 tokens; more tokens take no longer,
/// since a library's product would serve them. REFERENCES.md, "few tokens".
Bytes product_bytes_in_turn(Count num_multiprocessors, const Operation& operation,
                            const VectorStorage& types, double tokens);

/// CTAs that work on one token: an SM's port carries 110 to 125 GB/s, and a ring or a window draws
/// twice that.
double ctas_per_token(RowLoads loads);

}  // namespace depthcost
