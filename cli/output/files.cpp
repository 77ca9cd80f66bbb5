// Temporary files have random names and must not exist before. So nobody can plant a link at their
// place, and two containers with the same process number do not meet.
#include "cli/output/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <utility>

#include "scenarios/text/input_error.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(std::string_view action, const fs::path& path, std::string_view why) {
  throw InputError({path.string(), 1, 1}, fmt::format("cannot {} ({})", action, why));
}

/// Removes the files written so far, and new folders, unless everything went well.
class Pending {
 public:
  ~Pending() {
    std::error_code ignored;
    for (const fs::path& path : paths_) fs::remove(path, ignored);
  }
  void add(const fs::path& path) { paths_.insert(paths_.begin(), path); }
  void keep() { paths_.clear(); }

 private:
  std::vector<fs::path> paths_;  // the last one first: a folder goes after its files
};

/// An open file, closed at the end of its scope.
class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags)
      : descriptor_(::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, kReadableByAll)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  bool is_open() const { return descriptor_ >= 0; }

  /// Writes all of `content`. An error names `target`.
  void write(std::string_view content, const fs::path& target) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) cannot("write the file", target, system_reason(errno));
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::close(std::exchange(descriptor_, -1)) != 0)
      cannot("write the file", target, system_reason(errno));
  }

 private:
  static constexpr mode_t kReadableByAll = 0666;  // less the umask, as any new file
  int descriptor_;
};

/// ".depthcost.0123456789abcdef"
std::string random_name() {
  std::random_device random;
  return fmt::format(".depthcost.{:08x}{:08x}", random(), random());
}

/// Writes a file that was not there, and returns its path.
fs::path write_beside(const fs::path& folder, const std::string& content, const fs::path& target,
                      Pending& pending) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    const fs::path path = folder / random_name();
    OpenFile file(path, O_CREAT | O_EXCL | O_NOFOLLOW);
    if (!file.is_open() && errno == EEXIST) continue;
    if (!file.is_open()) cannot("write the file", target, system_reason(errno));
    pending.add(path);
    file.write(content, target);
    return path;
  }
  cannot("write the file", target, "every temporary name is taken");
}

/// Creates the folder and those above it, and remembers the new ones.
void create_folder(const fs::path& folder, Pending& pending) {
  std::error_code error;
  fs::path above;
  for (const fs::path& part : folder) {
    above /= part;
    const bool is_new = fs::create_directory(above, error);
    const bool is_taken = error == std::errc::file_exists || error == std::errc::not_a_directory;
    if (error)
      cannot("create the folder", above,
             is_taken ? "a file is there" : system_reason(error.value()));
    if (is_new) pending.add(above);
  }
}

}  // namespace

void write_files(const std::string& directory, const std::vector<NewFile>& files) {
  const fs::path folder(directory);
  std::error_code error;
  Pending pending;
  create_folder(folder, pending);
  std::vector<fs::path> written;
  for (const NewFile& file : files) {
    const fs::path target = folder / file.name;
    if (fs::is_directory(target, error)) cannot("write the file", target, "a directory is there");
    if (fs::exists(target, error) && !fs::is_regular_file(target, error))
      cannot("write the file", target, "not a regular file");
    if (was_read(target.string())) cannot("write the file", target, "it is read, too");
    written.push_back(write_beside(folder, file.content, target, pending));
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path named = folder / files[i].name;
    // Writes to the file that a link names, instead of replacing the link.
    const fs::path target =
        fs::is_symlink(named, error) ? folder / fs::read_symlink(named, error) : named;
    fs::rename(written[i], target, error);
    if (error) cannot("write the file", target, system_reason(error.value()));
  }
  pending.keep();
}

void write_file(const std::string& path, const std::string& content) {
  const fs::path target(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  write_files(folder.string(), {{target.filename().string(), content}});
}

void append_to_file(const std::string& path, const std::string& content) {
  OpenFile file(path, O_CREAT | O_APPEND);
  if (!file.is_open()) cannot("write the file", path, system_reason(errno));
  file.write(content, path);
}

void write_stdout(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  // Who reads no further, as `| head` does, is no error: the shell's code for a closed pipe.
  constexpr int kClosedPipe = 128 + SIGPIPE;
  if (errno == EPIPE) std::_Exit(kClosedPipe);
  throw InputError({"stdout", 1, 1}, fmt::format("cannot write ({})", system_reason(errno)));
}

}  // namespace depthcost
