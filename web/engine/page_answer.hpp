// What the page asks the model, as JSON. Every number and every word about it is the program's own.
#pragma once

#include <string>
#include <string_view>

namespace depthcost::page {

/// The text of a scenario file, and the name that messages call it by.
struct ScenarioText {
  std::string_view text;
  std::string file;
};

/// What `depthcost evaluate --format json` prints for that file. Throws InputError, as all of
/// these.
std::string evaluation_json(const ScenarioText& scenario, const std::string& version);

/// What the page shows: verdicts, costs, and the data of its charts. Absent: what the scenario does
/// not ask for.
std::string answer_json(const ScenarioText& scenario);

/// What `depthcost report` writes, with the appendix behind it and without plots.
std::string report_markdown(const ScenarioText& scenario, const std::string& version);

}  // namespace depthcost::page
