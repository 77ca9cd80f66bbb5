// Messages on stderr: warnings, next steps, and the time that remains.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "model/base/progress.hpp"
#include "reports/formats/terminal_text.hpp"

namespace depthcost {

/// `quiet` shows errors only.
enum class Verbosity { normal, quiet };

/// The style for the terminal of a descriptor, or the plainest style if it is none. No colours if
/// NO_COLOR is set (https://no-color.org) or the terminal is dumb.
TerminalStyle style_of(int descriptor);

/// Writes text for people to stdout, laid out for a terminal if stdout is one. Throws as
/// write_stdout() does.
void show(const std::string& text);

/// Writes one line to stderr, "FILE:1:1: error: ...". Ignores a failed write.
void show_error(const std::string& text);

class Console {
 public:
  explicit Console(Verbosity verbosity) : verbosity_(verbosity) {}
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  /// One line, "warning: ...".
  void warn(const std::string& line) const;
  /// Names the command to run next. Shown on a terminal only.
  void suggest(const std::string& command) const;

  /// Counts what is done of a long task. After two seconds a terminal shows the count and the time
  /// that remains, until stop_watching() or the next watch().
  Progress& watch(std::string what);
  /// Removes the line of progress.
  void stop_watching();

 private:
  void draw_until_stopped();

  Verbosity verbosity_;
  std::string what_;
  Progress progress_;
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable condition_;
  bool is_stopped_ = false;  // guarded by mutex_
};

/// "sweep: 37 %, 12 s left", or "sweep: 12 s so far" if the share is not known.
std::string progress_text(const std::string& what, std::size_t done, std::size_t expected,
                          std::chrono::duration<double> elapsed);

}  // namespace depthcost
