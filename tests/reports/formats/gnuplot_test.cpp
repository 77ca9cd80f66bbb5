// Runs gnuplot: what it draws, and every way in which it fails.
#include "reports/formats/gnuplot.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace depthcost::gnuplot_test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSvg = "set terminal svg noenhanced\n";

/// Sets an environment variable for one test.
class Variable {
 public:
  Variable(std::string name, const std::string& value) : name_(std::move(name)) {
    if (const char* before = ::getenv(name_.c_str())) before_ = before;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() {
    if (before_)
      ::setenv(name_.c_str(), before_->c_str(), 1);
    else
      ::unsetenv(name_.c_str());
  }

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// An empty folder for one test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "depthcost_gnuplot_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// A shell script that is found in place of gnuplot.
class FakeGnuplot {
 public:
  explicit FakeGnuplot(std::string_view commands) : path_("PATH", folder_.path().string()) {
    const fs::path program = folder_.path() / "gnuplot";
    std::ofstream(program) << "#!/bin/sh\n" << commands << '\n';
    fs::permissions(program, fs::perms::owner_all);
  }

 private:
  Folder folder_;
  Variable path_;
};

std::string long_script() {
  std::string script{kSvg};
  script += "$data << EOD\n";
  for (int i = 0; i < 200'000; ++i)
    script += std::to_string(i) + ' ' + std::to_string(i % 7) + '\n';
  return script + "EOD\nplot $data with lines\n";
}

bool has_children() { return ::waitpid(-1, nullptr, WNOHANG) >= 0 || errno != ECHILD; }

TEST(Gnuplot, DrawsAnSvg) {
  const Drawing drawing = draw_svg(std::string{kSvg} + "set title 'Bytes & <time>'\nplot x\n");
  ASSERT_EQ(drawing.status, DrawingStatus::drawn) << drawing.error;
  EXPECT_TRUE(drawing.svg.starts_with("<?xml")) << drawing.svg.substr(0, 80);
  EXPECT_TRUE(drawing.svg.ends_with("</svg>\n\n") || drawing.svg.ends_with("</svg>\n"));
  EXPECT_NE(drawing.svg.find("Bytes &amp; &lt;time>"), std::string::npos);
  EXPECT_FALSE(has_children());
}

TEST(Gnuplot, DrawsTheSameBytesAgainWithoutItsVersion) {
  const std::string script = std::string{kSvg} + "plot sin(x), cos(x)\n";
  const std::string svg = draw_svg(script).svg;
  EXPECT_EQ(svg, draw_svg(script).svg);
  for (const std::string_view trace : {"GNUPLOT", "Gnuplot", "patchlevel", "<!--", "<desc>"})
    EXPECT_EQ(svg.find(trace), std::string::npos) << trace;
}

TEST(Gnuplot, LabelsWriteNeitherReferencesNorEndsOfSections) {
  const Drawing drawing = draw_svg(std::string{kSvg} + "set title 'a &#x1; b ]]> c'\nplot x\n");
  EXPECT_NE(drawing.svg.find("a &amp;#x1; b ]]&gt; c"), std::string::npos);
}

TEST(Gnuplot, DoesNotReadTheUsersSettings) {
  const std::string script = std::string{kSvg} + "plot x\n";
  const std::string expected = draw_svg(script).svg;
  const Folder home;
  std::ofstream(home.path() / ".gnuplot") << "set title 'intruder'\n";
  const Variable variable{"HOME", home.path().string()};
  EXPECT_EQ(draw_svg(script).svg, expected);
}

TEST(Gnuplot, IsMissingWhereNoFolderOfPathHasIt) {
  const Folder empty;
  const Variable path{"PATH", empty.path().string()};
  const Drawing drawing = draw_svg(std::string{kSvg} + "plot x\n");
  EXPECT_EQ(drawing.status, DrawingStatus::missing);
  EXPECT_EQ(drawing.svg, "");
  EXPECT_FALSE(has_children());
}

TEST(Gnuplot, FailsWithItsMessage) {
  const Drawing drawing = draw_svg("set encoding utf8\nplot no_such_thing\n");
  EXPECT_EQ(drawing.status, DrawingStatus::failed);
  EXPECT_EQ(drawing.error, "line 0: undefined variable: no_such_thing");
  EXPECT_EQ(drawing.svg, "");
}

TEST(Gnuplot, FailsWhereNothingIsDrawn) {
  EXPECT_EQ(draw_svg("").error, "gnuplot drew no SVG");
  EXPECT_EQ(draw_svg("set title 'x'\n").error, "gnuplot drew no SVG");
}

TEST(Gnuplot, TakesALongScript) {
  const Drawing drawing = draw_svg(long_script());
  ASSERT_EQ(drawing.status, DrawingStatus::drawn) << drawing.error;
  EXPECT_GT(drawing.svg.size(), 1'000'000u);
}

TEST(Gnuplot, MayWriteWhileItReads) {
  const FakeGnuplot fake{"/usr/bin/tee /dev/stderr\necho '</svg>'"};
  const std::string script = long_script();
  const Drawing drawing = draw_svg(script);
  ASSERT_EQ(drawing.status, DrawingStatus::drawn) << drawing.error;
  EXPECT_EQ(drawing.svg, script + "</svg>\n");
}

TEST(Gnuplot, MayEndWithoutReading) {
  const FakeGnuplot fake{"echo 'no display' >&2\nexit 3"};
  const Drawing drawing = draw_svg(long_script());
  EXPECT_EQ(drawing.status, DrawingStatus::failed);
  EXPECT_EQ(drawing.error, "no display");
}

TEST(Gnuplot, MayEndByASignal) {
  const FakeGnuplot fake{"kill -9 $$"};
  EXPECT_EQ(draw_svg("plot x\n").error, "gnuplot was ended by signal 9");
}

TEST(Gnuplot, IsEndedWhenTimeIsUp) {
  const std::chrono::milliseconds limit{200};
  const auto start = std::chrono::steady_clock::now();
  const Drawing drawing = draw_svg("pause 60\n", limit);
  EXPECT_EQ(drawing.status, DrawingStatus::failed);
  EXPECT_EQ(drawing.error, "gnuplot was not done within 200 ms");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{10});
  EXPECT_FALSE(has_children());
}

TEST(Gnuplot, IsEndedWhenItClosesItsOutputsAndStays) {
  const FakeGnuplot fake{"exec >&- 2>&-\nexec /bin/sleep 60"};
  const Drawing drawing = draw_svg("plot x\n", std::chrono::milliseconds{200});
  EXPECT_EQ(drawing.error, "gnuplot was not done within 200 ms");
  EXPECT_FALSE(has_children());
}

/// Reads the number that the fake has written, once it is there.
pid_t pid_in(const fs::path& file) {
  pid_t pid = 0;
  while (!(std::ifstream(file) >> pid)) ::usleep(1000);
  return pid;
}

TEST(Gnuplot, EndsWithUsEvenByASignal) {
  const Folder folder;
  const fs::path file = folder.path() / "pid";
  const FakeGnuplot fake{"echo $$ >" + (folder.path() / "new").string() + "\n/bin/mv " +
                         (folder.path() / "new").string() + " " + file.string() +
                         "\nexec /bin/sleep 600"};
  const pid_t drawing = ::fork();
  if (drawing == 0) {
    draw_svg("plot x\n");
    ::_exit(0);
  }
  const pid_t gnuplot = pid_in(file);
  ::kill(drawing, SIGKILL);
  ASSERT_EQ(::waitpid(drawing, nullptr, 0), drawing);
  // It is init's child now, or a zombie where nobody waits for orphans.
  const auto has_ended = [&] {
    std::ifstream status("/proc/" + std::to_string(gnuplot) + "/stat");
    std::string number, name, state;
    return !(status >> number >> name >> state) || state == "Z";
  };
  for (int i = 0; i < 10'000 && !has_ended(); ++i) ::usleep(1000);
  EXPECT_TRUE(has_ended());
}

}  // namespace
}  // namespace depthcost::gnuplot_test
