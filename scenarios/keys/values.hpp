// The values of a file, checked against its table of keys: in base units, with place and origin.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/base/enum_names.hpp"
#include "scenarios/keys/keys.hpp"
#include "scenarios/text/document.hpp"

namespace depthcost {

/// One value. A list has several texts. Quantities and counts are also numbers in base units.
struct Value {
  std::vector<std::string> texts;
  std::vector<double> numbers;
  Position position;
  std::vector<Position> positions{};  // one for each text; none for a default
  std::string origin;                 // "kimi_k3.yaml:7", "preset h200_sxm: ... (2026-08-21)"
  bool has_source = false;            // the file names a source and a date
  std::string warning{};              // by what numbers are wrong that rest on it

  /// The position of one element of a list.
  const Position& position_of(std::size_t element) const {
    return positions.empty() ? position : positions[element];
  }
};

/// All values of one file or map by full path; records are "sustained_bandwidth[0].value".
class Values {
 public:
  explicit Values(Position position) : position_(std::move(position)) {}

  const Value* find(const std::string& path) const;
  bool has(const std::string& path) const { return find(path) != nullptr; }
  /// The value of a key that the table requires or that was checked with has().
  const Value& at(const std::string& path) const;

  const std::string& text(const std::string& path) const { return at(path).texts.front(); }
  double number(const std::string& path) const { return at(path).numbers.front(); }
  Count count(const std::string& path) const { return static_cast<Count>(number(path)); }
  /// The value of a key that takes names of `Enum`.
  template <class Enum>
  Enum choice(const std::string& path) const {
    return named<Enum>(text(path)).value();
  }

  /// Records written under `path`, at once: loops ask in their condition.
  std::size_t num_records(const std::string& path) const;
  bool has_records(const std::string& path) const;

  void set(const std::string& path, Value value);
  void erase(const std::string& path);
  void erase_records(const std::string& path);
  /// Those whose `key` has this text; the others move up.
  void erase_records(const std::string& path, const std::string& key, std::string_view text);

  /// Takes from `base` every value that is not written here. A list of records counts as one value,
  /// and so do two keys of which one replaces the other. A value `of` a key that is written here is
  /// not taken.
  void fill_from(const Values& base, const KeyTable& table);

  /// Where the map begins: the place to report what is missing.
  const Position& position() const { return position_; }
  const std::map<std::string, Value>& all() const { return values_; }

 private:
  Position position_;
  std::map<std::string, Value> values_;
  std::map<std::string, std::size_t> num_records_;  // of each list
};

/// The origin of values that name no source themselves.
enum class Provenance { scenario, preset, options };

/// The file that is read, for origins and messages.
struct FileReading {
  const KeyTable& table;
  Provenance provenance = Provenance::scenario;
  std::string label;  // file name without folders, or the preset's name
};

/// Reads a map against the table. Members of kind `reference` are left to the caller. Throws
/// InputError for anything that the table does not allow. Required keys are not checked here, since
/// a base may have them.
Values read_values(const Map& map, const Position& position, const FileReading& reading);

/// Throws InputError for a key in `prefix` if the key `needed`, without which it has no meaning, is
/// absent.
void refuse_orphans(const Values& values, const std::string& prefix, const std::string& needed);

/// Throws InputError for the first required key that is missing.
void require_keys(const Values& values, const KeyTable& table);

/// Checks the `schema:` line of a whole file.
void require_schema(const Map& map, const Position& position, const KeyTable& table);

}  // namespace depthcost
