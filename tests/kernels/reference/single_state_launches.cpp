// Layers of the mechanisms with one state: scaled, gated and normalised adds, and low-rank paths.
#include "kernels/reference/without_kernels/laurel.hpp"
#include "kernels/reference/without_kernels/post_norm.hpp"
#include "kernels/reference/without_kernels/value_residual.hpp"
#include "model/operations/eager_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "tests/kernels/reference/mechanism_launches.hpp"

namespace depthcost::test {
namespace {

constexpr double kScale = 0.7;

/// h = beta h + lambda o f.
Rows scaled_add(Counter& counter, Schedule schedule, std::size_t num_scales, double beta) {
  Layer b(counter);
  const Row lambda = b.draw(num_scales);
  if (schedule == Schedule::unfused) {
    b.steps.elementwise({b.output(), b.hidden()}, b.hidden(), [&](const Row& v, std::size_t i) {
      return beta * v[1] + lambda[i % num_scales] * v[0];
    });
    b.steps.norm(b.h, b.input(), b.gain);
    return {b.x, b.h};
  }
  const ScaledAddRmsNorm<double> op{b.T,           b.d,  b.h.data(), b.f.data(), num_scales,
                                    lambda.data(), beta, b.norm(),   b.x.data()};
  b.steps.launch(operations::kScaledAddRmsnorm, b.places(),
                 [&](CountingAccess& access) { reference::run(op, access); });
  return {b.x, b.h};
}

Rows rezero(Counter& counter, const SchemeLayer&, Schedule schedule) {
  return scaled_add(counter, schedule, 1, 1);
}
Rows layerscale(Counter& counter, const SchemeLayer&, Schedule schedule) {
  return scaled_add(counter, schedule, kWidth, 1);
}
Rows laurel_rw(Counter& counter, const SchemeLayer&, Schedule schedule) {
  return scaled_add(counter, schedule, 1, kScale);
}

Rows highway(Counter& counter, const SchemeLayer&, Schedule schedule) {
  Layer b(counter);
  const Row W = b.draw(b.d * b.d);
  const Row bias = b.draw(b.d);
  Row z = b.empty();
  if (schedule == Schedule::unfused) {
    b.steps.project(b.hidden(), W, bias, z, place(Operand::recent, z));
    b.steps.elementwise({b.output(), b.hidden(), {Operand::recent, &z}}, b.hidden(),
                        [](const Row& v, std::size_t) {
                          const double g = 1 / (1 + std::exp(-v[2]));
                          return (1 - g) * v[1] + g * v[0];
                        });
    b.steps.norm(b.h, b.input(), b.gain);
    return {b.x, b.h};
  }
  const auto places = b.places({place(Operand::recent, z)});
  b.steps.launch(operations::kUnfusedProjection, places, [&](CountingAccess& access) {
    reference::projection(reference::Projection<double, double>{b.T, b.d, b.d, b.h.data(), W.data(),
                                                                bias.data(), z.data()},
                          access);
  });
  b.steps.launch(operations::kHighwayRmsnorm, places, [&](CountingAccess& access) {
    reference::run(
        HighwayRmsNorm<double>{b.T, b.d, b.h.data(), b.f.data(), z.data(), b.norm(), b.x.data()},
        access);
  });
  return {b.x, b.h};
}

double scaled_sum(const Row& v, std::size_t) { return kScale * v[1] + v[0]; }

Rows post_norm(Counter& counter, const SchemeLayer&, Schedule schedule) {
  Layer b(counter);
  if (schedule == Schedule::unfused) {
    b.steps.residual_add(b.f, b.h);
    b.steps.norm(b.h, b.hidden(), b.gain);
    return {b.h};
  }
  const reference::DeepNorm<double> op{b.T, b.d, b.h.data(), b.f.data(), 1, b.norm(), b.x.data()};
  b.steps.launch(operations::kRowUpdate, b.places(),
                 [&](CountingAccess& access) { reference::deep_norm(op, access); });
  return {b.x};
}

/// Attention's input is the stream itself.
Rows hybrid_norm(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  if (at.layer % 2 == 0) return post_norm(counter, at, schedule);
  Layer b(counter);
  b.steps.residual_add(b.f, b.h);
  return {b.h};
}

Rows deepnorm(Counter& counter, const SchemeLayer&, Schedule schedule) {
  Layer b(counter);
  if (schedule == Schedule::unfused) {
    b.steps.elementwise({b.output(), b.hidden()}, b.hidden(), scaled_sum);
    b.steps.norm(b.h, b.hidden(), b.gain);
    return {b.h};
  }
  const reference::DeepNorm<double> op{b.T,    b.d,      b.h.data(), b.f.data(),
                                       kScale, b.norm(), b.x.data()};
  b.steps.launch(operations::kRowUpdate, b.places(),
                 [&](CountingAccess& access) { reference::deep_norm(op, access); });
  return {b.x};
}

Rows keel(Counter& counter, const SchemeLayer&, Schedule schedule) {
  Layer b(counter);
  const Row stream_gain = b.draw(b.d);
  if (schedule == Schedule::unfused) {
    b.steps.elementwise({b.output(), b.hidden()}, b.hidden(), scaled_sum);
    b.steps.norm(b.h, b.hidden(), stream_gain);
    b.steps.norm(b.h, b.input(), b.gain);
    return {b.x, b.h};
  }
  const reference::Keel<double> op{
      b.T, b.d, b.h.data(), b.f.data(), kScale, {stream_gain.data()}, b.norm(), b.x.data()};
  b.steps.launch(operations::kRowUpdate, b.places(),
                 [&](CountingAccess& access) { reference::keel(op, access); });
  return {b.x, b.h};
}

Rows siamese_norm(Counter& counter, const SchemeLayer&, Schedule schedule) {
  Layer b(counter);
  Row h2 = b.draw(b.T * b.d);
  const Row stream_gain = b.draw(b.d);
  if (schedule == Schedule::unfused) {
    const auto add = [](const Row& v, std::size_t) { return v[0] + v[1]; };
    const Tensor first{Operand::streams, &b.h};
    const Tensor second{Operand::streams, &h2};
    Row normed = b.empty();
    b.steps.elementwise({b.output(), first}, first, add);
    b.steps.norm(b.h, first, stream_gain);
    b.steps.elementwise({b.output(), second}, second, add);
    b.steps.norm(h2, {Operand::recent, &normed}, b.gain);
    b.steps.elementwise({first, {Operand::recent, &normed}}, b.input(), add);
    return {b.x, b.h, h2};
  }
  const reference::SiameseNorm<double> op{
      b.T, b.d, b.h.data(), h2.data(), b.f.data(), {stream_gain.data()}, b.norm(), b.x.data()};
  const std::vector<Place> places{place(Operand::streams, b.h), place(Operand::streams, h2),
                                  place(Operand::layer_output, b.f),
                                  place(Operand::layer_input, b.x)};
  b.steps.launch(operations::kRowUpdate, places,
                 [&](CountingAccess& access) { reference::siamese_norm(op, access); });
  return {b.x, b.h, h2};
}

/// The first merge leaves the stream as it is.
Rows residual_scaling(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Layer b(counter);
  const Row s_f = b.draw(b.d), b_f = b.draw(b.d), s_r = b.draw(b.d), b_r = b.draw(b.d);
  const bool scales_stream = at.layer > 1;
  // f32 in a two-byte model, unless the type of the stream is written.
  const double row_d = at.parameters.stream_row_d.value_or(2);
  const auto wide_place = [&](Operand operand, const Row& values) {
    return with_rows(place(operand, values), row_d);
  };
  const std::vector<Place> fused{place(Operand::layer_output, b.f),
                                 wide_place(Operand::hidden_state, b.h),
                                 place(Operand::layer_input, b.x)};
  if (schedule == Schedule::fused) {
    const ResidualScalingRmsNorm<double> op{b.T,
                                            b.d,
                                            b.h.data(),
                                            b.f.data(),
                                            scales_stream ? s_r.data() : nullptr,
                                            scales_stream ? b_r.data() : nullptr,
                                            s_f.data(),
                                            b_f.data(),
                                            b.norm(),
                                            b.x.data()};
    b.steps.launch(operations::kResidualScalingRmsnorm, fused,
                   [&](CountingAccess& access) { reference::run(op, access); });
    return {b.x, b.h};
  }
  Row term = b.empty();
  Row stream = b.h;
  const auto each = [&](std::vector<Place> places, const auto& element) {
    b.steps.launch(operations::kUnfusedElementwise, std::move(places), [&](CountingAccess& access) {
      for (std::size_t i = 0; i < b.T * b.d; ++i) element(access, i);
    });
  };
  each({place(Operand::layer_output, b.f), place(Operand::recent, term)},
       [&](CountingAccess& access, std::size_t i) {
         access.store(&term[i], (access.load(&b.f[i]) + b_f[i % b.d]) * s_f[i % b.d]);
       });
  if (scales_stream)
    each({wide_place(Operand::hidden_state, b.h), wide_place(Operand::recent, stream)},
         [&](CountingAccess& access, std::size_t i) {
           access.store(&stream[i], (access.load(&b.h[i]) + b_r[i % b.d]) * s_r[i % b.d]);
         });
  const Operand read_as = scales_stream ? Operand::recent : Operand::hidden_state;
  each({place(Operand::recent, term), wide_place(read_as, stream),
        wide_place(Operand::hidden_state, b.h)},
       [&](CountingAccess& access, std::size_t i) {
         access.store(&b.h[i], access.load(&term[i]) + access.load(&stream[i]));
       });
  b.steps.norm(b.h, b.input(), b.gain);
  Moved& moved = counter.launches.back().moved;  // norm() takes every row for a d-vector
  moved.reads_d = {{Operand::hidden_state, row_d * moved.reads_d.at(Operand::recent)}};
  return {b.x, b.h};
}

/// Element `e` of B y.
double expanded(const Row& B, const Row& y, std::size_t e) {
  double sum = 0;
  for (std::size_t i = 0; i < y.size(); ++i) sum += B[e * y.size() + i] * y[i];
  return sum;
}

Rows laurel_lr(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Layer b(counter);
  const auto r = static_cast<std::size_t>(at.parameters.rank);
  const Row A = b.draw(r * b.d);
  const Row B = b.draw(b.d * r);
  if (schedule == Schedule::unfused) {
    Row y(b.T * r, kNaN);
    b.steps.project(b.hidden(), A, {}, y, scalar_place(y));
    b.steps.launch(
        operations::kUnfusedElementwise, b.places({scalar_place(y)}), [&](CountingAccess& access) {
          for (std::size_t t = 0; t < b.T; ++t) {
            const Row scalars = Steps::loaded(access, y, t, r);
            for (std::size_t e = 0; e < b.d; ++e) {
              double* h = &b.h[t * b.d + e];
              access.store(
                  h, access.load(h) + access.load(&b.f[t * b.d + e]) + expanded(B, scalars, e));
            }
          }
        });
    b.steps.norm(b.h, b.input(), b.gain);
    return {b.x, b.h};
  }
  const reference::LaurelLowRank<double> op{b.T,      b.d,      r,        b.h.data(), b.f.data(),
                                            A.data(), B.data(), b.norm(), b.x.data()};
  b.steps.launch(operations::kRowUpdate, b.places(),
                 [&](CountingAccess& access) { reference::laurel_low_rank(op, access); });
  return {b.x, b.h};
}

Rows laurel_pa(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Layer b(counter);
  const auto r = static_cast<std::size_t>(at.parameters.rank);
  const auto k = static_cast<std::size_t>(std::min(at.parameters.history, at.layer - 1));
  const Row A = b.draw(r * b.d);
  const Row B = b.draw(b.d * r);
  const Row gamma = b.draw(k);
  Row earlier = b.draw(k * b.T * b.d);
  Row next = b.empty();
  if (schedule == Schedule::unfused) {
    Row y(k * b.T * r, kNaN);
    if (k > 0) b.steps.project({Operand::bank, &earlier}, A, {}, y, scalar_place(y));
    const auto places = b.places({scalar_place(y), place(Operand::bank, next)});
    b.steps.launch(operations::kUnfusedElementwise, places, [&](CountingAccess& access) {
      for (std::size_t t = 0; t < b.T; ++t) {
        Row scalars(r, 0);
        for (std::size_t i = 0; i < k; ++i)
          for (std::size_t j = 0; j < r; ++j)
            scalars[j] += gamma[i] * access.load(&y[(i * b.T + t) * r + j]);
        for (std::size_t e = 0; e < b.d; ++e) {
          const std::size_t at_e = t * b.d + e;
          access.store(&next[at_e],
                       access.load(&b.h[at_e]) + access.load(&b.f[at_e]) + expanded(B, scalars, e));
        }
      }
    });
    b.steps.norm(next, b.input(), b.gain);
    return {b.x, next};
  }
  const reference::LaurelHistory<double> op{
      b.T,          b.d,      r,        k,        b.h.data(),  earlier.data(), b.f.data(),
      gamma.data(), A.data(), B.data(), b.norm(), next.data(), b.x.data()};
  b.steps.launch(operations::kRowUpdate,
                 b.places({place(Operand::bank, earlier), place(Operand::bank, next)}),
                 [&](CountingAccess& access) { reference::laurel_history(op, access); });
  return {b.x, next};
}

/// What the projection moves whether its values are mixed or not is not the mechanism's: x and the
/// values themselves.
Rows value_residual(Counter& counter, const SchemeLayer& at, Schedule schedule) {
  Layer b(counter);
  Rows left = b.standard(schedule);
  if (at.layer % 2 == 0 || at.layer == 1) return left;
  const Count written = at.parameters.kv_size;
  const std::size_t size = written == 0 ? kWidth : static_cast<std::size_t>(written);
  const Row W = b.draw(size * b.d);
  Row first = b.draw(b.T * size);
  Row values(b.T * size, kNaN);
  if (schedule == Schedule::unfused) {
    for (std::size_t t = 0; t < b.T; ++t)
      for (std::size_t i = 0; i < size; ++i) {
        values[t * size + i] = 0;
        for (std::size_t e = 0; e < b.d; ++e)
          values[t * size + i] += W[i * b.d + e] * b.x[t * b.d + e];
      }
    b.steps.elementwise(
        {{Operand::bank, &first}, {Operand::recent, &values}}, {Operand::recent, &values},
        [](const Row& v, std::size_t) { return kScale * v[0] + (1 - kScale) * v[1]; });
    left.push_back(values);
    return left;
  }
  const reference::ValueResidual<double> op{
      b.T, b.d, size, b.x.data(), W.data(), first.data(), kScale, 1 - kScale, values.data()};
  b.steps.launch(operations::kUnfusedElementwise,
                 {place(Operand::bank, first), place(Operand::recent, values),
                  place(Operand::layer_input, b.x)},
                 [&](CountingAccess& access) { reference::value_residual(op, access); });
  Moved& moved = counter.launches.back().moved;
  EXPECT_EQ(moved.reads_d.at(Operand::layer_input), 1);
  EXPECT_EQ(moved.writes_d.at(Operand::recent), static_cast<double>(size) / kWidth);
  moved.reads_d.erase(Operand::layer_input);
  moved.writes_d.erase(Operand::recent);
  left.push_back(values);
  return left;
}

}  // namespace

Launchers single_state_launchers() {
  return {{"rezero", rezero},
          {"layerscale", layerscale},
          {"residual_scaling", residual_scaling},
          {"laurel_rw", laurel_rw},
          {"highway", highway},
          {"post_norm", post_norm},
          {"hybrid_norm", hybrid_norm},
          {"deepnorm", deepnorm},
          {"keel", keel},
          {"laurel_lr", laurel_lr},
          {"laurel_pa", laurel_pa},
          {"siamese_norm", siamese_norm},
          {"value_residual", value_residual}};
}

}  // namespace depthcost::test
