// One pass without a stack. The parser checks which bracket closes which.
#include "scenarios/text/bracket_limits.hpp"

#include "scenarios/text/document.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kMarks = "[]{},:?&*!";

bool is_one_of(char c, std::string_view characters) {
  return characters.find(c) != std::string_view::npos;
}

class BracketScan {
 public:
  explicit BracketScan(std::string_view text) : text_(text) {}

  std::optional<BracketExcess> run() {
    for (; at_ < text_.size(); ++at_) {
      step();
      if (depth_ > kMaxNestingDepth) return BracketExcess{at_, true};
      if (marks_ > kMaxBracketMarks) return BracketExcess{at_, false};
    }
    return std::nullopt;
  }

 private:
  char here() const { return text_[at_]; }

  void step() {
    if (is_one_of(here(), " \t\r\n")) return pass_space();
    const bool starts_comment = here() == '#' && after_space_;
    after_space_ = false;
    if (starts_comment) return skip_to("\n");
    if (may_start_ && is_one_of(here(), "\"'")) return pass_quoted();
    // Outside of brackets a plain text may hold any of them: "a [b", "12:30".
    if (depth_ == 0 && !may_start_) return pass_colon();
    pass_mark();
  }

  void pass_space() {
    after_space_ = true;
    if (here() == '\n' && depth_ == 0) may_start_ = true;
  }

  /// Leaves at_ before the next of the characters, or at the end.
  void skip_to(std::string_view characters) {
    while (at_ + 1 < text_.size() && !is_one_of(text_[at_ + 1], characters)) ++at_;
  }

  void pass_quoted() {
    const char quote = here();
    if (depth_ > 0) ++marks_;
    for (++at_; at_ < text_.size(); ++at_) {
      const bool is_escape = quote == '"' ? here() == '\\' : text_.substr(at_, 2) == "''";
      if (is_escape)
        ++at_;
      else if (here() == quote)
        return;
    }
  }

  /// "key: [": after a colon and a space a value starts.
  void pass_colon() {
    const bool ends_key = at_ + 1 < text_.size() && is_one_of(text_[at_ + 1], " \t\r\n");
    may_start_ = here() == ':' && ends_key;
  }

  void pass_mark() {
    const char mark = here();
    if (is_one_of(mark, "[{")) {
      ++depth_;
    } else if (is_one_of(mark, "]}") && depth_ > 0) {
      --depth_;
    }
    if (depth_ == 0) {
      marks_ = 0;
    } else if (is_one_of(mark, kMarks)) {
      ++marks_;
    }
    // After the name of an anchor, an alias or a tag a value may start again.
    if (is_one_of(mark, "&*!")) skip_to(" \t\r\n[]{},");
    may_start_ = mark == '-' || is_one_of(mark, kMarks);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  std::size_t marks_ = 0;
  bool may_start_ = true;    // a value may start here: a quote opens one, a bracket is one
  bool after_space_ = true;  // where # starts a comment
};

}  // namespace

std::optional<BracketExcess> bracket_excess(std::string_view text) {
  return BracketScan(text).run();
}

}  // namespace depthcost
