// Counts the ledger by running code. The reference runs through a counting accessor; each launch
// must equal convention `kernel`, and totals `physical` and `physical_unfused`.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "model/ledger/path_operations.hpp"
#include "model/schemes/list.hpp"
#include "tests/kernels/reference/counter.hpp"
#include "tests/kernels/reference/eager_site.hpp"
#include "tests/kernels/reference/schedules.hpp"

namespace depthcost::test::traffic_test {
namespace {

using test::from_ledger;  // of one operation; below, of a path

std::vector<Launched> from_ledger(const ResidualPath& path, Schedule schedule) {
  std::vector<Launched> launches;
  for (const PlacedOperation& entry : all_operations(path, schedule))
    launches.push_back(from_ledger(entry.operation));
  return launches;
}

Traffic traffic_of(const std::vector<Launched>& launches) {
  Traffic sum;
  for (const Launched& launch : launches) {
    for (const auto& [operand, d] : launch.moved.reads_d) sum.reads_d += d;
    for (const auto& [operand, d] : launch.moved.writes_d) sum.writes_d += d;
    sum.reads_scalars += launch.moved.reads_scalars;
    sum.writes_scalars += launch.moved.writes_scalars;
    for (const auto* moved : {&launch.moved.reads_d, &launch.moved.writes_d})
      if (moved->contains(Operand::phase1_output))
        sum.phase1_d += moved->at(Operand::phase1_output);
  }
  return sum;
}

struct Shape {
  std::size_t num_tokens = *rc::gen::inRange<std::size_t>(1, 4);
  std::size_t hidden_size = *rc::gen::inRange<std::size_t>(1, 4);
};

Partition random_partition() {
  const Count num_layers = *rc::gen::inRange<Count>(1, 14);
  if (*rc::gen::arbitrary<bool>())
    return partition_by_size(num_layers, *rc::gen::inRange<Count>(1, num_layers + 1));
  return partition_by_count(num_layers, *rc::gen::inRange<Count>(1, num_layers + 1),
                            Remainder::paper);
}

/// Counts a whole network. A layer's output stays `layer_output` until the next layer has run: that
/// is what the ledger calls it, also where it lies in the bank or is b itself. Eager code
/// (`unfused`) knows only stacked rows.
std::vector<Launched> count(Execution execution, const std::vector<std::size_t>& block_sizes,
                            const Shape& shape, SumUpdate update = SumUpdate::folded) {
  AttnResNetwork<double> network{
      .num_tokens = shape.num_tokens, .hidden_size = shape.hidden_size, .block_sizes = block_sizes};
  const Row parameters((network.num_layers() + 1) * shape.hidden_size, 0.5);
  network.queries = parameters.data();
  network.gains = parameters.data();
  const Row embedding(network.row_size(), 1);
  AttnResBuffers<double> buffers(network, bank_rows(execution, network), embedding.data());
  Counter counter;
  const auto layer = [&](std::size_t, const double* x, double* f) {
    std::copy_n(x, network.row_size(), f);
    if (execution != Execution::unfused)
      counter.newest = rows(Operand::layer_output, f, network.row_size());
  };
  run_execution(execution, network, buffers, update, layer,
                [&](const auto& op) { counter.run(op); });
  return counter.launches;
}

std::vector<std::size_t> sizes_of(const Partition& partition) {
  const auto sizes = block_sizes(partition);
  return {sizes.begin(), sizes.end()};
}

std::vector<std::size_t> ones(const Partition& partition) {
  return std::vector<std::size_t>(static_cast<std::size_t>(partition.num_layers), 1);
}

TEST(CountedBlockAttnRes, IsTheLedgersKernelRowsLaunchByLaunch) {
  EXPECT_TRUE(rc::check([] {
    const Shape shape;
    const Partition blocks = random_partition();
    const ResidualPath path{Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}, blocks.num_layers};
    const auto sizes = sizes_of(blocks);
    RC_ASSERT(count(Execution::single_pass, sizes, shape) ==
              from_ledger(path, Schedule::single_pass));
    RC_ASSERT(count(Execution::two_phase, sizes, shape) == from_ledger(path, Schedule::two_phase));
    RC_ASSERT(count(Execution::unfused, sizes, shape) == from_ledger(path, Schedule::unfused));
  }));
}

TEST(CountedFullAttnRes, IsTheLedgersKernelRowsLaunchByLaunch) {
  EXPECT_TRUE(rc::check([] {
    const Shape shape;
    const Partition groups = random_partition();
    const ResidualPath path{Scheme{schemes::kFullAttnRes, {.blocks = groups}}, groups.num_layers};
    RC_ASSERT(count(Execution::single_pass, ones(groups), shape) ==
              from_ledger(path, Schedule::single_pass));
    RC_ASSERT(count(Execution::full_two_phase, sizes_of(groups), shape) ==
              from_ledger(path, Schedule::two_phase));
    RC_ASSERT(count(Execution::unfused, ones(groups), shape) ==
              from_ledger(path, Schedule::unfused));
  }));
}

Traffic whole(const ResidualPath& path, Counting counting) {
  return total_traffic(path, counting) + output_traffic(path, counting);
}

TEST(CountedNetworks, SumToTheLedgersTotals) {
  EXPECT_TRUE(rc::check([] {
    const Shape shape;
    const Partition blocks = random_partition();
    const ResidualPath block{Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}, blocks.num_layers};
    const ResidualPath full{Scheme{schemes::kFullAttnRes, {.blocks = blocks}}, blocks.num_layers};
    const auto sizes = sizes_of(blocks);
    RC_ASSERT(traffic_of(count(Execution::single_pass, sizes, shape)) ==
              whole(block, {Schedule::single_pass, Convention::kernel}));
    RC_ASSERT(traffic_of(count(Execution::two_phase, sizes, shape)) ==
              whole(block, {Schedule::two_phase, Convention::kernel}));
    RC_ASSERT(traffic_of(count(Execution::full_two_phase, sizes, shape)) ==
              whole(full, {Schedule::two_phase, Convention::kernel}));
  }));
}

