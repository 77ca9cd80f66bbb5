// Every constant is a factor on where the search begins. NLopt's subplex search needs no
// derivatives.
#include "profile/calibration/search.hpp"

#include <algorithm>
#include <cmath>
#include <nlopt.hpp>

namespace depthcost::calibration {
namespace {

constexpr double kMostFactor = 4;  // a constant may move so far from where the search begins
constexpr int kMostSteps = 400;

}  // namespace

double log_error(Seconds measured, Seconds predicted) {
  return std::fabs(std::log(measured / predicted));
}

void minimise(const std::vector<Free>& constants, const std::function<double()>& loss) {
  std::vector<double> start;
  std::vector<double> most;
  for (const Free& constant : constants) {
    start.push_back(*constant.value);
    most.push_back(std::min(std::log(kMostFactor), std::log(constant.most / *constant.value)));
  }
  const auto set = [&](const std::vector<double>& logs) {
    for (std::size_t i = 0; i < logs.size(); ++i)
      *constants[i].value = start[i] * std::exp(logs[i]);
  };
  const nlopt::vfunc objective = [](const std::vector<double>& logs, std::vector<double>&,
                                    void* data) {
    return (*static_cast<std::function<double(const std::vector<double>&)>*>(data))(logs);
  };
  std::function<double(const std::vector<double>&)> at = [&](const std::vector<double>& logs) {
    set(logs);
    return loss();
  };
  nlopt::opt search(nlopt::LN_SBPLX, static_cast<unsigned>(constants.size()));
  search.set_min_objective(objective, &at);
  search.set_lower_bounds(-std::log(kMostFactor));
  search.set_upper_bounds(most);
  search.set_initial_step(0.1);
  search.set_xtol_abs(1e-3);
  search.set_maxeval(kMostSteps);
  std::vector<double> logs(constants.size(), 0.0);
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = std::min(logs[i], most[i]);
  double least = 0;
  search.optimize(logs, least);
  set(logs);
}

}  // namespace depthcost::calibration
