// A gnuplot script: its canvas, colours, labels and legend, and how text and numbers get into it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "reports/formats/numbers.hpp"

namespace depthcost::plotting {

/// `value`, in base units, as an axis counts it: 22e6 bytes are 22 in "MB".
double in_unit(double value, UnitKind kind, std::string_view unit);

/// An opaque colour, 0xRRGGBB.
enum class Color : unsigned {
  // From the palette of Okabe and Ito, which colour-blind readers can tell apart
  // (jfly.uni-koeln.de/color, 2008).
  black = 0x000000,
  orange = 0xE69F00,
  green = 0x009E73,
  blue = 0x0072B2,
  vermilion = 0xD55E00,
  purple = 0xCC79A7,
  // Greys for what stands behind the data.
  dark_grey = 0x595959,
  grey = 0xA6A6A6,
  light_grey = 0xDEDEDE,
  white = 0xFFFFFF,
};

/// A colour as an argument of `linecolor`: "rgb '#0072B2'".
std::string rgb(Color color);

/// `color` mixed with white, for what is less important.
Color pale(Color color);

/// At most `max_length` characters of `text`, on one line: what is no UTF-8, or not allowed in XML,
/// becomes '?', white space a blank.
std::string cleaned_line(std::string_view text, std::size_t max_length);

/// `text` as a gnuplot string in single quotes, inside which gnuplot replaces and executes nothing.
/// A single quote is written twice.
std::string gnuplot_text(std::string_view text);

/// A power of two with binary prefix: "512", "4K", "1M".
std::string binary_label(Count power_of_two);

/// Powers of two from `low` to `high`, both included if they are powers of two.
std::vector<Count> powers_of_two(Count low, Count high);

/// A logarithmic x axis from `low` to `high` with labels at powers of two, at most eleven. Both
/// ends are labelled instead where there are less than two powers.
std::string binary_x_axis(Count low, Count high);

/// A y axis from zero to a little above `highest`, for counts: no labels between whole numbers.
std::string count_y_axis(Count highest);

using DataRow = std::initializer_list<double>;

/// Numbers that plot commands refer to by name().
class DataBlock {
 public:
  explicit DataBlock(std::string_view name);
  /// "$bars".
  const std::string& name() const { return name_; }
  void push_back(DataRow row);
  bool is_empty() const { return rows_.empty(); }
  /// The definition, to stand before the plot command.
  std::string text() const { return name_ + " << EOD\n" + rows_ + "EOD\n"; }

 private:
  std::string name_;
  std::string rows_;
};

/// The edges of the plot as shares of the canvas.
struct Frame {
  double left = 0.09;
  double right = 0.965;
};

/// How a legend shows what it names.
enum class Mark { box, line, dashes, dot, diamond, open_diamond };

struct LegendEntry {
  Mark mark = Mark::line;
  Color color = Color::black;
  std::string text;
};

/// Text around a plot. The unit of y stands above the axis, where it reads level; the legend stands
/// below it, in as many rows as it needs.
struct Titles {
  std::string title;
  std::string y;
  std::string x;
  std::vector<LegendEntry> legend;
};

/// Terminal, grid, borders, titles and legend: the beginning of every script.
std::string opening(const Titles& titles, const Frame& frame);

/// A plot command of several elements.
std::string plot_command(const std::vector<std::string>& elements);

/// A label at (x, y) of the axes; `placement` is anything that `set label` takes after it.
std::string text_at(double x, double y, std::string_view text, std::string_view placement);

/// A dashed black line across the whole plot at y; `text` stands above its end on `side`, "left" or
/// "right".
std::string horizontal_line(double y, std::string_view text, std::string_view side);

/// A dashed vertical line through the whole plot at x.
std::string vertical_line(double x);

}  // namespace depthcost::plotting
