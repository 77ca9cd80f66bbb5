// A child process with three streams. See gnuplot.hpp.
#include "reports/formats/gnuplot.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace depthcost {
namespace {

using Clock = std::chrono::steady_clock;

/// Owns a file descriptor; -1 is none, which poll() skips.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() { close(); }

  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void close() {
    if (is_open()) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

/// The two ends of one stream; no other child inherits them.
struct Channel {
  Descriptor ours;
  Descriptor theirs;
};

/// A socket and not a pipe: send() can be told not to raise SIGPIPE when the reader is gone, and
/// not to wait.
std::optional<Channel> channel_to_child() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) return {};
  return Channel{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

std::optional<Channel> channel_from_child() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return Channel{Descriptor{ends[0]}, Descriptor{ends[1]}};
}

/// Owns a child process: whatever happens, it ends and is waited for.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ < 0) return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
  }

  /// The status that waitpid() gives; none if it has not ended by `deadline`, or is not to be had.
  std::optional<int> wait_until(Clock::time_point deadline) {
    while (true) {
      int status = 0;
      const pid_t ended = ::waitpid(pid_, &status, WNOHANG);
      if (ended == pid_) {
        pid_ = -1;
        return status;
      }
      if (ended < 0 && errno != EINTR) return {};
      if (Clock::now() >= deadline) return {};
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }

 private:
  pid_t pid_;
};

/// Ours, but with the one locale that every machine has: it decides how numbers are written.
std::vector<std::string> child_environment() {
  std::vector<std::string> variables{"LC_ALL=C"};
  const auto is_ours = [](std::string_view variable) {
    return variable.starts_with("LC_ALL=") || variable.starts_with("GNUTERM=");
  };
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
    if (!is_ours(*variable)) variables.emplace_back(*variable);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Our ends of the three streams of a running child.
struct Streams {
  Descriptor script;
  Descriptor output;
  Descriptor errors;
};

/// Makes the stream a standard one of this process.
bool place(const Descriptor& stream, int number) {
  // A copy is inherited; the stream itself is not, even where it has that number already.
  if (stream.number() == number) return ::fcntl(number, F_SETFD, 0) == 0;
  return ::dup2(stream.number(), number) == number;
}

/// In the child: becomes gnuplot, or says why not and ends. It ends when we end, by a signal too: a
/// gnuplot that hangs would stay for ever. posix_spawn() cannot ask for that.
[[noreturn]] void become_gnuplot(const std::array<const Descriptor*, 3>& streams,
                                 const Descriptor& reason, pid_t parent,
                                 const std::vector<char*>& arguments,
                                 const std::vector<char*>& environment) {
  constexpr int kNotFound = 127;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(kNotFound);  // has ended before we asked
  // In this order no copy overwrites an end that is still to be copied, even where we were started
  // with standard streams closed: the ends of the later channels are above 2.
  bool is_placed = true;
  for (int number = STDIN_FILENO; number <= STDERR_FILENO; ++number)
    is_placed = is_placed && place(*streams[static_cast<std::size_t>(number)], number);
  if (is_placed) ::execvpe("gnuplot", arguments.data(), environment.data());
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(reason.number(), &error, sizeof error);
  ::_exit(kNotFound);
}

/// What the child says before it is gnuplot; 0 if it has become that.
int reason_of(const Descriptor& pipe) {
  int error = 0;
  while (::read(pipe.number(), &error, sizeof error) < 0 && errno == EINTR) continue;
  return error;
}

/// 0 or what errno says.
int spawn_gnuplot(Streams& streams, pid_t& pid) {
  auto script = channel_to_child();
  auto output = channel_from_child();
  auto errors = channel_from_child();
  auto reason = channel_from_child();
  if (!script || !output || !errors || !reason) return errno;
  std::vector<std::string> words{"gnuplot", "-d"};  // -d: without the user's settings
  std::vector<std::string> variables = child_environment();
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  const pid_t parent = ::getpid();
  pid = ::fork();
  if (pid == 0)
    become_gnuplot({&script->theirs, &output->theirs, &errors->theirs}, reason->theirs, parent,
                   arguments, environment);
  if (pid < 0) return errno;
  reason->theirs.close();
  const int error = reason_of(reason->ours);
  if (error != 0) {
    const Child failed_child(pid);  // waited for
    return error;
  }
  streams = {std::move(script->ours), std::move(output->ours), std::move(errors->ours)};
  return 0;
}

void send_some(Descriptor& socket, std::string_view& rest) {
  const ssize_t sent =
      ::send(socket.number(), rest.data(), rest.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  if (sent < 0 && (errno == EINTR || errno == EAGAIN)) return;
  rest.remove_prefix(sent < 0 ? rest.size() : static_cast<std::size_t>(sent));
  if (rest.empty()) socket.close();
}

void receive_some(Descriptor& pipe, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t received = ::read(pipe.number(), buffer.data(), buffer.size());
  if (received < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (received <= 0) return pipe.close();
  text.append(buffer.data(), static_cast<std::size_t>(received));
}

struct Texts {
  std::string output;
  std::string errors;
};

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::clamp<decltype(left)>(left, 0, 1'000'000));
}

/// Writes the script and reads both outputs as they come, so that neither side waits for the other.
Texts converse(Streams& streams, std::string_view script, Clock::time_point deadline) {
  Texts texts;
  if (script.empty()) streams.script.close();
  while (streams.output.is_open() || streams.errors.is_open()) {
    const int left = milliseconds_until(deadline);
    std::array<pollfd, 3> polled{pollfd{streams.script.number(), POLLOUT, 0},
                                 pollfd{streams.output.number(), POLLIN, 0},
                                 pollfd{streams.errors.number(), POLLIN, 0}};
    const int num_ready = ::poll(polled.data(), polled.size(), left);
    if (num_ready < 0 && errno == EINTR) continue;
    if (num_ready <= 0) break;
    if (polled[0].revents != 0) send_some(streams.script, script);
    if (polled[1].revents != 0) receive_some(streams.output, texts.output);
    if (polled[2].revents != 0) receive_some(streams.errors, texts.errors);
    if (Clock::now() >= deadline) break;
  }
  return texts;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

void erase_all(std::string& text, std::string_view begin, std::string_view end) {
  for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at)) {
    const std::size_t behind = text.find(end, at);
    if (behind == std::string::npos) return;
    text.erase(at, behind + end.size() - at);
  }
}

