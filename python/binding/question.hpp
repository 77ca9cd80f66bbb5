// What Python asks about: a path, a text, a dict, or options in place of them.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>
#include <vector>

#include "scenarios/read/scenario_options.hpp"

namespace depthcost::python {

/// What a text or a dict is called in messages.
inline constexpr const char* kNoFile = "scenario";

struct Question {
  std::string path;  // of a file; kNoFile of a text or a dict; empty if the options name a model
  ScenarioOptions options;

  const std::string& place() const { return options.model.empty() ? path : options.model; }
};

/// `kind` says what `source` is: "path", "text", "dict" or "" (nothing: the options name a model).
/// Throws InputError.
Question question_of(const std::string& kind, nanobind::handle source,
                     const std::map<std::string, std::string>& options,
                     const std::vector<std::string>& budgets,
                     const std::vector<std::string>& settings);

}  // namespace depthcost::python
