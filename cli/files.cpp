// Temporary names end in the process number, so that two runs do not meet.
#include "cli/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "scenarios/input_error.hpp"
#include "scenarios/input_text.hpp"

namespace depthcost {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(std::string_view action, const fs::path& path, std::string_view why) {
  throw InputError({path.string(), 1, 1}, fmt::format("cannot {} ({})", action, why));
}

/// Removes what was written so far, and the folder if it is new, unless everything went well.
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

void write_one(const fs::path& path, const std::string& content, const fs::path& target,
               std::ios::openmode mode = std::ios::out) {
  errno = 0;
  std::ofstream file(path, mode | std::ios::binary);
  file << content;
  file.close();
  if (!file) cannot("write the file", target, system_reason(errno));
}

/// Creates the folder and those above it; adds those that are new.
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
    written.push_back(folder / fmt::format(".depthcost.{}.{}", getpid(), written.size()));
    pending.add(written.back());
    write_one(written.back(), file.content, target);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    const fs::path named = folder / files[i].name;
    // Through a link, not over it.
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
  write_one(path, content, path, std::ios::app);
}

void write_stdout(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    throw InputError({"stdout", 1, 1}, fmt::format("cannot write ({})", system_reason(errno)));
}

}  // namespace depthcost
