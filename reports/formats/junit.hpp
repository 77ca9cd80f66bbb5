// Verdicts as a JUnit file, which every CI system shows: valid for the schema of Ant's reports
// (windyroad/JUnit-Schema JUnit.xsd) and for that of Jenkins (xunit-plugin junit-10.xsd).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace depthcost {

/// An error is something that kept a case from being judged.
enum class JunitOutcome { passed, failed, skipped, error };

struct JunitCase {
  std::string name;
  std::string class_name;
  JunitOutcome outcome = JunitOutcome::passed;
  std::string failure_type;  // of a failure or error: "mispredict", "impossible", "budget"
  std::string message;       // of a failure or error, or why it was skipped
  std::string output;        // a line of the suite's system-out
};

struct JunitSuite {
  std::string name;
  std::vector<std::pair<std::string, std::string>> properties;
  std::vector<JunitCase> cases;
};

/// Times are 0 and the date is 1970-01-01: nothing was run, and the same verdicts give the same
/// bytes. Characters that XML does not allow become U+FFFD.
std::string to_junit(const JunitSuite& suite);

}  // namespace depthcost
