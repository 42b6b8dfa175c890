// The reports on folders as pages, made from their records when somebody asks for one.
#ifndef EGGROLL_TOOLS_SERVE_FINDINGS_PAGES_H
#define EGGROLL_TOOLS_SERVE_FINDINGS_PAGES_H

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <future>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/watch.h"

namespace eggroll {

class FindingsPages {
 public:
  explicit FindingsPages(const Watch& watch) : watch_(watch) {}

  struct Answer {
    std::string html;
    bool is_made = true;  // else it says what it waits for, and loads itself again until the report is there
  };
  // The report on the runs in these folders, as the watch names them, or a page that says why there is none. It never
  // waits for a report: until one of newer records is made, it gives the old one. Nothing where a folder holds no run.
  std::optional<Answer> page(const std::vector<std::string>& folders);

 private:
  struct Page {
    uint64_t version;  // the watch's
    std::string html;
    std::chrono::steady_clock::time_point made_again_at;  // not before this
  };

  std::string report(const std::vector<std::filesystem::path>& places) const;

  const Watch& watch_;
  std::mutex mutex_;  // guards the members below
  std::map<std::vector<std::string>, Page> pages_;
  std::future<Page> making_;  // one report at a time, because it takes all processors
  std::vector<std::string> making_of_;
};

}  // namespace eggroll

#endif
