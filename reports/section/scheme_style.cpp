// A colour and a label for each kind of scheme.
#include "reports/section/scheme_style.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/schemes/mechanism.hpp"

namespace depthcost::plotting {
namespace {

struct ColorOf {
  Color operator()(const Standard&) const { return Color::dark_grey; }
  Color operator()(const Mhc&) const { return Color::orange; }
  Color operator()(const FullAttnRes&) const { return Color::green; }
  Color operator()(const BlockAttnRes&) const { return Color::blue; }
  Color operator()(const MechanismScheme&) const { return Color::purple; }
};

struct LabelOf {
  std::string operator()(const Standard&) const { return "Standard"; }
  std::string operator()(const Mhc& s) const { return fmt::format("mHC (m = {})", s.num_streams); }
  std::string operator()(const FullAttnRes&) const { return "Full AttnRes"; }
  std::string operator()(const BlockAttnRes&) const { return "Block AttnRes"; }
  std::string operator()(const MechanismScheme& s) const { return std::string(s.mechanism->label); }
};

}  // namespace

Color color_of(const Scheme& scheme) { return std::visit(ColorOf{}, scheme); }

std::string label_of(const Scheme& scheme) { return std::visit(LabelOf{}, scheme); }

std::string label_of(const Scheme& scheme, Schedule schedule) {
  std::string words{name(schedule)};
  std::replace(words.begin(), words.end(), '_', ' ');
  return label_of(scheme) + ", " + words;
}

std::string model_name(const Study& study) {
  const std::string text = plain_text(study.model.name, 32);
  return text.empty() ? "the model" : text;
}

}  // namespace depthcost::plotting