/// `physical` is the execution that closes each block with a kernel of its own, the partial sum
/// lying in the bank; `physical_unfused` the one that adds every layer's output with one. For Full,
/// which has no partial sum, both are what the kernels do.
TEST(CountedNetworks, SumToThePhysicalTotals) {
  EXPECT_TRUE(rc::check([] {
    const Shape shape;
    const Partition blocks = random_partition();
    const ResidualPath block{Scheme{schemes::kBlockAttnRes, {.blocks = blocks}}, blocks.num_layers};
    const ResidualPath full{Scheme{schemes::kFullAttnRes, {.blocks = blocks}}, blocks.num_layers};
    const auto sizes = sizes_of(blocks);
    for (const auto& [update, convention] :
         {std::pair{SumUpdate::closing_apart, Convention::physical},
          std::pair{SumUpdate::apart, Convention::physical_unfused}}) {
      RC_ASSERT(traffic_of(count(Execution::single_pass, sizes, shape, update)) ==
                whole(block, {Schedule::single_pass, convention}));
      RC_ASSERT(traffic_of(count(Execution::two_phase, sizes, shape, update)) ==
                whole(block, {Schedule::two_phase, convention}));
      RC_ASSERT(traffic_of(count(Execution::single_pass, ones(blocks), shape, update)) ==
                whole(full, {Schedule::single_pass, convention}));
      RC_ASSERT(traffic_of(count(Execution::full_two_phase, sizes, shape)) ==
                whole(full, {Schedule::two_phase, convention}));
    }
  }));
}

/// design section 3: Kimi K3, L = 186, S = 24.
TEST(CountedNetworks, GiveTheFiguresOfKimiK3) {
  const auto sizes = sizes_of(partition_by_size(186, 24));
  const Shape shape{1, 1};
  const auto total_d_of = [&](Execution execution, SumUpdate update) {
    return total_d(traffic_of(count(execution, sizes, shape, update)));
  };
  EXPECT_EQ(total_d_of(Execution::single_pass, SumUpdate::folded), 1534 + 11);
  EXPECT_EQ(total_d_of(Execution::two_phase, SumUpdate::folded), 1110 + 11);
  EXPECT_EQ(total_d_of(Execution::single_pass, SumUpdate::closing_apart), 1544 + 10);
  EXPECT_EQ(total_d_of(Execution::two_phase, SumUpdate::closing_apart), 1120 + 10);
}

