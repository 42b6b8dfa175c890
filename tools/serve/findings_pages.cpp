#include "serve/findings_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "record/run_numbers.h"
#include "record/sentence.h"
#include "report/document.h"
#include "report/findings.h"
#include "system/background.h"
#include "system/text.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

std::string page_of(const std::string& sentence, const std::string& head = "") {
  return fmt::format(
      "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n<title>Findings</title>\n"
      "<link rel=stylesheet href=style.css>{}\n<p><a href=\"/\">\u2190 all runs</a></p>\n<p>{}</p>\n</html>\n",
      head, html_escaped(sentence));
}

FindingsPages::Answer wait_page(const std::string& what) {
  return {page_of(what + "; this page shows the report as soon as it is made.", "<meta http-equiv=refresh content=1>"),
          false};
}

std::string title_of(const std::vector<fs::path>& places) {
  if (places.size() > 1) return fmt::format("{} chosen runs", places.size());
  return fs::absolute(places[0] / ".").lexically_normal().parent_path().filename().string();
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

std::string FindingsPages::report(const std::vector<fs::path>& places) const try {
  const Collection collection = collect(places);
  const auto count = static_cast<size_t>(std::count_if(collection.runs.begin(), collection.runs.end(),
                                                       [](const auto& run) { return has_ended_well(run.record); }));
  if (count == 0) return page_of("No run here is completed yet; a report needs one at least.");
  return served_findings(collection, title_of(places),
                         places.size() == 1 ? notes_for(places[0]) : std::vector<std::string>(),
                         [&](const CollectedRun& run) { return address_of_run(watch_.folder_of(run.record_file)); });
} catch (...) {
  return page_of("No report can be made: " + sentence_of_exception());
}

std::optional<FindingsPages::Answer> FindingsPages::page(const std::vector<std::string>& folders) {
  constexpr size_t kMostPages = 16;
  const bool is_first_look = watch_.is_first_look();
  std::vector<fs::path> places;
  for (const std::string& folder : folders) {
    const std::optional<fs::path> place = watch_.path_of(shown(folder));
    if (!place && is_first_look) return wait_page("The runs are still being read");
    if (!place) return std::nullopt;
    places.push_back(*place);
  }
  if (places.empty()) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (making_.valid() && making_.wait_for(std::chrono::seconds(0)) != std::future_status::timeout) {
    if (pages_.size() >= kMostPages) pages_.clear();
    pages_.insert_or_assign(making_of_, making_.get());
  }
  const auto page = pages_.find(folders);
  const bool is_current = page != pages_.end() && (page->second.version == watch_.version() ||
                                                   steady_clock::now() < page->second.made_again_at);
  if (!is_current && !making_.valid()) {
    making_of_ = folders;
    making_ = beside([this, places] {
      constexpr int kRest = 10;  // while runs write, a page is made in at most a tenth of the time
      const auto begin = steady_clock::now();
      Page made{watch_.version(), report(places), {}};
      made.made_again_at = steady_clock::now() + kRest * (steady_clock::now() - begin);
      return made;
    });
  }
  if (page != pages_.end()) return Answer{page->second.html};
  return wait_page(fmt::format("The report on {} {}", title_of(places),
                               making_of_ == folders ? "is being made" : "waits for another that is being made"));
}

}  // namespace eggroll
