// Workflow commands that GitHub shows beside a file's lines.
#pragma once

#include <span>
#include <string>

namespace depthcost {

/// GitHub drops what exceeds ten of a kind in one step, in silence: actions/runner
/// src/Runner.Worker/ExecutionContext.cs, _maxCountPerIssueType.
inline constexpr std::size_t kMostAnnotations = 10;

/// It cuts a longer message: as above, _maxIssueMessageLength. The checks API would take 64 KB.
inline constexpr std::size_t kMostMessageBytes = 4096;

/// And titles: the REST API of check runs, annotations[].title.
inline constexpr std::size_t kMostTitleBytes = 255;

enum class AnnotationLevel { error, warning };

struct Annotation {
  AnnotationLevel level = AnnotationLevel::error;
  std::string file;
  int line = 1;
  std::string title;
  std::string message;
};

/// One line each: "::error file=F,line=L,title=T::MESSAGE". The first ten of each level, in order;
/// what is too long ends with "...".
std::string to_annotations(std::span<const Annotation> annotations);

}  // namespace depthcost
