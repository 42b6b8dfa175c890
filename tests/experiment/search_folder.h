// Searches whose trials' results the test writes down, without running any.
#ifndef EGGROLL_TESTS_EXPERIMENT_SEARCH_FOLDER_H
#define EGGROLL_TESTS_EXPERIMENT_SEARCH_FOLDER_H

#include <functional>
#include <optional>

#include "experiment/own_folder.h"
#include "experiment/search.h"
#include "system/files.h"

namespace eggroll::test {

inline const std::string kParams =
    "params: [\"model.width=16,32,64\", \"optimizer.alpha=tag(log, interval(0.01, 1))\", "
    "\"train.tokens=int(interval(1, 4))\", \"fitness=sign,zscore\"]";

class SearchTest : public OwnFolderTest {
 protected:
  // section: what stands in `search: {}`.
  Search open(const std::string& section, const std::vector<std::string>& more = {}, const std::string& beside = "") {
    write_experiment("s",
                     "name: s\ntrain: {steps: 900}\nsweep: {seeds: [100], " + beside + "search: {" + section + "}}\n");
    return {search_, overrides("s", more), run_at};
  }
  std::string refusal(const std::string& section, const std::vector<std::string>& more = {},
                      const std::string& beside = "") {
    return message_of([&] { open(section, more, beside); });
  }
  // Writes down results as if the round's runs had ended with these bits.
  void end_round(const Search& search, SearchRound& round, const std::function<std::optional<double>(uint64_t)>& bits) {
    search.begin(round);
    const std::string text = read_file(search.folder() / "search.jsonl");
    const auto head = nlohmann::ordered_json::parse(text.substr(0, text.find('\n')));
    SearchLog log(search.folder(), head.at("search"), head.at("base"), head.at("claims"),
                  search.settings().params.size());
    for (const SweepPoint& point : round.sweep.points)
      log.add_result(point.trial->trial, {bits(point.trial->trial), 1});
    log.write();
  }
  // Begins the next round, which must be there.
  static void begin_round(const Search& search) {
    SearchRound round = search.next().value();
    search.begin(round);
  }
  void end_round(const Search& search, const std::function<std::optional<double>(uint64_t)>& bits) {
    SearchRound round = search.next().value();
    end_round(search, round, bits);
  }
};

}  // namespace eggroll::test

#endif
