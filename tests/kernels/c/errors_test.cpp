// What the C interface itself refuses: the whole text, with its status, and nothing written.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <thread>

#include "kernels/c/depthcost.h"
#include "kernels/c/guard.hpp"
#include "tests/kernels/c/run.hpp"

namespace depthcost::test::errors_test {
namespace {

constexpr std::size_t kSize = 8;

/// Arguments that are right: one token, two sources, two streams, and buffers of ones.
struct Calls {
  alignas(16) std::array<std::array<float, 64>, 12> buffers{};

  float* buffer(std::size_t index) { return buffers.at(index).data(); }

  depthcost_target target{.backend = DEPTHCOST_CPU};
  depthcost_norm norm{.gain = buffer(0), .eps = 1e-6F};
  depthcost_mhc_mapping mapping{
      .phi = buffer(1), .bias = buffer(2), .scales = {1, 1, 1}, .eps = 1e-6F, .iterations = 20};
  depthcost_residual_add_args add{.dtype = DEPTHCOST_F32,
                                  .num_tokens = 1,
                                  .hidden_size = kSize,
                                  .hidden_state = buffer(3),
                                  .layer_output = buffer(4)};
  depthcost_attnres_single_pass_args single_pass{.dtype = DEPTHCOST_F32,
                                                 .num_tokens = 1,
                                                 .hidden_size = kSize,
                                                 .num_bank_rows = 2,
                                                 .num_bank_sources = 2,
                                                 .bank = buffer(3),
                                                 .query = buffer(4),
                                                 .output = buffer(5)};
  depthcost_attnres_variant_args variant{
      .single_pass = single_pass, .num_heads = 1, .first_recent_row = 1};
  depthcost_attnres_phase1_args phase1{.dtype = DEPTHCOST_F32,
                                       .phase1_dtype = DEPTHCOST_F32,
                                       .num_tokens = 1,
                                       .hidden_size = kSize,
                                       .num_bank_rows = 2,
                                       .num_bank_sources = 2,
                                       .num_queries = 2,
                                       .bank = buffer(3),
                                       .queries = buffer(4),
                                       .output = buffer(5),
                                       .outputs = buffer(6),
                                       .maxima = buffer(7),
                                       .sums = buffer(8)};
  depthcost_mhc_boundary_args boundary{.post = {.dtype = DEPTHCOST_F32,
                                                .num_tokens = 1,
                                                .hidden_size = kSize,
                                                .num_streams = 2,
                                                .streams = buffer(3),
                                                .layer_output = buffer(4),
                                                .post = buffer(5),
                                                .residual = buffer(6),
                                                .next_streams = buffer(7)},
                                       .mapping = mapping,
                                       .norm = norm,
                                       .output = buffer(8),
                                       .next_post = buffer(9),
                                       .next_residual = buffer(10)};
  depthcost_unfused_activation_args activation{.dtype = DEPTHCOST_F32,
                                               .function = DEPTHCOST_GATE_SILU,
                                               .num_tokens = 1,
                                               .hidden_size = kSize,
                                               .num_streams = 1,
                                               .input = buffer(3),
                                               .output = buffer(4)};
  depthcost_attnres_single_pass_backward_args backward{.dtype = DEPTHCOST_F32,
                                                       .store = DEPTHCOST_GRADIENT_ADD,
                                                       .num_tokens = 1,
                                                       .hidden_size = kSize,
                                                       .num_bank_sources = 2,
                                                       .bank = buffer(3),
                                                       .output_gradient = buffer(4),
                                                       .query = buffer(5),
                                                       .bank_gradients = buffer(6),
                                                       .query_gradient = buffer(7),
                                                       .slices = {1, buffer(8)}};
  depthcost_sinkhorn_args sinkhorn{
      .count = 1, .num_streams = 2, .matrices = buffer(3), .iterations = 1};

