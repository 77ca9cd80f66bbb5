// Writes files so that none is ever half-written.
#pragma once

#include <string>
#include <vector>

namespace depthcost {

struct NewFile {
  std::string name;  // inside the folder
  std::string content;
};

/// Creates `directory` if needed, writes all files beside their targets, then renames them. Throws
/// InputError if a file cannot be written or was read as input. Then no target has changed.
void write_files(const std::string& directory, const std::vector<NewFile>& files);

/// Writes one file, as write_files() does.
void write_file(const std::string& path, const std::string& content);

/// Appends to a file, and creates it if needed. Throws InputError.
void append_to_file(const std::string& path, const std::string& content);

/// Writes to stdout. Throws if the reader is gone or the disk is full.
void write_stdout(const std::string& text);

}  // namespace depthcost
