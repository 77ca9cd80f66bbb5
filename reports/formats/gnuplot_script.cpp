// Texts are cleaned, then placed.
#include "reports/formats/gnuplot_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>

#include "reports/formats/utf8.hpp"

namespace depthcost::plotting {
namespace {

/// Bytes that the first byte of a UTF-8 character announces; 0 if none starts so.
std::size_t announced_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

/// Unicode outside of XML 1.0, section 2.2: surrogates, U+FFFE, U+FFFF, beyond U+10FFFF, controls;
/// and overlong forms.
bool is_forbidden(std::uint32_t code, std::size_t length) {
  constexpr std::array<std::uint32_t, 5> smallest{0, 0x20, 0x80, 0x800, 0x10000};
  return code < smallest[length] || (code >= 0x7F && code < 0xA0) ||
         (code >= 0xD800 && code < 0xE000) || code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF;
}

/// Bytes of the character that `text` starts with; 0 if it is none that XML allows.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = announced_length(first);
  if (length == 0 || length > text.size()) return 0;
  std::uint32_t code = length == 1 ? first : first & (0x7Fu >> length);
  for (const char c : text.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0u) != 0x80u) return 0;
    code = code << 6 | (byte & 0x3Fu);
  }
  return is_forbidden(code, length) ? 0 : length;
}

constexpr double kMarkWidth = 20.0 / 760;

/// What a legend shows before its text, at the left end x of both; in shares of the canvas.
std::string mark_at(double x, double y, const LegendEntry& entry) {
  const std::string color = rgb(entry.color);
  const auto line = [&](int dash_type) {
    return fmt::format(
        "set arrow from screen {0}, screen {1} to screen {2}, screen {1} nohead front linewidth 2 "
        "dashtype {3} linecolor {4}\n",
        number_text(x), number_text(y), number_text(x + 0.8 * kMarkWidth), dash_type, color);
  };
  const auto point = [&](int point_type) {
    return fmt::format(
        "set label '' at screen {}, screen {} front point pointtype {} pointsize 0.8 "
        "linewidth 1.5 linecolor {}\n",
        number_text(x + 0.4 * kMarkWidth), number_text(y), point_type, color);
  };
  switch (entry.mark) {
    case Mark::box:
      return fmt::format(
          "set object rectangle center screen {}, screen {} size screen {}, screen 0.026 front "
          "fillcolor {} fillstyle solid noborder\n",
          number_text(x + 0.4 * kMarkWidth), number_text(y), number_text(0.65 * kMarkWidth), color);
    case Mark::line:
      return line(1);
    case Mark::dashes:
      return line(2);
    case Mark::dot:
      return point(7);
    case Mark::diamond:
      return point(13);
    case Mark::open_diamond:
      return point(12);
  }
  return {};
}

struct Legend {
  std::string script;
  double bottom;  // where the plot can begin, as a share of the canvas
};

/// Entries side by side, in a new row where the canvas ends. How wide a letter is depends on the
/// reader's fonts: the estimate is that of a wide one, DejaVu Sans.
Legend legend_of(const std::vector<LegendEntry>& entries) {
  constexpr double kLeft = 0.02;
  constexpr double kRight = 0.99;
  constexpr double kLetter = 7.4 / 760;
  constexpr double kGap = 20.0 / 760;
  constexpr double kRow = 0.052;
  Legend legend{"", 0.83};
  double x = kLeft;
  for (const LegendEntry& entry : entries) {
    const double width = kMarkWidth + kLetter * static_cast<double>(num_columns(entry.text));
    const bool is_full = x > kLeft && x + width > kRight;
    if (is_full) x = kLeft;
    if (is_full || &entry == &entries.front()) legend.bottom -= kRow;
    const double y = legend.bottom + 0.045;
    legend.script += mark_at(x, y, entry);
    legend.script +=
        fmt::format("set label {} at screen {}, screen {} left\n", gnuplot_text(entry.text),
                    number_text(x + kMarkWidth), number_text(y));
    x += width + kGap;
  }
  return legend;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

}  // namespace

double in_unit(double value, UnitKind kind, std::string_view unit) {
  for (const UnitRow& row : unit_rows())
    if (row.kind == kind && row.text == unit) return value / row.scale;
  assert(false && "a unit of unit_rows()");
  return value;
}

std::string rgb(Color color) { return fmt::format("rgb '#{:06X}'", static_cast<unsigned>(color)); }

Color pale(Color color) {
  constexpr double kShare = 0.4;
  unsigned mixed = 0;
  for (const int shift : {16, 8, 0}) {
    const double channel = static_cast<unsigned>(color) >> shift & 0xFFu;
    mixed |= static_cast<unsigned>(std::lround(kShare * channel + (1 - kShare) * 0xFF)) << shift;
  }
  return static_cast<Color>(mixed);
}

