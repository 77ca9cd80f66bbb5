// A terminal of a given width that a program can write to, and the text that it was given.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>

namespace depthcost::test {

class PseudoTerminal {
 public:
  explicit PseudoTerminal(unsigned short width) : ours_(::posix_openpt(kFlags)) {
    std::array<char, 64> path{};
    if (ours_ < 0 || ::grantpt(ours_) != 0 || ::unlockpt(ours_) != 0 ||
        ::ptsname_r(ours_, path.data(), path.size()) != 0)
      throw std::runtime_error("no pseudo terminal");
    path_ = path.data();
    theirs_ = ::open(path_.c_str(), kFlags);
    const winsize size{.ws_row = 40, .ws_col = width, .ws_xpixel = 0, .ws_ypixel = 0};
    if (::ioctl(theirs_, TIOCSWINSZ, &size) != 0) throw std::runtime_error("no terminal width");
    reader_ = std::thread([this] { read(); });
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;
  ~PseudoTerminal() { text(); }

  /// The path to give a program as stdout or stderr.
  const std::string& path() const { return path_; }

  /// All that was written, after every writer has closed it; with \n for the terminal's \r\n.
  std::string text() {
    if (reader_.joinable()) {
      ::close(theirs_);  // the last: reading ends
      reader_.join();
      ::close(ours_);
    }
    return text_;
  }

 private:
  void read() {
    std::array<char, 4096> buffer;
    for (ssize_t got = 0; (got = ::read(ours_, buffer.data(), buffer.size())) > 0;)
      text_.append(buffer.data(), static_cast<std::size_t>(got));
    for (std::size_t at = 0; (at = text_.find("\r\n", at)) != std::string::npos;)
      text_.erase(at, 1);
  }

  // A program that another thread starts does not hold it open.
  static constexpr int kFlags = O_RDWR | O_NOCTTY | O_CLOEXEC;

  int ours_;
  int theirs_ = -1;
  std::string path_;
  std::string text_;
  std::thread reader_;
};

}  // namespace depthcost::test
