// A benchmark reports the bytes that its operation moves, and finds a wrong kernel.
#include "microbench/cases/case_list.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "kernels/cpu/run.hpp"
#include "microbench/harness/traffic_label.hpp"
#include "microbench/harness/verification.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/mhc_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "tests/microbench/cases/element_counter.hpp"

namespace depthcost::bench::cases_test {
namespace {

constexpr Shape kSmall{.num_tokens = 9, .hidden_size = 48, .num_blocks = 3, .num_queries = 4};

/// The CPU kernels take any shape; all operands of a small one fit.
std::unique_ptr<Arena> arena() { return host_arena(std::size_t{16} << 20); }

/// visit(name, model, call type, make) for the small shape.
template <class T, class Visit>
void each_small_case(const Visit& visit) {
  const auto visit_op = [&](std::string_view name, const Operation& model, auto make_op) {
    using Op = decltype(make_op(kSmall, std::declval<Operands&>()));
    visit(std::string(name), model, std::type_identity<Op>{},
          [=](Operands& operands) { return make_op(kSmall, operands); });
  };
  each_fused_case<T>(kSmall, StreamsAgain::on_chip, visit_op);
  each_variant_case<T>(kSmall, visit_op);
  each_gated_case<T>(kSmall, visit_op);
  each_eager_gated_case<T>(kSmall, visit_op);
  each_backward_case<T>(kSmall, visit_op);
  each_unfused_case<T>(kSmall, visit_op);
}

TEST(BenchmarkCases, MoveWhatTheModelSays) {
  std::size_t checked = 0;
  each_small_case<Bf16>([&]<class Op>(const std::string& name, const Operation& model,
                                      std::type_identity<Op>, const auto& make) {
    const auto memory = arena();
    auto call = make_call<Op>(make, *memory, kSmall.num_tokens);
    ElementCounter counter;
    reference::run(call.op, counter);
    const auto T = static_cast<double>(kSmall.num_tokens);
    const double vectors = T * static_cast<double>(kSmall.hidden_size);
    const Traffic expected = traffic(model);
    if (name == "residual_scaling_rmsnorm") {  // floats are its stream, two d-vectors of bf16
      counter.reads += 2 * std::exchange(counter.scalar_reads, 0);
      counter.writes += 2 * std::exchange(counter.scalar_writes, 0);
    }
    // The reference reads the streams for phi and again for the mix, from cache.
    const bool reads_again = name == "mhc_pre" || name == "mhc_boundary";
    const double again = reads_again ? static_cast<double>(kSmall.num_streams) : 0;
    if (name == "mhc_pre_backward" ||
        name == "mhc_boundary_backward") {  // whose product with X makes dphi of dz
      const auto m = static_cast<double>(kSmall.num_streams);
      counter.reads += m * vectors;
      counter.scalar_reads += T * m * (m + 2);
    }
    EXPECT_EQ(counter.reads / vectors - again, expected.reads_d) << name;
    EXPECT_EQ(counter.writes / vectors, expected.writes_d) << name;
    EXPECT_EQ(counter.scalar_reads / T, expected.reads_scalars) << name;
    EXPECT_EQ(counter.scalar_writes / T, expected.writes_scalars) << name;
    ++checked;
  });
  EXPECT_GE(checked, 30U);
}

/// The number of parameters of a call.
double parameters_of(const Operands& operands) {
  double elements = 0;
  for (const Tensor& tensor : operands.tensors())
    if (!tensor.has_tokens && tensor.is_compared)
      elements +=
          static_cast<double>(tensor.bytes()) / static_cast<double>(size_of(tensor.element));
  return elements;
}

TEST(BenchmarkCases, AreGivenTheParametersThatTheModelCounts) {
  std::size_t checked = 0;
  const auto visit = [&]<class Op>(const std::string& name, const Operation& model,
                                   std::type_identity<Op>, const auto& make) {
    const auto memory = arena();
    const auto call = make_call<Op>(make, *memory, kSmall.num_tokens);
    const auto d = static_cast<double>(kSmall.hidden_size);
    EXPECT_EQ(parameters_of(call.operands), parameter_elements(model, d) + model.weights_d * d)
        << name;
    ++checked;
  };
  each_small_case<Bf16>(visit);
  each_small_case<float>(visit);
  EXPECT_GE(checked, 2 * 30U);
}

template <class T>
void expect_verified() {
  each_small_case<T>([]<class Op>(const std::string& name, const Operation&, std::type_identity<Op>,
                                  const auto& make) {
    const auto memory = arena();
    const auto host = arena();
    auto call = make_call<Op>(make, *memory, kSmall.num_tokens);
    const auto right = [](const Op& op) { cpu::run(op); };
    EXPECT_EQ(verify(call, make, right, *host), std::nullopt) << name;
    const auto nothing = [](const Op&) {};
    memory->reset();
    host->reset();
    auto fresh = make_call<Op>(make, *memory, kSmall.num_tokens);
    EXPECT_TRUE(verify(fresh, make, nothing, *host).has_value()) << name;
  });
}

TEST(BenchmarkCases, AreVerifiedAndIdleKernelsAreFoundOut) {
  expect_verified<Bf16>();
  expect_verified<float>();
}

TEST(BenchmarkMix, CountsWhatIsUpdatedInPlace) {
  EXPECT_EQ(mix_of(operations::residual_add()), (Mix{2, 1, 1}));
  EXPECT_EQ(mix_of(operations::residual_add_rmsnorm()), (Mix{2, 2, 1}));
  EXPECT_EQ(mix_of(operations::mhc_post(4)), (Mix{5, 4, 4}));
  EXPECT_EQ(mix_of(operations::unfused_key_norm(9)), (Mix{9, 9, 0}));
  EXPECT_EQ(mix_of(catalogue_row("attnres_single_pass", {.num_sources = 8})), (Mix{10, 2, 1}));
}

}  // namespace
}  // namespace depthcost::bench::cases_test
