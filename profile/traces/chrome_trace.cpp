// Events one after the other, so that a trace of gigabytes needs no more memory than its kernels.
#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <nlohmann/json.hpp>

#include "profile/traces/trace_builder.hpp"
#include "scenarios/text/input_error.hpp"
#include "scenarios/text/json_document.hpp"

namespace depthcost {
namespace {

constexpr int kMicrosecondDigits = 3;  // of the PyTorch profiler's times, in nanoseconds

/// What an object of the list of events says.
struct Event {
  std::string category;
  std::string phase;
  std::string name;      // of an event of the PyTorch profiler
  std::string row_name;  // of a row of nsys
  TracedLaunch launch;
};

/// The place and what is wrong there, of nlohmann's message.
InputError malformed(const std::string& file, std::string_view what) {
  const auto number_behind = [&](std::string_view mark) {
    const std::size_t at = what.find(mark);
    return at == std::string_view::npos
               ? 1
               // The parser's column of a line's end is 0 of the next line.
               : std::max(1, std::atoi(std::string(what.substr(at + mark.size())).c_str()));
  };
  const Position position{file, number_behind(" at line "), number_behind(", column ")};
  return {position, fmt::format("malformed JSON ({})", printable(json_problem(what), 120))};
}

/// Takes the events of the parser. Events of the trace are the objects in the list that is the
/// whole document or its member "traceEvents".
class TraceEvents {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  explicit TraceEvents(const std::string& file) : file_(file), builder_(file) {}

  KernelTrace take() { return builder_.take(); }

  bool null() { return true; }
  bool boolean(bool) { return true; }
  bool number_integer(number_integer_t value) { return scalar(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) { return scalar(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) { return scalar(text); }
  bool string(string_t& text) { return scalar(text); }
  bool binary(binary_t&) { return false; }  // JSON has none

  bool start_object(std::size_t) {
    ++depth_;
    if (events_depth_ > 0 && depth_ == events_depth_ + 1) event_ = {};
    return true;
  }
  bool end_object() {
    if (events_depth_ > 0 && depth_ == events_depth_ + 1) finish();
    --depth_;
    return true;
  }
  bool start_array(std::size_t) {
    ++depth_;
    const bool is_list = depth_ == 1 || (depth_ == 2 && key_ == "traceEvents");
    if (events_depth_ == 0 && is_list) events_depth_ = depth_;
    return true;
  }
  bool end_array() {
    if (depth_ == events_depth_) events_depth_ = 0;
    --depth_;
    return true;
  }
  bool key(string_t& text) {
    key_ = text;
    if (depth_ == events_depth_ + 1) is_in_args_ = text == "args";
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& error) {
    const std::string_view what = error.what();
    if (what.find("; expected end of input") != std::string_view::npos)
      throw InputError({file_, 1, 1},
                       "several JSON values (of nsys export? write a database: nsys export --type "
                       "sqlite)");
    throw malformed(file_, what);
  }

 private:
  bool scalar(const std::string& text) {
    if (events_depth_ == 0) return true;
    if (depth_ == events_depth_ + 1) take_member(text);
    if (depth_ == events_depth_ + 2 && is_in_args_ && key_ == "device") event_.launch.device = text;
    return true;
  }

  void take_member(const std::string& text) {
    if (key_ == "cat") event_.category = text;
    if (key_ == "ph") event_.phase = text;
    if (key_ == "name") event_.name = text;
    if (key_ == "ts") event_.launch.start = nanoseconds(text, kMicrosecondDigits);
    if (key_ == "dur") event_.launch.duration = time_or_fault(text, kMicrosecondDigits);
    if (key_ == "Name") event_.row_name = text;
    if (key_ == "Device") event_.launch.device = text;
    if (key_ == "Start (ns)") event_.launch.start = nanoseconds(text, 0);
    if (key_ == "Duration (ns)") event_.launch.duration = time_or_fault(text, 0);
  }

  /// A text that is no time must not look like one that is absent.
  static std::int64_t time_or_fault(const std::string& text, int digits) {
    return nanoseconds(text, digits).value_or(-1);
  }

  void finish() {
    const bool is_kernel = event_.category == "kernel" || event_.category == "Kernel";
    const bool is_row = !event_.row_name.empty() && !event_.row_name.starts_with('[');
    if (event_.name.starts_with("ProfilerStep#")) builder_.add_step(event_.name);
    if (!is_kernel && !is_row) return;
    event_.launch.name = is_row ? event_.row_name : event_.name;
    builder_.add(event_.launch);
  }

  std::string file_;
  TraceBuilder builder_;
  Event event_;
  std::string key_;          // the last one read
  bool is_in_args_ = false;  // the last member of an event that was begun is "args"
  int depth_ = 0;            // lists and objects that are open
  int events_depth_ = 0;     // of the list of events; 0 outside of it
};

}  // namespace

KernelTrace read_json_trace(std::streambuf& content, const std::string& file) {
  std::istream stream(&content);
  TraceEvents events(file);
  nlohmann::json::sax_parse(stream, &events);
  return events.take();
}

}  // namespace depthcost
