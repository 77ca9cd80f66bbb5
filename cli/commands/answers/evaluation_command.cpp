// A plan's question as words of a shell.
#include "cli/commands/answers/evaluation_command.hpp"

#include <fmt/format.h>

#include <utility>

#include "model/decision/budget.hpp"

namespace depthcost {
namespace {

/// As a shell takes it.
std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./=,:%+-";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

/// The question of a plan as options of another command, but for what the plan has chosen.
std::vector<std::string> asked_words(const PlanOptions& options, const PlanSource& source) {
  const ScenarioOptions& question = options.question;
  if (question.model.empty()) return {options.scenario};
  std::vector<std::string> words{"--model", question.model};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--hardware", question.hardware);
  if (!question.scheme.empty() || !question.block_size.empty() ||
      source.blocks == PlannedBlocks::searched)
    add("--residual", std::string(name(source.own.path.scheme)));
  if (has_block_size(source.own.path.scheme)) add("--block-size", question.block_size);
  add("--compare", question.compare);
  // A setting of the plan names the batches, where there are any.
  if (!source.own.decode && !question.decode.empty()) add("--decode", question.decode);
  if (question.training.empty()) add("--context", question.context);
  add("--prefill", question.prefill);
  add("--training", question.training);
  for (const std::string& budget : question.budgets) add("--budget", budget);
  return words;
}

/// The limits that --max-overhead sets, as settings.
std::vector<std::string> limit_settings(const PlanOptions& options, const Study& own) {
  std::vector<std::string> settings;
  if (options.max_overhead.empty()) return settings;
  for (const BudgetKind kind : asked_overheads(own))
    settings.push_back(fmt::format("budgets.{}={}", name(kind), options.max_overhead));
  return settings;
}

/// The last setting of each key, which is the one that holds.
std::vector<std::string> last_of_each_key(const std::vector<std::string>& settings) {
  const auto key = [](const std::string& setting) { return setting.substr(0, setting.find('=')); };
  std::vector<std::string> last;
  for (const std::string& setting : settings) {
    std::erase_if(last, [&](const std::string& it) { return key(it) == key(setting); });
    last.push_back(setting);
  }
  return last;
}

/// The command that evaluates a plan of `source`.
std::string evaluation_of(const PlanOptions& options, const PlanSource& source,
                          const PlannedPlacement& plan) {
  std::string command = "depthcost evaluate";
  for (const std::string& word : asked_words(options, source)) command += " " + shell_word(word);
  std::vector<std::string> settings = options.question.settings;
  for (std::string& setting : plan_settings(source, plan)) settings.push_back(std::move(setting));
  if (source.own.decode && !options.question.training.empty() && !options.question.context.empty())
    settings.push_back("workload.decode.context=" + options.question.context);
  for (std::string& setting : limit_settings(options, source.own))
    settings.push_back(std::move(setting));
  for (const std::string& setting : last_of_each_key(settings))
    command += " --set " + shell_word(setting);
  return command;
}

}  // namespace

std::vector<std::string> evaluation_commands(const PlanOptions& options,
                                             const std::vector<PlanSource>& sources,
                                             const std::vector<PlannedPlacement>& plans) {
  std::vector<std::string> commands;
  for (const PlannedPlacement& plan : plans)
    for (const PlanSource& source : sources)
      if (name(source.own.path.scheme) == plan.scheme)
        commands.push_back(evaluation_of(options, source, plan));
  return commands;
}

}  // namespace depthcost
