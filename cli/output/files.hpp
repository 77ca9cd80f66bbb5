// Writes files so that none is ever half-written.
#pragma once

#include <string>
#include <vector>

namespace depthcost {

struct NewFile {
  std::string name;  // inside the folder
  std::string content;
};

/// The path as a file beside `output` names it; the absolute path where the system cannot resolve
/// one of them.
std::string path_beside(const std::string& path, const std::string& output);

/// Creates `directory` if needed, checks all targets, writes all files beside them, then renames
/// them. Throws InputError if a file cannot be written or was read as input. Then no target has
/// changed, and nothing new is there. A signal that ends the program waits until either holds.
void write_files(const std::string& directory, const std::vector<NewFile>& files);

/// Writes one file, as write_files() does.
void write_file(const std::string& path, const std::string& content);

/// Appends to a file, and creates it if needed. Throws InputError.
void append_to_file(const std::string& path, const std::string& content);

}  // namespace depthcost