TEST(CountedStandardResidual, IsTheLedgersKernelRows) {
  EXPECT_TRUE(rc::check([] {
    const Shape shape;
    const std::size_t size = shape.num_tokens * shape.hidden_size;
    Row h(size, 1);
    Row x(size, kNaN);
    const Row f(size, 2);
    const Row gain(shape.hidden_size, 1);
    const ResidualPath path{Scheme{schemes::kStandard}, 1};
    Counter fused;
    fused.run(ResidualAddRmsNorm<double>{
        shape.num_tokens, shape.hidden_size, h.data(), f.data(), {gain.data()}, x.data()});
    RC_ASSERT(fused.launches == from_ledger(path, Schedule::fused));
    Counter unfused;
    unfused.sum = Operand::hidden_state;
    unfused.run(ResidualAdd<double>{shape.num_tokens, shape.hidden_size, h.data(), f.data()});
    unfused.run(UnfusedRmsNorm<double>{
        shape.num_tokens, shape.hidden_size, h.data(), {gain.data()}, x.data()});
    RC_ASSERT(unfused.launches == from_ledger(path, Schedule::unfused));
  }));
}

/// mHC at one layer boundary, every operand in a buffer of its own.
struct MhcBuffers {
  Shape shape;
  std::size_t m = *rc::gen::inRange<std::size_t>(1, 6);
  std::size_t T = shape.num_tokens;
  std::size_t d = shape.hidden_size;
  Row phi = Row((m * m + 2 * m) * m * d, 0.1);
  Row bias = Row(m * m + 2 * m, 0.2);
  Row gain = Row(d, 1);
  Row X = Row(T * m * d, 1), next = X, spread = X, mixed = X;
  Row f = Row(T * d, 2), h = f, x = f;
  Row pre = Row(T * m, 0.5), post = pre, next_post = pre;
  Row residual = Row(T * m * m, 0.5), next_residual = residual;

  ResidualPath path() const {
    return {Scheme{schemes::kMhc, {.num_streams = static_cast<Count>(m)}}, 1};
  }
  BasicMhcMapping<double> mapping() const { return {phi.data(), bias.data(), {1, 1, 1}}; }
  MhcPost<double> mhc_post() {
    return {T, d, m, X.data(), f.data(), post.data(), residual.data(), next.data()};
  }
};

TEST(CountedMhc, IsTheLedgersKernelRows) {
  EXPECT_TRUE(rc::check([] {
    MhcBuffers b;
    Counter fused;
    fused.run(b.mhc_post());
    fused.run(MhcPre<double>{b.T,
                             b.d,
                             b.m,
                             b.next.data(),
                             b.mapping(),
                             {b.gain.data()},
                             b.x.data(),
                             b.next_post.data(),
                             b.next_residual.data()});
    RC_ASSERT(fused.launches == from_ledger(b.path(), Schedule::fused));
    const MhcBoundary<double> boundary{b.mhc_post(), b.mapping(),        {b.gain.data()},
                                       b.x.data(),   b.next_post.data(), b.next_residual.data()};
    Counter two_pass;
    two_pass.run(boundary, reference::StreamPasses::two);
    RC_ASSERT(two_pass.launches == from_ledger(b.path(), Schedule::two_pass));
    Counter one_pass;
    one_pass.run(boundary, reference::StreamPasses::one);
    RC_ASSERT(one_pass.launches == from_ledger(b.path(), Schedule::one_pass));
  }));
}

TEST(CountedUnfusedMhc, IsTheLedgersKernelRows) {
  EXPECT_TRUE(rc::check([] {
    MhcBuffers b;
    Counter counter;
    counter.run(UnfusedMhcCoefficients<double>{b.T, b.d, b.m, b.X.data(), b.mapping(), b.pre.data(),
                                               b.post.data(), b.residual.data()});
    counter.run(UnfusedMhcPre<double>{b.T, b.d, b.m, b.X.data(), b.pre.data(), b.h.data()});
    counter.run(UnfusedRmsNorm<double>{b.T, b.d, b.h.data(), {b.gain.data()}, b.x.data()});
    counter.run(UnfusedMhcPost<double>{b.T, b.d, b.m, b.f.data(), b.post.data(), b.spread.data()});
    counter.run(
        UnfusedMhcResidual<double>{b.T, b.d, b.m, b.X.data(), b.residual.data(), b.mixed.data()});
    counter.run(
        UnfusedMhcMerge<double>{b.T, b.d, b.m, b.mixed.data(), b.spread.data(), b.next.data()});
    RC_ASSERT(counter.launches == from_ledger(b.path(), Schedule::unfused));
  }));
}

