// The launches of a framework for the operations of an update rule, one by one, as plain loops over
// the counting accessor. They are schedule `unfused` of mechanisms without kernels of their own.
#pragma once

#include <cmath>
#include <random>

#include "model/operations/eager_operations.hpp"
#include "model/operations/residual_operations.hpp"
#include "tests/kernels/reference/comparison.hpp"
#include "tests/kernels/reference/counter.hpp"

namespace depthcost::test {

/// Rows of all tokens, with their operand of the ledger.
struct Tensor {
  Operand operand = Operand::recent;
  Row* values = nullptr;
};

inline Place place(Operand operand, const Row& values) {
  return rows(operand, values.data(), values.size());
}

/// The same where an element takes `d_per_row` times the bytes of the model's type.
inline Place with_rows(Place wide, double d_per_row) {
  wide.d_per_row = d_per_row;
  return wide;
}
inline Place scalar_place(const Row& values) { return scalars(values.data(), values.size()); }

/// Random numbers. Every Draw yields the same ones in the same order.
class Draw {
 public:
  Row operator()(std::size_t size) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    Row row(size);
    for (double& element : row) element = uniform(random_);
    return row;
  }

 private:
  std::mt19937 random_{7};
};

class Steps {
 public:
  Steps(Counter& counter, std::size_t num_tokens, std::size_t hidden_size)
      : counter_(counter), T_(num_tokens), d_(hidden_size) {}

  /// out[i] = compute(elements i of `in`, i).
  template <class Compute>
  void elementwise(const std::vector<Tensor>& in, const Tensor& out, const Compute& compute,
                   OperationId id = operations::kUnfusedElementwise) {
    launch(id, places(in, out), [&](CountingAccess& access) {
      for (std::size_t i = 0; i < out.values->size(); ++i) {
        Row elements;
        for (const Tensor& each : in) elements.push_back(access.load(&(*each.values)[i]));
        access.store(&(*out.values)[i], compute(elements, i));
      }
    });
  }

  /// h += f.
  void residual_add(Row& f, Row& h) {
    elementwise(
        {{Operand::layer_output, &f}, {Operand::hidden_state, &h}}, {Operand::hidden_state, &h},
        [](const Row& v, std::size_t) { return v[0] + v[1]; }, operations::kResidualAdd);
  }

  /// out = in / sqrt(mean(in^2) + 1e-6) * gain.
  void norm(Row& in, const Tensor& out, const Row& gain) {
    launch(operations::kUnfusedRmsnorm, places({{Operand::recent, &in}}, out),
           [&](CountingAccess& access) {
             for (std::size_t t = 0; t < T_; ++t) {
               const Row x = loaded(access, in, t, d_);
               double squares = 0;
               for (const double element : x) squares += element * element;
               const double rms = std::sqrt(squares / static_cast<double>(d_) + 1e-6);
               for (std::size_t e = 0; e < d_; ++e)
                 access.store(&(*out.values)[t * d_ + e], x[e] / rms * gain[e]);
             }
           });
  }

  /// out = matrix in + bias, row by row of `in`. Its place says whether `out` holds rows or loose
  /// scalars.
  void project(const Tensor& in, const Row& matrix, const Row& bias, Row& out,
               const Place& written) {
    launch(operations::kUnfusedProjection, {place(in.operand, *in.values), written},
           [&](CountingAccess& access) {
             const std::size_t num_outputs = matrix.size() / d_;
             for (std::size_t t = 0; t < in.values->size() / d_; ++t) {
               const Row x = loaded(access, *in.values, t, d_);
               for (std::size_t i = 0; i < num_outputs; ++i) {
                 double y = bias.empty() ? 0 : bias[i];
                 for (std::size_t e = 0; e < d_; ++e) y += matrix[i * d_ + e] * x[e];
                 access.store(&out[t * num_outputs + i], y);
               }
             }
           });
  }

  /// out = sum_j weight(access, t, j) in_j. `scalars` is the place of the weights, if they have
  /// one.
  template <class Weight>
  void mix(const std::vector<Tensor>& in, const std::vector<Place>& scalars, const Tensor& out,
           const Weight& weight) {
    std::vector<Place> all = places(in, out);
    all.insert(all.end(), scalars.begin(), scalars.end());
    launch(operations::kUnfusedMix, std::move(all), [&](CountingAccess& access) {
      for (std::size_t t = 0; t < T_; ++t) {
        Row sum(d_, 0);
        for (std::size_t j = 0; j < in.size(); ++j) {
          const double w = weight(access, t, j);
          const Row v = loaded(access, *in[j].values, t, d_);
          for (std::size_t e = 0; e < d_; ++e) sum[e] += w * v[e];
        }
        for (std::size_t e = 0; e < d_; ++e) access.store(&(*out.values)[t * d_ + e], sum[e]);
      }
    });
  }

  template <class Execute>
  void launch(OperationId id, std::vector<Place> places, const Execute& execute) {
    counter_.launch({id, T_, d_, std::move(places)}, execute);
  }

  static Row loaded(CountingAccess& access, const Row& values, std::size_t t, std::size_t size) {
    Row row;
    for (std::size_t e = 0; e < size; ++e) row.push_back(access.load(&values[t * size + e]));
    return row;
  }

 private:
  Counter& counter_;
  std::size_t T_;
  std::size_t d_;

  /// A tensor that is updated in place has one place.
  static std::vector<Place> places(const std::vector<Tensor>& in, const Tensor& out) {
    std::vector<Place> all{place(out.operand, *out.values)};
    for (const Tensor& each : in) {
      all.push_back(place(each.operand, *each.values));
      if (each.values == out.values) all.back().written_as = out.operand;
    }
    return all;
  }
};

}  // namespace depthcost::test