  Calls() {
    for (auto& elements : buffers) elements.fill(1);
  }
};

struct ErrorCase {
  std::string name;
  std::function<depthcost_status(Calls&)> run;
  depthcost_status status;
  std::string text;
};

class CErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(CErrors, AreTextWithAStatus) {
  Calls calls;
  const auto before = calls.buffers;
  EXPECT_EQ(GetParam().run(calls), GetParam().status);
  EXPECT_EQ(depthcost_last_error(), GetParam().text);
  EXPECT_EQ(calls.buffers, before);
}

depthcost_status add(Calls& c) { return depthcost_residual_add(&c.target, &c.add); }
depthcost_status single_pass(Calls& c) {
  return depthcost_attnres_single_pass(&c.target, &c.single_pass);
}
depthcost_status phase1(Calls& c) { return depthcost_attnres_phase1(&c.target, &c.phase1); }
depthcost_status backward(Calls& c) {
  return depthcost_attnres_single_pass_backward(&c.target, &c.backward);
}
depthcost_status activation(Calls& c) {
  return depthcost_unfused_activation(&c.target, &c.activation);
}
depthcost_status variant(Calls& c) { return depthcost_attnres_variant(&c.target, &c.variant); }
depthcost_status boundary(Calls& c) { return depthcost_mhc_boundary(&c.target, &c.boundary); }
depthcost_status sinkhorn(Calls& c) { return depthcost_sinkhorn(&c.target, &c.sinkhorn); }

/// The call, after its arguments are changed.
auto after(const std::function<void(Calls&)>& change, depthcost_status (*run)(Calls&)) {
  return [=](Calls& calls) {
    change(calls);
    return run(calls);
  };
}

const ErrorCase kErrorCases[] = {
    {"NoTarget", [](Calls& c) { return depthcost_residual_add(nullptr, &c.add); },
     DEPTHCOST_INVALID_ARGUMENT, "residual_add: target is null (must say where to run)"},
    {"NoArgs", [](Calls& c) { return depthcost_residual_add(&c.target, nullptr); },
     DEPTHCOST_INVALID_ARGUMENT, "residual_add: args is null (must be a struct)"},
    {"ForgottenBackend", after([](Calls& c) { c.target.backend = 0; }, add),
     DEPTHCOST_INVALID_ARGUMENT, "residual_add: backend is 0 (must be the CPU = 1 or CUDA = 2)"},
    {"NoTargetToCheck", [](Calls&) { return depthcost_check_target(nullptr); },
     DEPTHCOST_INVALID_ARGUMENT, "check_target: target is null (must say where to run)"},
    {"UnknownOverlap", after([](Calls& c) { c.target.overlap = 2; }, add),
     DEPTHCOST_INVALID_ARGUMENT,
     "residual_add: overlap is 2 (must be none = 0 or programmatic = 1)"},
    {"ForgottenDtype", after([](Calls& c) { c.add.dtype = 0; }, add), DEPTHCOST_INVALID_ARGUMENT,
     "residual_add: dtype is 0 (must be f32 = 1 or bf16 = 2)"},
    {"UnknownGradientStore", after([](Calls& c) { c.backward.store = 2; }, backward),
     DEPTHCOST_INVALID_ARGUMENT,
     "attnres_single_pass_backward: store is 2 (must be overwrite = 0 or add = 1)"},
    {"NoSlices", after([](Calls& c) { c.backward.slices.count = 0; }, backward),
     DEPTHCOST_INVALID_ARGUMENT, "attnres_single_pass_backward: slices is 0 (must be at least 1)"},
    {"GradientsOverTheBank",
     after([](Calls& c) { c.backward.bank_gradients = c.buffer(3); }, backward),
     DEPTHCOST_INVALID_ARGUMENT,
     "attnres_single_pass_backward: bank_gradients overlaps bank (must be distinct)"},
    {"GainWithoutItsGradient", after([](Calls& c) { c.backward.norm = c.norm; }, backward),
     DEPTHCOST_INVALID_ARGUMENT,
     "attnres_single_pass_backward: gain and gain_gradient are not both null (must be both or "
     "none)"},
    {"NegativeDtype", after([](Calls& c) { c.add.dtype = -1; }, add), DEPTHCOST_INVALID_ARGUMENT,
     "residual_add: dtype is -1 (must be f32 = 1 or bf16 = 2)"},
    {"DtypeOfThePost", after([](Calls& c) { c.boundary.post.dtype = 3; }, boundary),
     DEPTHCOST_INVALID_ARGUMENT, "mhc_boundary: post.dtype is 3 (must be f32 = 1 or bf16 = 2)"},
    {"DtypeOfPhase1Itself", after([](Calls& c) { c.phase1.dtype = 3; }, phase1),
     DEPTHCOST_INVALID_ARGUMENT, "attnres_phase1: dtype is 3 (must be f32 = 1 or bf16 = 2)"},
    {"ForgottenPhase1Dtype", after([](Calls& c) { c.phase1.phase1_dtype = 0; }, phase1),
     DEPTHCOST_INVALID_ARGUMENT, "attnres_phase1: phase1_dtype is 0 (must be f32 = 1 or bf16 = 2)"},
    {"NarrowPhase1", after([](Calls& c) { c.phase1.phase1_dtype = DEPTHCOST_BF16; }, phase1),
     DEPTHCOST_INVALID_ARGUMENT, "attnres_phase1: phase1_dtype is bf16 (must be f32, as dtype is)"},
    {"UnknownStore", after([](Calls& c) { c.single_pass.store = 3; }, single_pass),
     DEPTHCOST_INVALID_ARGUMENT,
     "attnres_single_pass: store is 3 (must be the partial sum = 0, a bank row = 1 or nowhere = "
     "2)"},
    {"UnknownOrder", after([](Calls& c) { c.sinkhorn.order = 2; }, sinkhorn),
     DEPTHCOST_INVALID_ARGUMENT,
     "sinkhorn: order is 2 (must be columns first = 0 or rows first = 1)"},
    {"UnknownOrderOfAMapping", after([](Calls& c) { c.boundary.mapping.order = -1; }, boundary),
     DEPTHCOST_INVALID_ARGUMENT,
     "mhc_boundary: order is -1 (must be columns first = 0 or rows first = 1)"},
    {"UnknownWeighting", after([](Calls& c) { c.variant.weighting = 2; }, variant),
     DEPTHCOST_INVALID_ARGUMENT,
     "attnres_variant: weighting is 2 (must be softmax = 0 or sigmoid = 1)"},
    {"UnknownKeyNorm", after([](Calls& c) { c.variant.key_norm = 3; }, variant),
     DEPTHCOST_INVALID_ARGUMENT,
     "attnres_variant: key_norm is 3 (must be the row = 0, each head = 1 or nothing = 2)"},
    {"ForgottenFunction", after([](Calls& c) { c.activation.function = 0; }, activation),
     DEPTHCOST_INVALID_ARGUMENT,
     "unfused_activation: function is 0 (must be the sigmoid = 1, twice the sigmoid = 2 or SiLU = "
     "3)"},
    {"HeadsThatDoNotDivide", after([](Calls& c) { c.variant.num_heads = 3; }, variant),
     DEPTHCOST_INVALID_ARGUMENT,
     "attnres_single_pass: num_heads is 3 (must divide hidden_size, 8)"},
    {"ForgottenIterations", after([](Calls& c) { c.boundary.mapping.iterations = 0; }, boundary),
     DEPTHCOST_INVALID_ARGUMENT, "mhc_boundary: iterations is 0 (must be at least 1)"},
    {"Misaligned", after([](Calls& c) { c.add.layer_output = c.buffer(4) + 1; }, add),
     DEPTHCOST_INVALID_ARGUMENT,
     "residual_add: layer_output is misaligned (must be at a multiple of 16 bytes)"},
};

INSTANTIATE_TEST_SUITE_P(Arguments, CErrors, testing::ValuesIn(kErrorCases),
                         [](const auto& row) { return row.param.name; });

TEST(CFailures, OfADeviceThatIsNotThere) {
  Calls calls;
  const auto before = calls.buffers;
  calls.target.backend = DEPTHCOST_CUDA;
  const depthcost_status status = depthcost_check_target(&calls.target);
  if (status == DEPTHCOST_OK) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_EQ(status, DEPTHCOST_HAS_CUDA ? DEPTHCOST_NO_DEVICE : DEPTHCOST_NOT_BUILT);
  const std::string text =
      DEPTHCOST_HAS_CUDA ? "no CUDA device" : "no CUDA backend (this library was built without it)";
  EXPECT_EQ(depthcost_last_error(), text);
  EXPECT_EQ(add(calls), status);
  EXPECT_EQ(depthcost_last_error(), text);
  EXPECT_EQ(calls.buffers, before);
}

TEST(CFailures, AreForgottenByTheNextCall) {
  Calls calls;
  EXPECT_NE(depthcost_residual_add(&calls.target, nullptr), DEPTHCOST_OK);
  EXPECT_EQ(add(calls), DEPTHCOST_OK);
  EXPECT_STREQ(depthcost_last_error(), "");
  EXPECT_NE(depthcost_residual_add(&calls.target, nullptr), DEPTHCOST_OK);
  EXPECT_EQ(depthcost_check_target(&calls.target), DEPTHCOST_OK);
  EXPECT_STREQ(depthcost_last_error(), "");
}

TEST(CFailures, AreAThreadsOwn) {
  EXPECT_NE(depthcost_residual_add(nullptr, nullptr), DEPTHCOST_OK);
  const std::string here = depthcost_last_error();
  std::string there = "unset";
  std::thread([&] {
    there = depthcost_last_error();
    depthcost_sinkhorn(nullptr, nullptr);
  }).join();
  EXPECT_EQ(there, "");
  EXPECT_EQ(depthcost_last_error(), here);
}

depthcost_status status_of(const std::function<void()>& action, c::ErrorText& error) {
  return c::guarded(error, action);
}

TEST(CGuard, TurnsEveryExceptionIntoAStatus) {
  c::ErrorText error;
  EXPECT_EQ(status_of([] {}, error), DEPTHCOST_OK);
  EXPECT_EQ(status_of([] { throw std::invalid_argument("wrong"); }, error),
            DEPTHCOST_INVALID_ARGUMENT);
  EXPECT_STREQ(error.text(), "wrong");
  EXPECT_EQ(status_of([] { throw std::bad_alloc(); }, error), DEPTHCOST_OUT_OF_MEMORY);
  EXPECT_STREQ(error.text(), "out of memory");
  EXPECT_EQ(status_of([] { throw c::Failure(DEPTHCOST_DEVICE_ERROR, "lost"); }, error),
            DEPTHCOST_DEVICE_ERROR);
  EXPECT_STREQ(error.text(), "lost");
  EXPECT_EQ(status_of([] { throw std::runtime_error("odd"); }, error), DEPTHCOST_INTERNAL_ERROR);
  EXPECT_STREQ(error.text(), "odd");
  EXPECT_EQ(status_of([] { throw 7; }, error), DEPTHCOST_INTERNAL_ERROR);
  EXPECT_STREQ(error.text(), "unknown exception");
  EXPECT_EQ(status_of([] {}, error), DEPTHCOST_OK);
  EXPECT_STREQ(error.text(), "");
}

TEST(CGuard, CutsATextThatIsTooLong) {
  c::ErrorText error;
  error.set(std::string(5000, 'x').c_str());
  EXPECT_EQ(error.text(), std::string(1023, 'x'));
}

}  // namespace
}  // namespace depthcost::test::errors_test
