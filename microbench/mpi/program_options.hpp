// "--key value" command lines of the MPI programs.
#pragma once

#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "microbench/mpi/ranks.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::bench {

/// "3@1": what = "3", where = 1. Without the option where is -1.
struct At {
  std::string what;
  int where = -1;
};

class ProgramOptions {
 public:
  /// Throws BadInput for an option that is none of `options` or has no value.
  ProgramOptions(int argc, char** argv, const std::vector<std::string>& options, std::string usage)
      : usage_(std::move(usage)) {
    for (int i = 1; i < argc; ++i) {
      const std::string word = argv[i];
      if (!word.starts_with("--")) {
        words_.push_back(word);
        continue;
      }
      bool is_known = false;
      for (const std::string& option : options) is_known = is_known || word == "--" + option;
      if (!is_known) fail("unknown option '" + printable(word) + "'");
      if (i + 1 == argc) fail("option '" + word + "' needs a value");
      values_[word.substr(2)] = argv[++i];
    }
  }

  const std::vector<std::string>& words() const { return words_; }
  bool has(const std::string& option) const { return values_.contains(option); }
  std::string text(const std::string& option) const {
    const auto found = values_.find(option);
    return found == values_.end() ? "" : found->second;
  }

  /// A positive integer of at most nine digits.
  int count(const std::string& option, int otherwise) const {
    return has(option) ? parse(text(option), option, 1) : otherwise;
  }

  At at(const std::string& option) const {
    if (!has(option)) return {};
    const std::string value = text(option);
    const auto sign = value.find('@');
    if (sign == std::string::npos)
      fail("invalid " + option + " '" + printable(value) + "' (no '@')");
    return {value.substr(0, sign), parse(value.substr(sign + 1), option, 0)};
  }

  int parse(std::string_view digits, const std::string& option, int least) const {
    int value = 0;
    const char* end = digits.data() + digits.size();
    const auto result = std::from_chars(digits.data(), end, value);
    if (result.ec != std::errc() || result.ptr != end || digits.size() > 9 || value < least)
      fail("invalid " + option + " '" + printable(digits) + "' (must be an integer, at least " +
           std::to_string(least) + ")");
    return value;
  }

  [[noreturn]] void fail(const std::string& problem) const {
    throw BadInput("error: " + problem + " (usage: " + usage_ + ")");
  }

 private:
  std::string usage_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> words_;
};

}  // namespace depthcost::bench
