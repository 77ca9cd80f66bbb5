// One map of `attention` as it is put together from a config.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "scenarios/import/hf_config.hpp"
#include "scenarios/import/imported_model.hpp"

namespace depthcost {

/// Collects the members of one record and the ways to them.
class RecordBuilder {
 public:
  RecordBuilder(const HfConfig& config, const std::string& kind, Count num_decoder_layers,
                const Position& position)
      : config_(config) {
    record_.members = {{"kind", kind, position},
                       {"decoder_layers", fmt::format("{}", num_decoder_layers), position}};
  }

  RecordBuilder& add(const std::string& member, const ConfigValue& value) {
    return add(member, value.count(), value.position()).cite(value.path());
  }

  RecordBuilder& add(const std::string& member, Count count, const Position& position) {
    record_.members.push_back({member, fmt::format("{}", count), position});
    return *this;
  }

  RecordBuilder& add(const std::string& member, std::string word, const Position& position) {
    record_.members.push_back({member, std::move(word), position});
    return *this;
  }

  RecordBuilder& add(const std::string& member, const std::optional<ConfigValue>& value) {
    return value ? add(member, *value) : *this;
  }

  RecordBuilder& cite(const std::string& path) {
    paths_.push_back(path);
    return *this;
  }

  ImportedRecord build() {
    record_.source = config_.cite(paths_);
    return std::move(record_);
  }

 private:
  const HfConfig& config_;
  ImportedRecord record_;
  std::vector<std::string> paths_;
};

inline const Aliases kHeads{"num_attention_heads", "n_head", "n_heads"};
inline const Aliases kKvHeads{"num_key_value_heads", "n_kv_heads", "num_kv_heads", "n_head_kv"};

}  // namespace depthcost
