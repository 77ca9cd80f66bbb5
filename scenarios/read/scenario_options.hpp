// A scenario without a file: options of the command line, and defaults for the rest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/read/scenario.hpp"
#include "scenarios/text/document.hpp"

namespace depthcost {

/// Values as a user types them. An empty one is not given.
struct ScenarioOptions {
  std::string model;     // a preset, a model file, or a config.json of Hugging Face
  std::string hardware;  // a preset or a path; without it no time is predicted
  std::string tensor;    // devices
  std::string data;      // data-parallel replicas
  std::string expert;    // devices that share the experts
  std::string pipeline;  // stages
  std::string scheme;    // the residual scheme; the model's own if empty
  std::string block_size;
  std::string compare;                          // schemes "a,b"
  std::string decode;                           // batches "1,64,512", or "none"
  std::string context;                          // tokens
  std::string prefill;                          // tokens, or "none"
  std::string training;                         // tokens of a sequence
  std::vector<std::string> budgets;             // "decode_overhead=2%"
  std::vector<std::string> settings;            // "residual.attach=standalone", of a file too
  std::optional<UnreadScenario> document = {};  // one that has no file, in place of it
};

/// Whether one of "a,b" has blocks, or is no scheme: the reader names that.
bool may_have_blocks(const std::string& schemes);

/// The scenario file that would ask the same question, as a tree of Provenance::options. `training`
/// alone asks about a training step alone. Where nothing is said: decode steps of 1, 64 and 512
/// sequences of 8,192 tokens, a prefill of 131,072 tokens in chunks of at most 16,384 that the
/// tensor-parallel devices share; beside the model's own scheme standard and mHC, and Full AttnRes
/// if it carries AttnRes. Throws InputError at "--OPTION:1:1".
Node document_from_options(const ScenarioOptions& options);

/// The stem of the names of its output files: "config_b300_sxm".
std::string stem_of(const ScenarioOptions& options);

/// Throws InputError at `--set` for a setting that would silently win over an option: one of the
/// same key, or of a map that has it.
void refuse_conflicting_settings(const ScenarioOptions& options);

/// The options' document, or that of the file, or if the options name a model one made of them. The
/// settings are applied. Throws as refuse_conflicting_settings() does.
UnreadScenario asked_document(const std::string& path, const ScenarioOptions& options);

/// The same where options hold values that nobody has typed, which settings may replace.
UnreadScenario composed_document(const std::string& path, const ScenarioOptions& options);

/// The scenario of that document, without the usual batches that do not fit.
Scenario asked_scenario(const std::string& path, const ScenarioOptions& options,
                        const Constants& constants = shipped_constants());

/// The stem of the names of that scenario's output files.
std::string stem_of(const std::string& path, const ScenarioOptions& options);

}  // namespace depthcost
