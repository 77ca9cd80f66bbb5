// An accessor that counts what a reference's backward pass loads and stores as the ledger does, and
// gradients by differences of the forward pass.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>
#include <vector>

#include "kernels/reference/accessor.hpp"
#include "model/schemes/gradients.hpp"

namespace depthcost::test {

using reference::Row;

/// What a buffer holds: `arriving` are gradients dx, of the type of activations, in whose place a
/// kernel may leave another gradient.
enum class Saved { activation, arriving, gradient, scalars };

class BackwardAccess {
 public:
  BackwardAccess(std::size_t num_tokens, std::size_t hidden_size)
      : row_size_(static_cast<double>(num_tokens * hidden_size)) {}

  BackwardAccess& holds(Saved kind, const Row& buffer) {
    areas_.push_back({buffer.data(), buffer.data() + buffer.size(), kind});
    return *this;
  }

  template <class T>
  double load(const T* element) {
    const Saved kind = kind_of(element);
    if (kind == Saved::activation || kind == Saved::arriving) ++traffic_.activation_reads_d;
    if (kind == Saved::gradient) ++traffic_.gradient_reads_d;
    return reference::DirectAccess{}.load(element);
  }
  template <class T>
  void store(T* element, double value) {
    const Saved kind = kind_of(element);
    if (kind == Saved::activation) throw std::logic_error("a saved row was written");
    if (kind == Saved::gradient || kind == Saved::arriving) ++traffic_.gradient_writes_d;
    reference::DirectAccess{}.store(element, value);
  }

  GradientTraffic moved() const {
    return {traffic_.activation_reads_d / row_size_, traffic_.gradient_reads_d / row_size_,
            traffic_.gradient_writes_d / row_size_};
  }

 private:
  struct Area {
    const void* first;
    const void* last;
    Saved kind;
  };
  double row_size_;
  std::vector<Area> areas_;
  GradientTraffic traffic_;  // elements

  Saved kind_of(const void* element) const {
    for (const Area& area : areas_)
      if (!std::less<>{}(element, area.first) && std::less<>{}(element, area.last))
        return area.kind;
    throw std::logic_error("an element outside all operands was touched");
  }
};

/// Random rows of one sequence.
class RandomRows {
 public:
  explicit RandomRows(unsigned seed) : random_(seed) {}
  Row operator()(std::size_t size, double scale = 1) {
    std::normal_distribution<double> normal(0, scale);
    Row row(size);
    for (double& element : row) element = normal(random_);
    return row;
  }

 private:
  std::mt19937 random_;
};

/// The derivative of `loss` by every element of `of`: central differences of fourth order.
inline Row differences(Row& of, const std::function<double()>& loss) {
  constexpr double kStep = 1e-5;
  Row all;
  for (double& element : of) {
    const double value = element;
    const auto at = [&](double steps) {
      element = value + steps * kStep;
      return loss();
    };
    const double near = at(1) - at(-1);
    const double far = at(2) - at(-2);
    element = value;
    all.push_back((8 * near - far) / (12 * kStep));
  }
  return all;
}

/// Holds `gradient`, less what it had before, against the differences of `loss`.
inline void expect_gradient(const char* what, const Row& gradient, Row& of,
                            const std::function<double()>& loss, const Row& before = {}) {
  const Row expected = differences(of, loss);
  ASSERT_EQ(gradient.size(), expected.size()) << what;
  double scale = 1;
  for (const double each : expected) scale = std::max(scale, std::abs(each));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double had = before.empty() ? 0 : before[i];
    EXPECT_NEAR(gradient[i] - had, expected[i], 2e-7 * scale) << what << ' ' << i;
  }
}

}  // namespace depthcost::test
