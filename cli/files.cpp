// Temporary names end in the process number, so that two runs do not meet.
#include "cli/files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "scenarios/input_error.hpp"

namespace depthcost {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(const std::string& verb, const fs::path& path, const std::string& why) {
  throw InputError({path.string(), 1, 1}, fmt::format("cannot {} '{}' ({})", verb,
                                                      printable(path.filename().string()), why));
}

/// Removes what was written so far unless everything went well.
class Pending {
 public:
  ~Pending() {
    std::error_code ignored;
    for (const fs::path& path : paths_) fs::remove(path, ignored);
  }
  void add(const fs::path& path) { paths_.push_back(path); }
  void keep() { paths_.clear(); }

 private:
  std::vector<fs::path> paths_;
};

void write_one(const fs::path& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.close();
  if (!file) cannot("write", path, std::strerror(errno));
}

}  // namespace

void write_files(const std::string& directory, const std::vector<NewFile>& files) {
  const fs::path folder(directory);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) cannot("create", folder, error.message());
  Pending pending;
  std::vector<fs::path> written;
  for (const NewFile& file : files) {
    const fs::path target = folder / file.name;
    if (fs::is_directory(target)) cannot("write", target, "a directory stands there");
    written.push_back(folder / fmt::format(".{}.{}", file.name, getpid()));
    pending.add(written.back());
    write_one(written.back(), file.content);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    fs::rename(written[i], folder / files[i].name, error);
    if (error) cannot("write", folder / files[i].name, error.message());
  }
  pending.keep();
}

void write_stdout(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0)
    throw InputError({"stdout", 1, 1}, fmt::format("cannot write ({})", std::strerror(errno)));
}

}  // namespace depthcost
