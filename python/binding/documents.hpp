// What each question of Python but `evaluate` answers: the documents of the commands, unparsed.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cli/output/files.hpp"
#include "model/base/progress.hpp"
#include "model/decision/difference.hpp"
#include "python/binding/question.hpp"
#include "reports/check/check_report.hpp"
#include "reports/sweep/sweep_report.hpp"

namespace depthcost::python {

/// Files by name, the main document last, and why there are no plots, if there are none.
struct MadeFiles {
  std::vector<NewFile> files;
  std::string summary;
  std::string missing_plots;
};

/// A document for programs and one for people.
struct Documents {
  std::string json;
  std::string markdown;
};

MadeFiles report_of(const Question& question, Progress& progress);

struct CheckAnswer : Documents {
  bool holds = true;
};
/// Throws InputError where the scenario is refused.
CheckAnswer check_of(const Question& question, Unknowns unknowns, Progress& progress);

Documents family_of(const Question& question);

struct PlanQuestion {
  Count devices = 0;
  std::string max_overhead;
};
Documents plan_of(const Question& question, const PlanQuestion& asked, Progress& progress);

/// A sweep, kept for its documents.
class Swept {
 public:
  Swept(const Question& question, const std::vector<std::string>& axes, Count max_points,
        double compute, Progress& progress);

  Documents documents(Progress& progress);
  std::string csv();
  std::string text();
  MadeFiles plots(Progress& progress);

 private:
  std::string stem_;
  SweepReport report_;
  std::mutex turns_;  // Python's threads take turns: writing counts in the report
};

struct CompareQuestion {
  std::string measurements;
  bool is_published = false;
  std::string hardware;
  std::string tolerances;
  std::string constants;
  std::string workload;
  std::string kernel_names;
  Count steps = 0;
};
/// A trace if the question has a scenario.
Documents compare_of(const CompareQuestion& asked, const Question* scenario);

/// A result of `evaluate`: its JSON, or the path of a file that holds it.
struct ResultSource {
  std::string text_or_path;
  bool is_path = false;
};

struct DiffAnswer : Documents {
  bool holds = true;
};
/// `tolerance` as on the command line, "1 %".
DiffAnswer diff_of(const ResultSource& before, const ResultSource& after,
                   const std::string& tolerance, Improvements improvements);

/// The model file of a config: its text, or its path.
std::string imported(const std::string& text, const std::string& path, const std::string& family);

/// Kind, id and name of each, in order.
std::vector<std::vector<std::string>> list_of_presets();

/// The file of one. Throws InputError for an unknown one.
std::string preset_text(const std::string& id);

}  // namespace depthcost::python
