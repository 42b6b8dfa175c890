#include "record/gnuplot.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "system/file_calls.h"
#include "system/files.h"
#include "system/process.h"
#include "system/text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPdfDate = "/CreationDate (D:";
constexpr std::string_view kNoDate = "19700101000000";

// Runs gnuplot on the script; the picture goes to the open file. Returns gnuplot's complaint, empty if it succeeded.
std::string run_gnuplot(const fs::path& script, const std::string& format, const Descriptor& picture,
                        const std::string& what) {
  Pipe complaints = open_pipe();
  pid_t child = 0;
  // The picture must not depend on the user's start-up files.
  const std::vector<std::string> words = {"gnuplot", "--default-settings", "-e", fmt::format("format = '{}'", format),
                                          script.string()};
  const int failure = spawn(words, {false, &picture, &*complaints.input, false}, child);
  if (failure == ENOENT) {
    throw Error(what + ": gnuplot is not installed; install the package gnuplot-nox and run gnuplot on " +
                script.string());
  }
  if (failure != 0) throw file_error("run gnuplot on", script, failure);
  complaints.input.reset();
  std::string complaint = read_to_end(complaints.output);
  const int status = wait_for(child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  for (char& c : complaint) c = static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  const size_t begin = std::min(complaint.size(), complaint.find_first_not_of(' '));
  const size_t end = complaint.find_last_not_of(' ');
  return begin == complaint.size() ? "it was stopped" : complaint.substr(begin, end + 1 - begin);
}

// Cairo writes the time of drawing into a PDF, so each drawing would be another file.
void remove_date(const fs::path& pdf, const Descriptor& file) {
  const size_t found = read_file(pdf).find(kPdfDate);
  if (found == std::string::npos) return;
  const auto offset = static_cast<off_t>(found + kPdfDate.size());
  if (::pwrite(file.get(), kNoDate.data(), kNoDate.size(), offset) != static_cast<ssize_t>(kNoDate.size())) {
    throw file_error("write", pdf, errno);
  }
}

void draw(const fs::path& script, const fs::path& picture_path, const std::string& what) {
  const std::string format = picture_path.extension().string().substr(1);
  const fs::path temporary = fs::path(picture_path).concat(".tmp");
  try {
    const Descriptor picture(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (picture.get() < 0) throw file_error("write", temporary, errno);
    const std::string complaint = run_gnuplot(script, format, picture, what);
    if (!complaint.empty()) {
      throw Error(fmt::format("{}: gnuplot failed on {} ({}); install the package gnuplot-nox or mend the script", what,
                              script.string(), complaint));
    }
    if (format == "pdf") remove_date(temporary, picture);
    if (sync_to_disk(picture.get()) != 0) throw file_error("write", temporary, errno);
    if (::rename(temporary.c_str(), picture_path.c_str()) != 0) throw file_error("write", picture_path, errno);
    sync_folder(fs::absolute(picture_path).parent_path());  // before a record names the picture
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace

std::string gnuplot_text(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') result += '\'';
    result += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
  }
  return result + "'";
}

std::pair<double, const char*> gnuplot_unit(double largest) {
  if (largest >= 1e9) return {1e9, ", billions"};
  if (largest >= 1e6) return {1e6, ", millions"};
  return largest >= 1e3 ? std::pair(1e3, ", thousands") : std::pair(1.0, "");
}

std::vector<double> spread(std::vector<double> places, double bottom, double top, double gap) {
  double lowest = bottom;
  for (double& place : places) {
    place = std::max(place, lowest);
    lowest = place + gap;
  }
  double highest = top;
  for (size_t i = places.size(); i-- > 0; highest = places[i] - gap) places[i] = std::min(places[i], highest);
  return places;
}

void draw_with_gnuplot(const std::string& script_text, const std::vector<fs::path>& pictures, const std::string& what) {
  const fs::path script = fs::path(pictures.front()).replace_extension(".gp");
  write_atomically(script, script_text);
  for (const fs::path& picture : pictures) draw(script, picture, what);
}

std::string svg_by_gnuplot(const std::string& script, const std::string& what) {
  const ConversationLimits limits{20.0, size_t{64} << 20, 1000};
  Conversation said = converse({"gnuplot", "--default-settings", "-"}, unnamed_file(script), limits);
  if (said.failure == ENOENT) throw Error(what + ": gnuplot is not installed; install the package gnuplot-nox");
  if (said.out_of_time || said.too_long) {
    throw Error(
        fmt::format("{}: {}, so gnuplot was ended; make the figure with eggroll report, which has no such limit", what,
                    said.too_long ? fmt::format("it has more than {} MiB", limits.output_bytes >> 20)
                                  : fmt::format("it took more than {} s", limits.seconds)));
  }
  if (said.failure != 0 || said.status != 0) {
    throw Error(fmt::format("{}: gnuplot failed ({}); install the package gnuplot-nox", what,
                            said.failure != 0 ? std::strerror(said.failure) : one_line(said.errors, 200)));
  }
  return std::move(said.output);
}

}  // namespace eggroll
