// What a search writes down, and which searches may go on from it.
#include <regex>

#include "experiment/search_folder.h"
#include "record/seal.h"

namespace eggroll::test {
namespace {

using ::testing::HasSubstr;

TEST_F(SearchTest, AnotherSearchInTheSameFolderIsRefused) {
  const std::string section = kParams + ", sampler: random, trials: 2";
  Search search = open(section);
  begin_round(search);
  EXPECT_THAT(refusal(kParams + ", sampler: random, trials: 3"),
              HasSubstr("was begun with other settings of sweep.search, expected the same until it ends"));
  EXPECT_THAT(refusal(section, {"noise.rank=2"}), HasSubstr("was begun with other settings outside of sweep.search"));
  EXPECT_EQ(refusal(section, {"backend.threads=1"}), "");
  EXPECT_EQ(refusal(section + ", confirm: 3"), "");
  // Stop rules are outside of a run's hash, and yet decide what a trial comes to.
  EXPECT_THAT(refusal(section, {"stop.steps=9"}), HasSubstr("was begun with other settings outside of sweep.search"));
  // What is said and what is left to its default are one search.
  EXPECT_EQ(refusal(section + ", startup: 8, goal: lower"), "");
}

TEST_F(SearchTest, AGridAndASearchShareNoFolder) {
  const std::string section = kParams + ", sampler: random, trials: 2";
  const Search search = open(section);
  begin_round(search);
  write_experiment("g", "name: s\nsweep: {product: [\"model.width=16,32\"]}\n");
  EXPECT_THAT(message_of([&] { compose_sweep(search_, overrides("g")); }),
              HasSubstr("holds a search, and this sweep is none"));
  std::filesystem::remove(search.folder() / "search.jsonl");
  EXPECT_THAT(refusal(section), HasSubstr("holds a sweep that is no search"));
}

TEST_F(SearchTest, ADamagedLogIsRefused) {
  const std::string section = kParams + ", sampler: random, trials: 2";
  const Search search = open(section);
  end_round(search, [](uint64_t) { return 1.0; });
  const std::filesystem::path file = search.folder() / "search.jsonl";
  const std::string whole = read_file(file);
  const auto with = [&](const std::string& text) {
    write_plainly(file, text);
    return refusal(section);
  };
  for (const std::string& cut : {whole + "{\"trial\": 1, \"ru", whole.substr(0, whole.size() - 1),
                                 whole + std::string(100, '\0'), std::string()}) {
    EXPECT_THAT(with(cut), HasSubstr("its last line has no end; restore it from a copy"));
  }
  EXPECT_THAT(with(whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1)),
              HasSubstr("it has 3 lines after the first, expected 4; restore it from a copy"));
  EXPECT_THAT(with(std::regex_replace(whole, std::regex("\"figure\":1.0"), "\"figure\":0.5")),
              HasSubstr("its checksum is not that of the line; restore it from a copy"));
  for (const char* key : {"\"search\":", "\"draw\":", "\"figure\":"}) {  // a line of each kind
    const size_t seal = whole.find(",\"crc\"", whole.find(key));
    EXPECT_THAT(with(std::string(whole).replace(seal, whole.find('\n', seal) - seal, "}")),
                HasSubstr("it has no checksum; restore it from a copy"))
        << key;
  }
  EXPECT_THAT(with(whole + sealed_line({{"trial", 5}, {"rung", 0}, {"figure", 1.0}, {"steps", 1}}) + "\n"),
              HasSubstr("its result is not the next of a trial"));
  EXPECT_THAT(with(whole + sealed_line({{"trial", 2}, {"draw", 2}, {"unit", {0.5, 0.5, 0.5, 1.5}}}) + "\n"),
              HasSubstr("its trial is not the next, or not within the settings' ranges"));
  EXPECT_THAT(with(whole + sealed_line({{"trial", "2"}}) + "\n"), HasSubstr("is damaged"));
}

// Whoever goes on with it would draw other trials, or take a later score for an earlier one.
TEST_F(SearchTest, ALogThatLacksWhatPointsBeganAfterIsRefused) {
  const std::string section = kParams + ", sampler: random, trials: 3, halving: {from: 100, by: 3}";
  const Search search = open(section);
  std::optional<SearchRound> first = search.next();
  search.begin(*first);
  const std::filesystem::path file = search.folder() / "search.jsonl";
  const std::string drawn = read_file(file);
  end_round(search, *first, [](uint64_t trial) { return static_cast<double>(trial); });
  const std::string judged = read_file(file);
  // As version 0.2 wrote it, without the number of lines.
  const auto head_of = [&](const std::string& text) {
    nlohmann::ordered_json head = nlohmann::ordered_json::parse(text.substr(0, text.find('\n')));
    for (const char* key : {"lines", "crc"}) head.erase(key);
    return sealed_line(head) + "\n";
  };
  const std::optional<SearchRound> second = search.next();
  ASSERT_TRUE(second && second->sweep.points.size() == 1);
  const std::filesystem::path begun = second->sweep.folder_of(second->sweep.points[0]).path;
  std::filesystem::create_directories(begun);
  write_point(second->sweep, second->sweep.points[0]);
  EXPECT_EQ(refusal(section), "");
  const std::string expected = file.string() + " is damaged: it lacks trials or results that the run in " +
                               begun.string() +
                               " began after; restore the newest copy, or remove the sweep's folder "
                               "to search anew";
  for (const std::string& older : {drawn, head_of(drawn)}) {
    write_plainly(file, older);
    EXPECT_EQ(refusal(section), expected);
  }
  // A point that has begun the first rung needs its trial alone.
  std::filesystem::remove_all(begun);
  const SweepPoint& point = first->sweep.points[2];
  const std::filesystem::path last = first->sweep.folder_of(point).path;
  std::filesystem::create_directories(last);
  write_point(first->sweep, point);
  write_plainly(file, drawn);
  EXPECT_EQ(refusal(section), "");
  const size_t cut = drawn.rfind('\n', drawn.size() - 2) + 1;
  write_plainly(file, head_of(drawn) + drawn.substr(0, cut).substr(drawn.find('\n') + 1));
  EXPECT_THAT(refusal(section), HasSubstr("the run in " + last.string() + " began after"));
  write_plainly(file, judged);
  EXPECT_EQ(refusal(section), "");
}

}  // namespace
}  // namespace eggroll::test
