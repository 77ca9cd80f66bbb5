// The text of an input file: regular, not too large, UTF-8 without control characters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "scenarios/text/input_error.hpp"

namespace depthcost {

/// Largest file that a user writes, in bytes.
inline constexpr std::size_t kMaxFileBytes = 1'000'000;

/// Largest file of measurements in bytes: samples and tables, hundreds of rounds of both backends.
/// [ours]
inline constexpr std::size_t kMaxMeasuredBytes = 64'000'000;

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// The content of a regular file. If it is larger than `max_bytes`, only one byte more. Throws
/// InputError.
std::string load_text(const std::string& path, std::size_t max_bytes = kMaxFileBytes);

/// The last part of a path. Messages and reports show no more, so that they do not depend on where
/// a file is.
std::string file_label(const std::string& path);

/// Whether `path` is a file that load_text() has read, under any name. Such files must not be
/// written over. If a program deletes files that it has read, a new file may be taken for one of
/// them.
bool was_read(const std::string& path);

/// A hash of the contents of all files that load_text() has read so far, whatever their names and
/// the order: the same for two runs that have read the same. FNV-1a, 16 hexadecimal digits.
std::string hash_of_files_read();

/// FNV-1a (Fowler, Noll, Vo) of the bytes.
std::uint64_t fnv1a(std::string_view text);
/// The same in 16 hexadecimal digits.
std::string hash_text(std::string_view text);

/// The text without its byte order mark. Throws InputError if it is too large or no text.
std::string_view checked_text(std::string_view text, const std::string& file,
                              std::size_t max_bytes = kMaxFileBytes);

/// The position just after the text.
Position end_position(std::string_view text, const std::string& file);

}  // namespace depthcost
