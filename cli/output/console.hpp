// What is said beside the answer, on stderr: warnings, next steps, and how long it will take.
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

/// Writes text for people to stdout, laid out for the terminal if it is one; throws as
/// write_stdout().
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
  /// What to run next; only where a terminal shows it.
  void suggest(const std::string& command) const;

  /// To be counted up by what takes long. From two seconds on a terminal shows it, with the time
  /// that remains; the line goes when the console does.
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

/// "sweep: 37 %, 12 s left"; without a share nothing is known of what remains.
std::string progress_text(const std::string& what, std::size_t done, std::size_t expected,
                          std::chrono::duration<double> elapsed);

}  // namespace depthcost
