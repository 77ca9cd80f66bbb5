// Reads a file and checks its characters before any parser sees it.
#include "scenarios/text/input_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

namespace depthcost {
namespace {

bool is_control_byte(char c) {
  const bool is_white_space = c == '\t' || c == '\n' || c == '\r';
  return (static_cast<unsigned char>(c) < 0x20 && !is_white_space) || c == 0x7F;
}

/// Checked here, so that every format of file gives the same message for the same byte.
void check_characters(std::string_view text, const std::string& file) {
  for (std::size_t index = 0; index < text.size();) {
    const std::size_t length = leading_utf8_length(text.substr(index));
    const std::string_view byte = text.substr(index, 1);
    if (length == 0)
      throw InputError(end_position(text.substr(0, index), file),
                       fmt::format("invalid byte '{}' (not UTF-8)", printable(byte)));
    if (is_control_byte(text[index]))
      throw InputError(end_position(text.substr(0, index), file),
                       fmt::format("invalid byte '{}' (a control character)", printable(byte)));
    index += length;
  }
}

/// Closes the file when it goes out of scope.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void fail_to_read(const std::string& path, std::string_view reason) {
  throw InputError({path, 1, 1}, fmt::format("cannot read the file ({})", reason));
}

[[noreturn]] void fail_to_read(const std::string& path, int error_number) {
  fail_to_read(path, system_reason(error_number));
}

/// Device and inode identify a file under all of its names.
using FileIdentity = std::pair<dev_t, ino_t>;

struct RegularFile {
  FileIdentity identity;
  std::size_t size = 0;  // when it was opened; it may have grown since
};

RegularFile regular_file(const FileDescriptor& file, const std::string& path) {
  struct stat status = {};
  if (::fstat(file.number(), &status) != 0) fail_to_read(path, errno);
  if (S_ISDIR(status.st_mode)) fail_to_read(path, "a directory");
  if (!S_ISREG(status.st_mode)) fail_to_read(path, "not a regular file");
  return {{status.st_dev, status.st_ino}, static_cast<std::size_t>(status.st_size)};
}

/// The files that this process has read, from several threads, and the hashes of their contents.
class ReadFiles {
 public:
  void add(FileIdentity file) {
    const std::scoped_lock lock(mutex_);
    files_.insert(file);
  }
  void add_content(std::string_view text) {
    const std::uint64_t hash = fnv1a(text);
    const std::scoped_lock lock(mutex_);
    contents_.insert(hash);
  }
  std::set<std::uint64_t> contents() {
    const std::scoped_lock lock(mutex_);
    return contents_;
  }
  bool has(FileIdentity file) {
    const std::scoped_lock lock(mutex_);
    return files_.contains(file);
  }

 private:
  std::mutex mutex_;
  std::set<FileIdentity> files_;
  std::set<std::uint64_t> contents_;
};

ReadFiles& read_files() {
  static ReadFiles files;
  return files;
}

/// At most one byte above the limit, which is enough to see that the file is too large.
std::string read_start(const FileDescriptor& file, const std::string& path, std::size_t size,
                       std::size_t max_bytes) {
  std::string text(std::min(max_bytes, size) + 1, '\0');
  std::size_t num_read = 0;
  while (num_read <= max_bytes) {
    if (num_read == text.size()) text.resize(std::min(2 * text.size(), max_bytes + 1));
    const ssize_t result = ::read(file.number(), text.data() + num_read, text.size() - num_read);
    if (result < 0 && errno == EINTR) continue;
    if (result < 0) fail_to_read(path, errno);
    if (result == 0) break;
    num_read += static_cast<std::size_t>(result);
  }
  text.resize(num_read);
  return text;
}

}  // namespace

Position end_position(std::string_view text, const std::string& file) {
  const std::size_t last_break = text.rfind('\n');
  const std::size_t line_start = last_break == std::string_view::npos ? 0 : last_break + 1;
  const auto num_breaks = std::count(text.begin(), text.end(), '\n');
  return {file, static_cast<int>(num_breaks) + 1, static_cast<int>(text.size() - line_start) + 1};
}

std::string_view checked_text(std::string_view text, const std::string& file,
                              std::size_t max_bytes) {
  if (text.size() > max_bytes)
    throw InputError({file, 1, 1},
                     fmt::format("file too large (at most {} MB)", max_bytes / 1'000'000));
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  check_characters(text, file);
  return text;
}

std::string load_text(const std::string& path, std::size_t max_bytes) {
  // Opened without blocking, since a FIFO without a writer would block for ever.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  if (file.number() < 0) fail_to_read(path, errno);
  const RegularFile regular = regular_file(file, path);
  read_files().add(regular.identity);
  std::string text = read_start(file, path, regular.size, max_bytes);
  read_files().add_content(text);
  return text;
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  return hash;
}

std::string hash_text(std::string_view text) { return fmt::format("{:016x}", fnv1a(text)); }

std::string hash_of_files_read() {
  std::string hashes;
  for (const std::uint64_t hash : read_files().contents()) hashes += fmt::format("{:016x}", hash);
  return hash_text(hashes);
}

bool was_read(const std::string& path) {
  struct stat status = {};
  return ::stat(path.c_str(), &status) == 0 && read_files().has({status.st_dev, status.st_ino});
}

std::string file_label(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return printable(name, 4 * name.size());
}

}  // namespace depthcost
