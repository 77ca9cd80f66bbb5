// One thread draws progress; the threads that work only count.
#include "cli/output/console.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "cli/output/stdout.hpp"
#include "reports/formats/harmless_text.hpp"

namespace depthcost {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{2};  // before progress is shown
constexpr std::chrono::milliseconds kBetweenDrawings{200};
constexpr std::size_t kNarrowest = 40;  // narrower terminals break lines themselves

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

/// Writes without fmt::print, which throws if stderr is closed.
void to_stderr(const std::string& text) { std::fputs(text.c_str(), stderr); }

/// A line that may name files and quote them.
std::string line_of(const std::string& text) { return harmless(text) + "\n"; }

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::ceil(seconds));
  return whole < 120 ? fmt::format("{} s", whole) : fmt::format("{} min", (whole + 59) / 60);
}

}  // namespace

TerminalStyle style_of(int descriptor) {
  if (::isatty(descriptor) == 0) return {};
  TerminalStyle style;
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = std::max<std::size_t>(size.ws_col, kNarrowest);
  const char* kind = std::getenv("TERM");
  const bool is_dumb = kind == nullptr || std::string_view(kind) == "dumb";
  if (!is_set("NO_COLOR") && !is_dumb) style.colours = Colours::ansi;
  return style;
}

void show(const std::string& text) {
  write_our_codes(for_terminal(harmless(text), style_of(STDOUT_FILENO)));
}

void show_error(const std::string& text) {
  constexpr std::string_view kError = "error:";
  const std::string line = line_of(text);
  const std::size_t at = line.find(kError);
  if (at == std::string::npos) return to_stderr(line);
  to_stderr(line.substr(0, at) + as_error(kError, style_of(STDERR_FILENO)) +
            line.substr(at + kError.size()));
}

std::string progress_text(const std::string& what, std::size_t done, std::size_t expected,
                          std::chrono::duration<double> elapsed) {
  if (done == 0 || done > expected)
    return fmt::format("{}: {} so far", what, duration_text(elapsed.count()));
  const double share = static_cast<double>(done) / static_cast<double>(expected);
  return fmt::format("{}: {} %, {} left", what, static_cast<int>(100 * share),
                     duration_text(elapsed.count() * (1 - share) / share));
}

Console::~Console() { stop_watching(); }

void Console::warn(const std::string& line) const {
  if (verbosity_ == Verbosity::normal) to_stderr(line_of("warning: " + line));
}

void Console::suggest(const std::string& command) const {
  if (verbosity_ == Verbosity::normal && ::isatty(STDERR_FILENO) != 0)
    to_stderr(line_of("next: " + command));
}

Progress& Console::watch(std::string what) {
  stop_watching();
  what_ = std::move(what);
  progress_.done = 0;
  progress_.expected = 0;
  is_stopped_ = false;
  if (verbosity_ == Verbosity::normal && ::isatty(STDERR_FILENO) != 0)
    thread_ = std::thread([this] { draw_until_stopped(); });
  return progress_;
}

void Console::stop_watching() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  condition_.notify_one();
  thread_.join();
}

void Console::draw_until_stopped() {
  const Clock::time_point start = Clock::now();
  std::unique_lock lock(mutex_);
  const auto is_stopped = [this] { return is_stopped_; };
  if (condition_.wait_for(lock, kPatience, is_stopped)) return;
  do
    to_stderr("\r\x1b[K" +
              progress_text(what_, progress_.done, progress_.expected, Clock::now() - start));
  while (!condition_.wait_for(lock, kBetweenDrawings, is_stopped));
  to_stderr("\r\x1b[K");
}

}  // namespace depthcost
