// Verdicts as a JUnit file, which every CI system shows. The common schema: windyroad/JUnit-Schema.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace depthcost {

enum class JunitOutcome { passed, failed, skipped };

struct JunitCase {
  std::string name;
  std::string class_name;
  JunitOutcome outcome = JunitOutcome::passed;
  std::string failure_type;  // of a failure: "mispredict", "impossible", "budget"
  std::string message;       // of a failure, or why it was skipped
  std::string output;        // system-out
};

struct JunitSuite {
  std::string name;
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<JunitCase> cases;
};

/// Times are 0: nothing was run. Characters that XML does not allow become U+FFFD.
std::string to_junit(const JunitSuite& suite);

}  // namespace depthcost
