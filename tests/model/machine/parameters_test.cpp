// Parameters: how many a call reads, how old they are, and what they cost where tokens are few.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <type_traits>

#include "kernels/operations/backward/operations.hpp"
#include "kernels/operations/operations.hpp"
#include "model/machine/catalogue.hpp"
#include "model/machine/time.hpp"
#include "model/operations/attnres_operations.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/mhc_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "tests/model/machine/launch_time.hpp"
#include "tests/studies.hpp"

namespace depthcost::parameters_test {
namespace {

constexpr double kUs = 1e-6;
constexpr Count kBankRows = 3;

/// Adds up the parameters that an operation reads: its operands of shape (n).
struct ParameterCounter : IgnoresSizes {
  bool has_one_scale = false;
  std::size_t elements = 0;

  void one_or(const char* /*name*/, std::size_t& size, const char* /*of_other*/,
              std::size_t other) const {
    size = has_one_scale ? 1 : other;
  }
  template <class P>
  void reads(const char* /*name*/, const P& /*operand*/, OperandShape shape) {
    if (shape.size() == 1) elements += *shape.begin();
  }
  template <class P>
  void reads_inner(const char* name, const P& operand, OperandShape shape) {
    reads(name, operand, shape);
  }
  template <class P>
  void reads_optional(const char* name, const P& operand, OperandShape shape) {
    reads(name, operand, shape);
  }
  template <class P>
  void updates_inner(const char* /*name*/, const P& /*operand*/, OperandShape /*shape*/) const {}
  template <class P>
  void writes(const char* /*name*/, const P& /*operand*/, OperandShape /*shape*/) const {}
};

/// What a call of `operation` reads by the operands of its struct, if they say it.
std::optional<double> by_operands(std::string_view operation, Count d) {
  ParameterCounter counter;
  counter.has_one_scale = operation.ends_with("/scalar");
  const std::string_view name = operation.substr(0, operation.find('/'));
  std::optional<double> elements;
  const auto visit = [&]<class Op>(std::type_identity<Op>) {
    if constexpr (RowOperation<Op>)
      if (name == kOperationName<Op>) {
        Op op{.num_tokens = 3, .hidden_size = static_cast<std::size_t>(d)};
        Op::operands(op, counter);
        elements = static_cast<double>(counter.elements);
      }
  };
#define DEPTHCOST_VISIT(Op, name) visit(std::type_identity<Op<float>>{});
  DEPTHCOST_OPERATIONS(DEPTHCOST_VISIT)
  DEPTHCOST_BACKWARD_OPERATIONS(DEPTHCOST_VISIT)
#undef DEPTHCOST_VISIT
  return elements;
}

/// Every parameter of the shapes of the other operations in kernels/operations, one by one.
double by_hand(const std::string& operation, Count S, Count m, Count d) {
  const auto named = [&](std::string_view part) {
    return operation.find(part) != std::string::npos;
  };
  double elements = 0;
  const bool is_mixing = named("attnres") || named("scores");
  const bool is_given_rows = named("input_dependent");
  const Count queries = !is_mixing || is_given_rows ? 0 : named("phase1") ? S : 1;
  for (Count q = 0; q < queries; ++q)
    for (Count i = 0; i < d; ++i) ++elements;
  const bool has_phi = operation.starts_with("mhc_pre") || named("mhc_boundary") ||
                       named("coefficients") || named("single_pass_mhc");
  for (Count row = 0; has_phi && row < m * m + 2 * m; ++row) {
    ++elements;  // its bias
    for (Count i = 0; i < m * d; ++i) ++elements;
  }
  const bool has_norm = named("rmsnorm") || (named("attnres") && !named("bare")) ||
                        operation.starts_with("mhc_pre") || named("boundary") ||
                        named("single_pass_mhc") || named("dense_mix");
  for (Count i = 0; has_norm && i < d; ++i) ++elements;
  // What a call is given beside its gain: beta with A_r and A_m, gains and matrices, alpha.
  if (operation == "hc_boundary")
    for (Count i = 0; i < m; ++i) elements += static_cast<double>(m) + 1 + 1;
  for (Count i = 0; named("altup") && i < d; ++i) {
    elements += named("middle") ? 2 : 1;      // gains of norms of whole rows
    if (named("laurel")) elements += 2 * 64;  // of Gemma 3n's rank
    if (named("predict") || named("correct")) elements += static_cast<double>(m) + 1;
  }
  for (Count i = 0; i < m * m; ++i) {
    if (named("predict")) elements += static_cast<double>(m);
    if (named("altup_correct")) ++elements;
  }
  if (named("dense_mix")) elements += kBankRows + 1;
  return elements;
}

TEST(Parameters, AreWhatALoopOverEveryShapeCounts) {
  for (const CatalogueEntry& entry : catalogue())
    for (const Count S : {1, 8, 24})
      for (const Count m : {1, 2, 4}) {
        const Operation operation =
            entry.operation({.num_sources = kBankRows, .num_queries = S, .num_streams = m});
        const std::string name(entry.name);
        EXPECT_EQ(parameter_elements(operation, 10),
                  by_operands(name, 10).value_or(by_hand(name, S, m, 10)))
            << name << " S " << S << " m " << m;
      }
}

TEST(Parameters, AreAQueryAndAGainWhereverAForwardPassMixes) {
  const LayerPosition first{.block = 3, .index = 1, .size = 24, .previous_size = 24};
  const LayerPosition later{.block = 3, .index = 5, .size = 24, .previous_size = 24};
  for (const Operation& operation :
       {operations::block_single_pass(first), operations::block_single_pass(later),
        operations::block_phase2(later), operations::full_single_pass(9),
        operations::full_phase2(later), operations::block_output(partition_by_size(186, 24))})
    EXPECT_EQ(operation.parameters_d, 2) << name(operation.id);
  EXPECT_EQ(operations::block_phase1(first).parameters_d, 24 + 1);
}

// Kimi K3's width: 24 rows of 4 x 7168, f32.
TEST(Parameters, OfMhcAreMoreThanItsStreamsUpToAHundredTokens) {
  const Operation pre = operations::mhc_pre(4, 0);
  const VectorStorage types{.hidden_size = 7168};
  EXPECT_EQ(parameter_bytes(pre, types).value, 4 * (24 * (4 * 7168 + 1) + 7168));
  const double streams_and_output = bytes(traffic(pre), types).value;
  EXPECT_NEAR(parameter_bytes(pre, types).value / streams_and_output, 38.8, 0.1);
}

Execution one_token(std::optional<Bytes> layer_bytes = std::nullopt) {
  return {.tokens = 1, .storage = {.hidden_size = 1000}, .layer_bytes = layer_bytes};
}

/// Seconds of the parameters alone: the same call without them subtracted.
double parameter_us(const Machine& machine, const Operation& operation, const Execution& execution,
                    const Corner& corner = {}) {
  Operation without = operation;
  without.parameters_d = without.parameters = 0;
  return (test::time_terms(machine, operation, execution, corner).bytes -
          test::time_terms(machine, without, execution, corner).bytes)
             .value /
         kUs;
}

// phi of two streams: 8 rows of 2000 and 8 biases, and the gain: 68,032 bytes at 5 TB/s of reads.
TEST(Parameters, AreReadOnceACallWhateverItsTokensAre) {
  const Machine machine = test::round_machine();
  const Operation pre = operations::mhc_pre(2, 0);
  for (const double tokens : {1.0, 64.0, 4096.0}) {
    Execution execution = one_token();
    execution.tokens = tokens;
    EXPECT_NEAR(parameter_us(machine, pre, execution), 0.068032 / 5, 1e-9) << tokens;
  }
}

// Round 5 holds 50 MB. What a layer streams lies between two uses of an operand, all layers'
// between two of a parameter.
TEST(Parameters, AreAsOldAsAForwardPass) {
  const Machine machine = test::round_machine();
  const Operation norm = operations::residual_add_rmsnorm();  // 12 kB of its own, 4 kB of them gain
  const auto us = [&](std::optional<Bytes> layer_bytes, double layers, IntervalEnd residency) {
    Execution execution = one_token(layer_bytes);
    execution.parameter_age = layers;
    return parameter_us(machine, norm, execution, {.residency = residency});
  };
  EXPECT_NEAR(us(Bytes{1e6}, 40, IntervalEnd::value), 0.004 / 10, 1e-12);
  EXPECT_NEAR(us(Bytes{1e6}, 200, IntervalEnd::value), 0.004 / 5, 1e-12);
  EXPECT_NEAR(us(std::nullopt, 40, IntervalEnd::value), 0.004 / 5, 1e-12) << "unknown: from memory";
  EXPECT_NEAR(us(std::nullopt, 40, IntervalEnd::low), 0.004 / 10, 1e-12) << "and might be cached";
  EXPECT_NEAR(us(std::nullopt, 10'000, IntervalEnd::low), 0.004 / 5, 1e-12);
}

TEST(Parameters, OfAKernelAloneAreWhereTheCallBeforeHasLeftThem) {
  const Machine machine = test::round_machine();
  const Operation norm = operations::residual_add_rmsnorm();
  Execution execution = one_token();
  execution.temperature = Temperature::cold;
  EXPECT_NEAR(parameter_us(machine, norm, execution), 0.004 / 5, 1e-12);
  execution.temperature = Temperature::hot;
  EXPECT_NEAR(parameter_us(machine, norm, execution), 0.004 / 10, 1e-12);
}

TEST(Parameters, BoundTheTimeOfFewTokens) {
  Machine machine = test::round_machine();
  for (LaunchFloor& entry : machine.floors) entry.floor = {};
  Execution execution = one_token(Bytes{1e9});
  const Operation pre = operations::mhc_pre(2, 0);
  // Streams and x have just been touched: 6024 bytes from the cache.
  EXPECT_DOUBLE_EQ(test::bound_time(machine, pre, execution).value, 68'032 / 6e12);
  EXPECT_EQ(launch_bytes(pre, execution).value, 3 * 2000 + 6 * 4 + 68'032);
}

TEST(Parameters, OfAStartFromMemoryMakeItACold) {
  const Machine machine = test::round_machine();
  Operation gain_alone = operations::rmsnorm();  // reads what the kernel before has written
  const auto floor = [&](const Operation& operation) {
    return test::time_terms(machine, operation, one_token(), {}).floor.value;
  };
  EXPECT_EQ(floor(gain_alone), 2 * kUs);
  gain_alone.parameters_d = 0;
  EXPECT_EQ(floor(gain_alone), 1 * kUs);
}

/// Round 5 with a core that costs nothing, so that bytes are all that is seen.
Machine with_core(double threads, double second_level) {
  Machine machine = test::round_machine();
  machine.core = Core{.second_level = {second_level}, .threads = threads};
  return machine;
}

/// Tile by tile, as kernels/cpu does it: the first reading from where the call before has left
/// them, each further one from the cache, which holds a tile's tokens and all parameters here.
double tiled_us(double tokens, double threads, double parameters_mb) {
  double us = 0;
  bool is_first = true;
  for (int thread = 0; thread < static_cast<int>(threads); ++thread)
    for (double done = 0; done < tokens / threads; done += 96) {
      us += parameters_mb / (is_first ? 5 : 10);
      is_first = false;
    }
  return us;
}

TEST(Parameters, AreReadAgainForEveryTileOfTokensByACpu) {
  const Operation pre = operations::mhc_pre(2, 0);
  for (const double threads : {1.0, 2.0})
    for (const double tokens : {96.0, 192.0, 960.0, 9600.0}) {
      Execution execution = one_token();
      execution.tokens = tokens;
      EXPECT_NEAR(parameter_us(with_core(threads, 0), pre, execution),
                  tiled_us(tokens, threads, 0.068032), 1e-9)
          << tokens << " tokens, " << threads << " threads";
    }
}

TEST(Parameters, OfMatrixProductsAloneAreReadAgain) {
  Execution execution = one_token();
  execution.tokens = 9600;
  EXPECT_NEAR(parameter_us(with_core(1, 0), operations::residual_add_rmsnorm(), execution),
              0.004 / 5, 1e-9);
}

TEST(ACoresOwnCaches, ServeAtItsOwnRatesWhatWasUsedALittleBefore) {
  const Operation add = operations::residual_add();  // 6 kB of traffic
  Execution execution = one_token();
  execution.temperature = Temperature::hot;
  const auto us = [&](double second_level) {
    return test::time_terms(with_core(1, second_level), add, execution, {}).bytes.value / kUs;
  };
  EXPECT_EQ(us(6000), 0);
  EXPECT_DOUBLE_EQ(us(5999), 0.006 / 10);
  EXPECT_EQ(test::bound_time(with_core(1, 6000), add, execution).value, 0.9 * kUs);
  execution.temperature = Temperature::cold;
  EXPECT_GT(us(6000), 0);
}

}  // namespace
}  // namespace depthcost::parameters_test
