// A machine that holds every vector of one token by name and counts what is touched: the second
// derivation of every count of traffic.
#pragma once

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "model/base/traffic.hpp"

namespace depthcost::test {

class VectorMachine {
 public:
  /// A layer's own output: free.
  void produce(const std::string& vector) { live_.insert(vector); }
  void read(const std::string& vector) {
    expect_live(vector);
    traffic_.reads_d += 1;
    traffic_.phase1_d += is_phase1_output(vector) ? 1 : 0;
  }
  void write(const std::string& vector) {
    live_.insert(vector);
    traffic_.writes_d += 1;
    traffic_.phase1_d += is_phase1_output(vector) ? 1 : 0;
  }
  void read_scalar(const std::string& scalar) {
    expect_live(scalar);
    traffic_.reads_scalars += 1;
  }
  void write_scalar(const std::string& scalar) {
    live_.insert(scalar);
    traffic_.writes_scalars += 1;
  }
  const Traffic& traffic() const { return traffic_; }

 private:
  static bool is_phase1_output(const std::string& vector) { return vector.starts_with("o_"); }
  void expect_live(const std::string& name) const {
    EXPECT_TRUE(live_.contains(name)) << name << " was never written";
  }

  std::set<std::string> live_;
  Traffic traffic_;
};

inline std::string bank_row(Count n) { return "b_" + std::to_string(n); }

}  // namespace depthcost::test
