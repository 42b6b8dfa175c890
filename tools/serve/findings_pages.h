// The reports on folders as pages, made from their records when somebody asks for one.
#ifndef EGGROLL_TOOLS_SERVE_FINDINGS_PAGES_H
#define EGGROLL_TOOLS_SERVE_FINDINGS_PAGES_H

#include <chrono>
#include <cstdint>
#include <filesystem>
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

  // The report on the runs in these folders, as the watch names them, or a page that says why there is none yet. Takes
  // as long as the report does. Nothing where a folder holds no run.
  std::optional<std::string> page(const std::vector<std::string>& folders);

 private:
  struct Page {
    std::string html;
    uint64_t version = 0;                                 // the watch's
    std::chrono::steady_clock::time_point made_again_at;  // not before this
  };

  std::string made(const std::vector<std::filesystem::path>& places) const;

  const Watch& watch_;
  std::mutex mutex_;  // one report at a time, because it takes all processors
  std::map<std::vector<std::string>, Page> pages_;
};

}  // namespace eggroll

#endif
