#include "tests/results/fingerprints.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <utility>

#include "tests/marked_block.hpp"

namespace depthcost::test {

Fingerprints::Fingerprints(const std::string& name, std::string header)
    : path_(std::filesystem::path(DEPTHCOST_GOLDEN_DIR) / name), table_(std::move(header) + "\n") {
  std::ifstream file(path_);
  std::string row;
  std::getline(file, row);
  while (std::getline(file, row)) {
    const std::size_t end = row.rfind('"');
    recorded_[row.substr(1, end - 1)] = row.substr(end + 2);
  }
}

void Fingerprints::expect(const std::string& key, const std::string& row, const std::string& what) {
  table_ += fmt::format("\"{}\",{}\n", key, row);
  const auto known = recorded_.find(key);
  num_known_ += known == recorded_.end() ? 0 : 1;
  if (is_updating_golden() || (known != recorded_.end() && known->second == row)) return;
  ADD_FAILURE() << what << " (its fingerprint in " << path_
                << " is another; UPDATE_GOLDEN=1 if the change is on purpose)";
}

void Fingerprints::finish() const {
  if (is_updating_golden())
    std::ofstream(path_) << table_;
  else
    EXPECT_EQ(num_known_, recorded_.size()) << path_ << " has rows that nothing asks for";
}

}  // namespace depthcost::test
