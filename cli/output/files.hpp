// Writing files so that nothing is ever half-written.
#pragma once

#include <string>
#include <vector>

namespace depthcost {

struct NewFile {
  std::string name;  // inside the folder
  std::string content;
};

/// Creates `directory` if needed, writes all files beside their targets, then renames them. Throws
/// InputError if anything cannot be written, or was read as input; then no target has changed.
void write_files(const std::string& directory, const std::vector<NewFile>& files);

/// Writes one file, as write_files() does.
void write_file(const std::string& path, const std::string& content);

/// Appends to a file, which is created if it is not there. Throws InputError.
void append_to_file(const std::string& path, const std::string& content);

/// Writes to stdout and says so if the reader is gone or the disk is full.
void write_stdout(const std::string& text);

}  // namespace depthcost
