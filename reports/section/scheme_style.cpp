// A colour and a label for each kind of scheme.
#include "reports/section/scheme_style.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "model/schemes/list.hpp"

namespace depthcost::plotting {
namespace {

/// The schemes of Table 1 are told apart by colour; all others have one.
constexpr std::array kColors{std::pair{&schemes::kStandard, Color::dark_grey},
                             std::pair{&schemes::kMhc, Color::orange},
                             std::pair{&schemes::kFullAttnRes, Color::green},
                             std::pair{&schemes::kBlockAttnRes, Color::blue}};

}  // namespace

Color color_of(const Scheme& scheme) {
  for (const auto& [rule, color] : kColors)
    if (rule == scheme.rule) return color;
  return Color::purple;
}

std::string label_of(const Scheme& scheme) {
  if (!takes(scheme, &SchemeParameters::num_streams)) return std::string(scheme.rule->label);
  return fmt::format("{} (m = {})", scheme.rule->label, scheme.parameters.num_streams);
}

std::string label_of(const Scheme& scheme, Schedule schedule) {
  std::string words{name(schedule)};
  std::replace(words.begin(), words.end(), '_', ' ');
  return label_of(scheme) + ", " + words;
}

std::string model_name(const Study& study) {
  const std::string text = cleaned_line(study.model.name, 32);
  return text.empty() ? "the model" : text;
}

}  // namespace depthcost::plotting