/// Without the program's name and version. gnuplot passes "&#" and "]]>" of a label on as they are,
/// which would let a label write character references, or XML that no parser takes.
std::string tidied(std::string svg) {
  erase_all(svg, "<!--", "-->\n");
  erase_all(svg, "<title>Gnuplot</title>", "\n");
  erase_all(svg, "<desc>Produced by GNUPLOT", "\n");
  replace_all(svg, "&#", "&amp;#");
  replace_all(svg, "]]>", "]]&gt;");
  return svg;
}

std::string trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return std::string{line.substr(first, line.find_last_not_of(" \t\r") - first + 1)};
}

/// The first line with a message, "line 0: undefined variable: x"; else the first that is not
/// blank. gnuplot prints the command and warnings before it.
std::string first_message(std::string_view errors) {
  std::string first;
  while (!errors.empty()) {
    const std::size_t end = std::min(errors.find('\n'), errors.size());
    const std::string line = trimmed(errors.substr(0, end));
    errors.remove_prefix(std::min(end + 1, errors.size()));
    if (line.starts_with("line ") && line.find("warning:") == std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

Drawing failed(std::string error) { return {DrawingStatus::failed, {}, std::move(error)}; }

/// `status` as waitpid() gives it.
Drawing judged(Texts texts, int status) {
  if (WIFSIGNALED(status))
    return failed("gnuplot was ended by signal " + std::to_string(WTERMSIG(status)));
  if (status != 0) {
    const std::string message = first_message(texts.errors);
    return failed(message.empty() ? "gnuplot failed without a message" : message);
  }
  if (texts.output.find("</svg>") == std::string::npos) return failed("gnuplot drew no SVG");
  return {DrawingStatus::drawn, tidied(std::move(texts.output)), {}};
}

}  // namespace

Drawing draw_svg(const std::string& script, std::chrono::milliseconds time_limit) {
  const Clock::time_point deadline = Clock::now() + time_limit;
  Streams streams;
  pid_t pid = -1;
  const int error = spawn_gnuplot(streams, pid);
  if (error == ENOENT || error == EACCES || error == ENOTDIR)
    return {DrawingStatus::missing, {}, {}};
  if (error != 0) return failed(std::string{"gnuplot does not start: "} + std::strerror(error));
  Child child{pid};
  Texts texts = converse(streams, script, deadline);
  const std::optional<int> status = child.wait_until(deadline);
  if (!status)
    return failed("gnuplot was not done within " + std::to_string(time_limit.count()) + " ms");
  return judged(std::move(texts), *status);
}

}  // namespace depthcost
