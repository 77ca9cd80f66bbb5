// The keys of a model file that an importer has found, each with its source and its place in the
// imported file.
#pragma once

#include <string>
#include <vector>

#include "scenarios/keys/values.hpp"

namespace depthcost {

/// One key and its value as a model file writes them.
struct ImportedValue {
  std::string key;
  std::string text;
  Position position;
};

/// A value of the model: "hidden_size" or "residual.scheme".
struct ImportedKey {
  ImportedValue value;
  std::string source;
};

/// One map of `attention`, `mlp`, `tables` or `draft`.
struct ImportedRecord {
  std::vector<ImportedValue> members;
  std::string source;
};

struct ImportedModel {
  std::string origin;  // the file, as its comment names it
  std::string name;
  std::vector<std::string> remarks;   // comments of the file: what it cannot say
  std::vector<std::string> warnings;  // of these, the ones by which numbers are wrong
  Position position;                  // where the model begins
  std::vector<ImportedKey> keys;      // in the order of the file
  std::vector<ImportedRecord> attention;
  std::vector<ImportedRecord> mlp;
  std::vector<ImportedRecord> tables;
  std::vector<ImportedRecord> draft;
  std::vector<ImportedKey> residual;  // without "residual."
};

/// The model file.
std::string to_yaml(const ImportedModel& model);

/// The values that the reader gets from that file. Their places are those in the imported file, and
/// their sources are their origins; the remarks stand with the residual scheme.
Values to_values(const ImportedModel& model);

}  // namespace depthcost