/// Gated Residual at one site, every operand in a buffer of its own.
struct GateBuffers {
  Shape shape;
  std::size_t n = *rc::gen::inRange<std::size_t>(1, 5);
  std::size_t r = *rc::gen::inRange<std::size_t>(1, 4);
  std::size_t T = shape.num_tokens;
  std::size_t d = shape.hidden_size;
  Row X = drawn(T * n * d), f = drawn(T * d), lambda = drawn(T * n), g = drawn(n * d);
  Row D = drawn(r * n * d), B = drawn(n * n * d), U = drawn(n * d * r);
  Row next = Row(T * n * d, kNaN), terms = next, normed = next, logits = next, gates = next;
  Row gated = next, x = Row(T * d, kNaN), p = Row(T * r, kNaN), a = p, q = Row(T * n, kNaN);
  Row next_lambda = q, factors = q;

  static Row drawn(std::size_t size) {
    Row row;
    for (std::size_t i = 0; i < size; ++i)
      row.push_back(*rc::gen::inRange(-1000, 1000) / 1000.0 + 0.0005);
    return row;
  }
  ResidualPath path() const {
    return {Scheme{schemes::kGatedResidual,
                   {.num_streams = static_cast<Count>(n), .gate_rank = static_cast<Count>(r)}},
            1};
  }
  EagerSite<double> pieces() {
    return {T,
            d,
            n,
            r,
            X.data(),
            f.data(),
            lambda.data(),
            g.data(),
            D.data(),
            B.data(),
            U.data(),
            terms.data(),
            next.data(),
            normed.data(),
            p.data(),
            a.data(),
            q.data(),
            next_lambda.data(),
            logits.data(),
            gates.data(),
            gated.data(),
            x.data()};
  }
  /// The two passes, in the same buffers: x, the streams, and lambda.
  Rows fused() {
    reference::run(GatedApplyDown<double>{.num_tokens = T,
                                          .hidden_size = d,
                                          .num_streams = n,
                                          .rank = r,
                                          .streams = X.data(),
                                          .layer_output = f.data(),
                                          .inject = lambda.data(),
                                          .gain = g.data(),
                                          .down = D.data(),
                                          .inject_weights = B.data(),
                                          .next_streams = next.data(),
                                          .inverse_rms = factors.data(),
                                          .activation = a.data(),
                                          .next_inject = next_lambda.data()});
    reference::run(GatedUpMix<double>{T, d, n, r, next.data(), factors.data(), g.data(), U.data(),
                                      a.data(), x.data()});
    return {x, next, next_lambda};
  }
};

/// lambda f and its addition to the streams run as pieces of mHC, whose ledger calls them its own.
LedgerView view_of_piece(const auto& op) { return ledger_view(op); }
LedgerView view_of_piece(const UnfusedMhcPost<double>& op) {
  LedgerView view = ledger_view(op);
  view.id = operations::kUnfusedElementwise;
  return view;
}
LedgerView view_of_piece(const UnfusedMhcMerge<double>& op) {
  LedgerView view = ledger_view(op);
  view.id = operations::kUnfusedElementwise;
  view.places[0] = rows(Operand::streams, op.mixed, streams_size(op));
  return view;
}

/// Launches of a site.
constexpr std::ptrdiff_t kPieces = 11;

TEST(CountedUnfusedGatedResidual, IsTheLedgersKernelRowsAndComputesWhatTheTwoPassesDo) {
  EXPECT_TRUE(rc::check([] {
    GateBuffers b;
    Counter counter;
    run_pieces(b.pieces(), [&](const auto& op) {
      counter.launch(view_of_piece(op),
                     [&](CountingAccess& access) { reference::run(op, access); });
    });
    std::vector<Launched> site = from_ledger(b.path(), Schedule::unfused);
    site.erase(site.begin() + kPieces, site.end());  // the exit
    RC_ASSERT(counter.launches == site);
    const auto n = static_cast<double>(b.n);
    const Traffic moved = traffic_of(counter.launches);
    RC_ASSERT(moved.reads_d == 9 * n + 1);
    RC_ASSERT(moved.writes_d == 6 * n + 1);
    const Rows unfused{b.x, b.next, b.next_lambda};
    const Rows fused = b.fused();
    for (std::size_t i = 0; i < fused.size(); ++i)
      RC_ASSERT(relative_error(unfused[i], fused[i]) < 1e-12);
  }));
}

TEST(CountingAccess, RefusesWhatIsNoOperand) {
  CountingAccess access;
  const double element = 0;
  EXPECT_THROW(access.load(&element), std::logic_error);
}

}  // namespace
}  // namespace depthcost::test::traffic_test
