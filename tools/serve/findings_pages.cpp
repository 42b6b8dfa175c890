#include "serve/findings_pages.h"

#include <fmt/format.h>

#include <algorithm>

#include "record/sentence.h"
#include "report/findings.h"
#include "system/text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

std::string page_of(const std::string& sentence) {
  std::string text;
  for (const char c : sentence) text += c == '<' ? "&lt;" : c == '&' ? "&amp;" : std::string(1, c);
  return fmt::format(
      "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<title>Findings</title>\n"
      "<link rel=stylesheet href=style.css>\n<p><a href=\"/\">\u2190 all runs</a></p>\n<p>{}</p>\n</html>\n",
      text);
}

// An address has no place for some characters of a folder's name.
std::string address_of_run(const std::string& folder) {
  std::string text = "/#/run?folder=";
  for (const char c : folder) {
    const bool is_plain =
        std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '-' || c == '_' || c == '.';
    text += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text;
}

}  // namespace

std::string FindingsPages::made(const std::vector<fs::path>& places) const try {
  const Collection collection = collect(places);
  const auto count = static_cast<size_t>(std::count_if(collection.runs.begin(), collection.runs.end(),
                                                       [](const auto& run) { return has_ended_well(run.record); }));
  if (count == 0) return page_of("No run here is completed yet; a report needs one at least.");
  const bool is_one = places.size() == 1;
  const std::string title = is_one ? fs::absolute(places[0] / ".").lexically_normal().parent_path().filename().string()
                                   : fmt::format("{} chosen runs", places.size());
  return served_findings(collection, title, is_one ? notes_for(places[0]) : std::vector<std::string>(),
                         [&](const CollectedRun& run) { return address_of_run(watch_.folder_of(run.record_file)); });
} catch (...) {
  return page_of("No report can be made: " + sentence_of_exception());
}

std::optional<std::string> FindingsPages::page(const std::vector<std::string>& folders) {
  constexpr size_t kMostPages = 16;
  constexpr int kRest = 10;  // while runs write, a page is made in at most a tenth of the time
  std::vector<fs::path> places;
  for (const std::string& folder : folders) {
    const std::optional<fs::path> place = watch_.path_of(shown(folder));
    if (!place) return std::nullopt;
    places.push_back(*place);
  }
  if (places.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (pages_.size() >= kMostPages && !pages_.contains(folders)) pages_.clear();
  Page& page = pages_[folders];
  const auto begin = steady_clock::now();
  const uint64_t version = watch_.version();
  if (page.html.empty() || (page.version != version && page.made_again_at <= begin)) {
    page.version = version;
    page.html = made(places);
    page.made_again_at = steady_clock::now() + kRest * (steady_clock::now() - begin);
  }
  return page.html;
}

}  // namespace eggroll
