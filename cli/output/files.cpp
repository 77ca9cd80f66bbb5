// Temporary files have random names and must not exist before. So nobody can plant a link at their
// place, and two containers with the same process number do not meet. What is replaced keeps a
// second name until all files are in place, so that a failure can put it back.
#include "cli/output/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <utility>

#include "scenarios/text/input_error.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(std::string_view action, const fs::path& path, std::string_view why) {
  throw InputError({path.string(), 1, 1}, fmt::format("cannot {} ({})", action, why));
}

/// Signals that ask the program to end wait until files are whole or undone.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t signals;
    ::sigemptyset(&signals);
    for (const int signal : kEnding) ::sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, &before_);
  }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  /// Whether one has come. It ends the program at the end of the scope.
  static bool has_come() {
    sigset_t waiting;
    ::sigpending(&waiting);
    return std::any_of(kEnding.begin(), kEnding.end(),
                       [&](int signal) { return ::sigismember(&waiting, signal) == 1; });
  }

 private:
  static constexpr std::array kEnding{SIGINT, SIGTERM, SIGHUP};
  sigset_t before_{};
};

/// Removes the files written so far, and new folders, and puts back what was replaced, unless
/// everything went well.
class Pending {
 public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  ~Pending() {
    std::error_code ignored;
    for (const fs::path& path : placed_) fs::remove(path, ignored);
    for (const Replaced& it : replaced_) {
      fs::rename(it.old, it.target, ignored);
      // Where two names are one file, the first stays: nothing has been renamed over it.
      fs::remove(it.old, ignored);
    }
    for (const fs::path& path : made_) fs::remove(path, ignored);
  }
  void add(const fs::path& path) { made_.insert(made_.begin(), path); }
  void add_placed(const fs::path& target) { placed_.push_back(target); }
  void add_replaced(const fs::path& target, const fs::path& old) {
    replaced_.push_back({target, old});
  }
  void keep() {
    std::error_code ignored;
    for (const Replaced& it : replaced_) fs::remove(it.old, ignored);
    placed_.clear();
    replaced_.clear();
    made_.clear();
  }

 private:
  struct Replaced {
    fs::path target;
    fs::path old;  // its second name
  };
  std::vector<fs::path> made_;    // the last one first: a folder goes after its files
  std::vector<fs::path> placed_;  // where nothing was before
  std::vector<Replaced> replaced_;
};

/// Whether a file lies on the disk when it is closed, or when the system finds time.
enum class Durability : std::uint8_t { synced, when_idle };

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

  /// A pipe without a reader would block for ever, and with one it is no file that keeps anything.
  bool is_file_or_device() const {
    struct stat status = {};
    return ::fstat(descriptor_, &status) == 0 &&
           (S_ISREG(status.st_mode) || S_ISCHR(status.st_mode));
  }

  /// Writes all of `content` and closes. An error names `target`.
  void write(std::string_view content, const fs::path& target, Durability durability) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) cannot("write the file", target, system_reason(errno));
      content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (durability == Durability::synced && ::fsync(descriptor_) != 0 && errno != EINVAL)
      cannot("write the file", target, system_reason(errno));
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

/// Calls `make(path)` with names in the folder until one is not taken. `make` returns whether it
/// made the file, and sets errno.
template <class Make>
std::optional<fs::path> made_under_new_name(const fs::path& folder, const Make& make) {
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    const fs::path path = folder / random_name();
    if (make(path)) return path;
    if (errno != EEXIST) return {};
  }
  return {};
}

/// Writes a file that was not there beside its target, and returns its path.
fs::path write_beside(const std::string& content, const fs::path& target, Pending& pending) {
  const auto path = made_under_new_name(target.parent_path(), [&](const fs::path& name) {
    OpenFile file(name, O_CREAT | O_EXCL | O_NOFOLLOW);
    if (!file.is_open()) return false;
    pending.add(name);
    file.write(content, target, Durability::synced);
    return true;
  });
  if (!path) cannot("write the file", target, system_reason(errno));
  return *path;
}

/// What a link names, through all links, whether it is there or not. The file that a link names is
/// written to, and the link stays.
fs::path behind_links(fs::path path) {
  constexpr int kMostLinks = 40;  // as Linux follows
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!fs::is_symlink(path, error)) return path;
    path = path.parent_path() / fs::read_symlink(path, error);
    if (error) cannot("write the file", path, system_reason(error.value()));
  }
  cannot("write the file", path, "too many links");
}

/// Where the file goes. Throws if it cannot be written there.
fs::path checked_target(const fs::path& named) {
  std::error_code error;
  const fs::path target = behind_links(named);
  if (fs::is_directory(target, error)) cannot("write the file", named, "a directory is there");
  if (fs::exists(target, error) && !fs::is_regular_file(target, error))
    cannot("write the file", named, "not a regular file");
  if (was_read(target.string())) cannot("write the file", named, "it is read, too");
  return target;
}

/// Gives what is there a second name, from which it can be put back.
void keep_old(const fs::path& target, Pending& pending) {
  const auto old = made_under_new_name(target.parent_path(), [&](const fs::path& name) {
    return ::link(target.c_str(), name.c_str()) == 0;
  });
  if (old) return pending.add_replaced(target, *old);
  if (errno == ENOENT) return pending.add_placed(target);
  // A file system without links: the old content is copied.
  std::error_code error;
  const fs::path copy = target.parent_path() / random_name();
  pending.add(copy);
  fs::copy_file(target, copy, error);
  if (error) cannot("write the file", target, system_reason(error.value()));
  pending.add_replaced(target, copy);
}

/// Renames last for a power failure, too, once their folder is on the disk. Not every file system
/// can do that, and the files are whole without it.
void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
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

std::string path_beside(const std::string& path, const std::string& output) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  const fs::path folder = fs::absolute(output, error).parent_path();
  const fs::path beside = fs::proximate(absolute, folder, error);
  return (error ? absolute : beside).string();
}

void write_files(const std::string& directory, const std::vector<NewFile>& files) {
  const fs::path folder(directory);
  const SignalsWait signals;
  Pending pending;
  create_folder(folder, pending);
  std::vector<fs::path> targets;
  for (const NewFile& file : files) targets.push_back(checked_target(folder / file.name));
  if (std::set(targets.begin(), targets.end()).size() < targets.size())
    cannot("write the files", folder, "links lead two of them to one place");
  std::vector<fs::path> written;
  for (std::size_t i = 0; i < files.size() && !SignalsWait::has_come(); ++i)
    written.push_back(write_beside(files[i].content, targets[i], pending));
  if (SignalsWait::has_come()) return;  // undone, and then it ends
  std::error_code error;
  for (std::size_t i = 0; i < files.size(); ++i) {
    keep_old(targets[i], pending);
    fs::rename(written[i], targets[i], error);
    if (error) cannot("write the file", targets[i], system_reason(error.value()));
  }
  sync_folder(folder);
  pending.keep();
}

void write_file(const std::string& path, const std::string& content) {
  const fs::path target(path);
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  write_files(folder.string(), {{target.filename().string(), content}});
}

void append_to_file(const std::string& path, const std::string& content) {
  OpenFile file(path, O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY);
  if (!file.is_open()) cannot("write the file", path, system_reason(errno));
  if (!file.is_file_or_device()) cannot("write the file", path, "not a regular file");
  file.write(content, path, Durability::when_idle);
}

}  // namespace depthcost
