// What one core of a CPU does beside moving bytes: an operation as passes over rows, each with a
// cost per element. REFERENCES.md, "core".
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/base/enum_names.hpp"
#include "model/base/evidence.hpp"
#include "model/operations/operation.hpp"

namespace depthcost {

/// A pass over a row of d elements.
enum class Primitive : std::uint8_t {
  score,     // dot product and sum of squares
  mix,       // scaled accumulation into one output
  add,       // elementwise
  scale,     // the norm's output
  widen,     // a row into scratch of f32, for the tiles
  multiply,  // one multiply-add of registers
  product,   // one multiply-add of a product of matrices, by matrix units where the core has them
};

/// Tables of before 2026-11-24 have no rate of it: `multiply` stands for it there.
constexpr bool is_optional(Primitive primitive) { return primitive == Primitive::product; }

/// Where the rows of a pass are: they come in from memory with it, were kept from an earlier pass,
/// wait in L2 for a tile of tokens, or lie in registers since the pass that loaded them.
enum class RowsOf : std::uint8_t { stream, cache, tile, registers };

struct CorePass {
  Primitive primitive = Primitive::add;
  RowsOf rows_of = RowsOf::stream;
  double rows = 0;  // of d elements, per token
};

struct CoreWork {
  std::array<CorePass, 8> passes{};
  double kept_rows = 0;  // of a token, kept between two passes
  double tile_rows = 0;  // of parameters, read and widened anew for every kTokensPerTile tokens
};

/// Tokens that share a parameter row which is brought into a core's reach for them: kMhcTokens of
/// kernels/cpu.
inline constexpr double kTokensPerTile = 96;

/// Tiles of tokens that a thread of `threads` works through, one after the other.
double tiles_of_thread(double tokens, double threads);

CoreWork core_work(const Operation& operation);

enum class CoreLevel : std::uint8_t { L1, L2, memory };

/// What a core has rates of: the types that kernels/cpu is built for, and the caches of one core.
inline constexpr std::array kCoreDtypes{Dtype::bf16, Dtype::f32};
inline constexpr std::array kRatedLevels{CoreLevel::L1, CoreLevel::L2};

/// How fast one thread does one element of a row that lies in `level`.
struct CoreRate {
  Primitive primitive = Primitive::add;
  Dtype dtype = Dtype::f32;
  CoreLevel level = CoreLevel::L1;
  Estimate<Seconds> per_element;
};

/// How core and memory time go together.
///   max     max(memory, core)
///   sum     memory + core
///   passes  max(memory, core) + exposed x min(memory, core), and on top what memory does not hide
///           at all: register tiles, and passes over kept rows that L1 cannot hold. Their loads
///           wait behind those from memory.
enum class CoreForm : std::uint8_t { max, sum, passes };

struct Core {
  std::vector<CoreRate> rates;  // of every primitive, dtype and rated level
  Bytes first_level;            // kept rows up to here stay in L1
  Bytes second_level;           // what is used again within so many bytes comes from L1 or L2
  double threads = 1;
  CoreForm form = CoreForm::passes;
  double exposed = 0;  // share of the shorter of memory and streaming passes that is not hidden
};

/// Core time that runs beside memory, how much of the shorter is exposed, and what comes on top.
struct CoreTime {
  Seconds beside;
  Seconds on_top;
  double exposed = 0;
};

/// The time of `tokens` tokens of d-vectors stored as `dtype`.
CoreTime core_time(const Core& core, const Operation& operation, double tokens, double hidden_size,
                   Dtype dtype);

}  // namespace depthcost