std::string cleaned_line(std::string_view text, std::size_t max_length) {
  std::string plain;
  for (std::size_t num_characters = 0; !text.empty(); ++num_characters) {
    if (num_characters == max_length) return plain + "\u2026";
    const std::size_t length = character_length(text);
    if (is_space(text.front()))
      plain += ' ';
    else if (length == 0)
      plain += '?';
    else
      plain += text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return plain;
}

std::string gnuplot_text(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string{"''"} : std::string(1, c);
  return result + "'";
}

std::string binary_label(Count power_of_two) {
  constexpr std::string_view kPrefixes = "KMGTPE";
  std::string prefix;
  for (const char next : kPrefixes) {
    if (power_of_two < 1024) break;
    power_of_two /= 1024;
    prefix = next;
  }
  return fmt::format("{}{}", power_of_two, prefix);
}

std::vector<Count> powers_of_two(Count low, Count high) {
  std::vector<Count> powers;
  for (Count power = 1; power <= high; power *= 2) {
    if (power >= low) powers.push_back(power);
    if (power > high / 2) break;  // the next may be beyond any integer
  }
  return powers;
}

std::string binary_x_axis(Count low, Count high) {
  constexpr std::size_t kMostTics = 11;
  std::vector<Count> shown = powers_of_two(low, high);
  if (shown.size() < 2) shown = {low, high};
  const std::size_t step = (shown.size() + kMostTics - 1) / kMostTics;
  std::string tics;
  for (std::size_t i = 0; i < shown.size(); i += step) {
    const bool is_power = std::has_single_bit(static_cast<std::uint64_t>(shown[i]));
    tics += fmt::format("{}'{}' {}", tics.empty() ? "" : ", ",
                        is_power ? binary_label(shown[i]) : format_count(shown[i]), shown[i]);
  }
  // A hair wider than the data: rounding of log(x) / log(2) may push the last label out of range.
  return fmt::format("set logscale x 2\nset xrange [{}:{}]\nset xtics ({})\n",
                     number_text(0.99 * static_cast<double>(low)),
                     number_text(1.01 * static_cast<double>(high)), tics);
}

std::string count_y_axis(Count highest) {
  // gnuplot's own choice is whole for more.
  constexpr Count kMostTics = 12;
  return fmt::format("set yrange [0:{}]\n{}", number_text(1.12 * static_cast<double>(highest)),
                     highest <= kMostTics ? "set ytics 1\n" : "");
}

DataBlock::DataBlock(std::string_view name) : name_(fmt::format("${}", name)) {}

void DataBlock::push_back(DataRow row) {
  std::string_view separator;
  for (const double value : row) {
    rows_ += separator;
    rows_ += number_text(value);
    separator = " ";
  }
  rows_ += '\n';
}

std::string opening(const Titles& titles, const Frame& frame) {
  const Legend legend = legend_of(titles.legend);
  // noenhanced: a model may be called "a_{b}^c". The titles are labels because `set title` can only
  // be centred; the legend is because gnuplot's own key makes all columns as wide as the widest,
  // and holes in the grid.
  return fmt::format(
      "set encoding utf8\n"
      "set terminal svg size 760,420 dynamic noenhanced font 'sans-serif,13' background 'white'\n"
      "set lmargin at screen {left}\n"
      "set rmargin at screen {right}\n"
      "set tmargin at screen {top}\n"
      "set bmargin at screen 0.135\n"
      "set border 3 linewidth 1 linecolor {ink}\n"
      "set tics nomirror scale 0.5 textcolor {ink}\n"
      "set grid back linetype 1 linewidth 0.7 linecolor {grid}\n"
      "unset key\n"
      "set label {title} at screen 0.02, screen 0.945 left font 'sans-serif,16'\n"
      "set label {y} at screen 0.02, screen 0.885 left textcolor {ink}\n"
      "set xlabel {x} textcolor {ink}\n"
      "{legend}",
      fmt::arg("left", frame.left), fmt::arg("right", frame.right),
      fmt::arg("top", number_text(legend.bottom)), fmt::arg("ink", rgb(Color::dark_grey)),
      fmt::arg("grid", rgb(Color::light_grey)), fmt::arg("title", gnuplot_text(titles.title)),
      fmt::arg("y", gnuplot_text(titles.y)), fmt::arg("x", gnuplot_text(titles.x)),
      fmt::arg("legend", legend.script));
}

std::string plot_command(const std::vector<std::string>& elements) {
  std::string command = "plot ";
  std::string_view separator;
  for (const std::string& element : elements) {
    command += separator;
    command += element;
    separator = ", \\\n     ";
  }
  return command + "\n";
}

std::string text_at(double x, double y, std::string_view text, std::string_view placement) {
  return fmt::format("set label {} at {}, {} {}\n", gnuplot_text(text), number_text(x),
                     number_text(y), placement);
}

std::string horizontal_line(double y, std::string_view text, std::string_view side) {
  return fmt::format(
      "set arrow from graph 0, first {0} to graph 1, first {0} nohead back linewidth 1.5 "
      "dashtype 2 linecolor {1}\n"
      "set label {2} at graph {3}, first {0} {4} offset character 0,0.6\n",
      number_text(y), rgb(Color::black), gnuplot_text(text), side == "left" ? "0.01" : "0.99",
      side);
}

std::string vertical_line(double x) {
  return fmt::format(
      "set arrow from {0}, graph 0 to {0}, graph 1 nohead back linewidth 1 dashtype 2 "
      "linecolor {1}\n",
      number_text(x), rgb(Color::grey));
}

}  // namespace depthcost::plotting
