// Workflow commands that GitHub shows beside a file's lines.
#pragma once

#include <span>
#include <string>

namespace depthcost {

/// GitHub silently drops annotations beyond ten of a kind in one step: actions/runner
/// src/Runner.Worker/ExecutionContext.cs, _maxCountPerIssueType.
inline constexpr std::size_t kMostAnnotations = 10;

/// GitHub cuts a longer message: actions/runner src/Runner.Worker/ExecutionContext.cs,
/// _maxIssueMessageLength. The checks API would take 64 KB.
inline constexpr std::size_t kMostMessageBytes = 4096;

/// GitHub takes no longer title: the REST API of check runs, annotations[].title.
inline constexpr std::size_t kMostTitleBytes = 255;

enum class AnnotationLevel { error, warning };

struct Annotation {
  AnnotationLevel level = AnnotationLevel::error;
  std::string file;
  int line = 1;
  std::string title;
  std::string message;
};

/// One line for each of the first ten errors and the first ten warnings:
/// "::error file=F,line=L,title=T::MESSAGE". A text that is too long ends with "...".
std::string to_annotations(std::span<const Annotation> annotations);

}  // namespace depthcost
