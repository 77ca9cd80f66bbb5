// A committed table of fingerprints. UPDATE_GOLDEN=1 rewrites it.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace depthcost::test {

class Fingerprints {
 public:
  /// Reads tests/golden/`name`. `header` names its columns.
  Fingerprints(const std::string& name, std::string header);

  /// Expects the row of `key` to be `row`. `what` says in a message what has changed.
  void expect(const std::string& key, const std::string& row, const std::string& what);

  /// Writes the table, or expects that it has no row that was not asked for.
  void finish() const;

 private:
  std::filesystem::path path_;
  std::string table_;
  std::map<std::string, std::string> recorded_;
  std::size_t num_known_ = 0;
};

}  // namespace depthcost::test
