// Messages beside the answer, on stderr: warnings, next steps, and the time that remains.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "model/base/progress.hpp"
#include "reports/formats/terminal_text.hpp"

namespace depthcost {

/// `quiet`: errors alone.
enum class Verbosity { normal, quiet };

/// How a terminal behind the descriptor shows text; the plainest style where there is none, and no
/// colours where NO_COLOR is set (https://no-color.org) or the terminal is dumb.
TerminalStyle style_of(int descriptor);

/// Writes text for people to stdout, laid out for a terminal if stdout is one. Throws as
/// write_stdout() does.
void show(const std::string& text);

/// One line on stderr, "FILE:1:1: error: ..."; nothing is said where it cannot be written.
void show_error(const std::string& line);

class Console {
 public:
  explicit Console(Verbosity verbosity) : verbosity_(verbosity) {}
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;
  ~Console();

  /// One line, "warning: ...".
  void warn(const std::string& line) const;
  /// What to run next. Shown on a terminal only.
  void suggest(const std::string& command) const;

  /// Counts what is done of something that takes long. After two seconds a terminal shows it, with
  /// the time that remains, until the console is destroyed.
  Progress& watch(std::string what);
  /// Takes the line away.
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

/// "sweep: 37 %, 12 s left"; "sweep: 12 s so far" where the share is not known.
std::string progress_text(const std::string& what, std::size_t done, std::size_t expected,
                          std::chrono::duration<double> elapsed);

}  // namespace depthcost
