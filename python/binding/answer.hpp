// One evaluated scenario, kept for what is asked of it later.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/evaluation/evaluation.hpp"
#include "python/binding/question.hpp"
#include "scenarios/read/scenario.hpp"

namespace depthcost::python {

class Answer {
 public:
  /// Throws InputError.
  Answer(const Question& question, const std::string& constants);

  /// As `evaluate --format json`. `rows` is "sums", without a row for each launch; "launches", as
  /// the program writes; or "layers", as it does with --layers.
  std::string json(const std::string& rows) const;
  /// The first screen of the report.
  std::string verdict() const;
  /// The report as one document, without plots.
  std::string markdown() const;
  std::vector<std::string> metrics() const;
  /// As a JSON object. Throws InputError for an unknown metric.
  std::string explanation(const std::string& metric) const;

 private:
  Scenario scenario_;
  Evaluation evaluation_;
  std::string place_;
};

}  // namespace depthcost::python
