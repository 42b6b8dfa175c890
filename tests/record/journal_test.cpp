#include "train/journal.h"

#include <gmock/gmock.h>

#include "record/scratch.h"

namespace eggroll {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kPairs = 5;
constexpr size_t kHeader = 84;
constexpr size_t kEntry = 8 + 8 + 8 + kPairs + 4;

class JournalTest : public ScratchTest {
 protected:
  static std::vector<int8_t> fitness_of(uint64_t step) {
    std::vector<int8_t> fitness;
    for (uint32_t pair = 0; pair < kPairs; ++pair)
      fitness.push_back(static_cast<int8_t>(static_cast<int>(step) * 7 - 127 + static_cast<int>(pair)));
    return fitness;
  }

  // Every third step comes after an evaluation, from step 0 on.
  static JournalEntry entry_of(uint64_t step) {
    JournalEntry entry{step, std::nullopt, fitness_of(step)};
    if (step % 3 == 0) entry.evaluation = egg_evaluation{step, (int64_t{1} << 40) + static_cast<int64_t>(step), 777};
    return entry;
  }

  static void expect_equal(const JournalEntry& a, const JournalEntry& b) {
    EXPECT_EQ(a.step, b.step);
    EXPECT_EQ(a.fitness, b.fitness);
    ASSERT_EQ(a.evaluation.has_value(), b.evaluation.has_value()) << "step " << b.step;
    if (!a.evaluation) return;
    EXPECT_EQ(a.evaluation->step, b.evaluation->step);
    EXPECT_EQ(a.evaluation->loss, b.evaluation->loss);
    EXPECT_EQ(a.evaluation->tokens, b.evaluation->tokens);
  }

  void write_steps(uint64_t first, uint64_t end) {
    JournalWriter journal(path_, kPairs, hash_, first);
    for (uint64_t step = first; step < end; ++step) {
      const JournalEntry entry = entry_of(step);
      journal.append(entry.step, entry.evaluation, entry.fitness);
    }
    journal.flush();
    EXPECT_EQ(journal.size(), std::filesystem::file_size(path_));
  }

  // The number of steps that read as they were written. torn: whether the reader left out the end.
  uint64_t whole_steps(bool* torn) {
    JournalReader reader(path_);
    JournalEntry entry;
    uint64_t step = 0;
    for (; reader.next(entry); ++step) expect_equal(entry, entry_of(step));
    *torn = reader.torn();
    return step;
  }

  std::string damaged(const std::string& reason) const {
    return path_.string() + " " + reason + "; restore it from a copy or delete the run's folder to start over";
  }

  const std::filesystem::path path_ = folder_ / "journal.bin";
  const std::string hash_ = std::string(64, 'c');
};

TEST_F(JournalTest, ReadsWhatItWrote) {
  write_steps(0, 10);
  EXPECT_EQ(std::filesystem::file_size(path_), kHeader + 10 * kEntry);
  bool torn = true;
  EXPECT_EQ(whole_steps(&torn), 10U);
  EXPECT_FALSE(torn);
  const JournalReader reader(path_);
  EXPECT_EQ(reader.pairs(), kPairs);
  EXPECT_EQ(reader.config_hash(), hash_);
}

TEST_F(JournalTest, AShortConfigHashComesBackAsItWas) {
  JournalWriter(path_, kPairs, "abc123", 0).flush();
  EXPECT_EQ(JournalReader(path_).config_hash(), "abc123");
  EXPECT_EQ(message_of([&] { JournalWriter(path_, kPairs, std::string(65, 'a'), 0); }),
            "the config hash '" + std::string(65, 'a') + "' is longer than 64 digits; shorten it");
}

TEST_F(JournalTest, AnyCutOfTheTailIsReadAndResumedFrom) {
  write_steps(0, 4);
  const std::string whole = read_file(path_);
  for (size_t size = kHeader; size <= whole.size(); ++size) {
    write_plainly(path_, whole.substr(0, size));
    bool torn = false;
    const uint64_t steps = (size - kHeader) / kEntry;
    EXPECT_EQ(whole_steps(&torn), steps);
    EXPECT_EQ(torn, (size - kHeader) % kEntry != 0);
    for (uint64_t first = 0; first <= steps; ++first) {
      write_plainly(path_, whole.substr(0, size));
      write_steps(first, 4);
      EXPECT_EQ(read_file(path_), whole) << "cut at byte " << size << ", resumed at step " << first;
    }
  }
}

TEST_F(JournalTest, ACutHeaderIsBegunAnewAtStepZeroAndRefusedOtherwise) {
  write_steps(0, 2);
  const std::string whole = read_file(path_);
  for (size_t size = 0; size < kHeader; ++size) {
    write_plainly(path_, whole.substr(0, size));
    const std::string expected = damaged("ends within its header, after " + std::to_string(size) + " bytes");
    EXPECT_EQ(message_of([&] { JournalReader reader(path_); }), expected);
    EXPECT_EQ(message_of([&] { JournalWriter(path_, kPairs, hash_, 1); }), expected);
    write_steps(0, 2);
    EXPECT_EQ(read_file(path_), whole);
  }
}

TEST_F(JournalTest, EveryChangedByteIsNoticed) {
  write_steps(0, 3);
  const std::string whole = read_file(path_);
  for (size_t place = 0; place < whole.size(); ++place) {
    std::string changed = whole;
    changed[place] = static_cast<char>(changed[place] ^ 0x10);
    write_plainly(path_, changed);
    bool torn = false;
    uint64_t steps = 3;
    const std::string text = message_of([&] { steps = whole_steps(&torn); });
    if (place < 8) {
      EXPECT_EQ(text, damaged("is no journal of eggroll"));
    } else if (place < 12) {
      EXPECT_THAT(text, HasSubstr("has journal version "));
    } else if (place < kHeader) {
      EXPECT_EQ(text, damaged("has a damaged header"));
    } else if (place < kHeader + 2 * kEntry) {
      EXPECT_EQ(text, damaged("is damaged at step " + std::to_string((place - kHeader) / kEntry)));
    } else {
      EXPECT_EQ(text, "");
      EXPECT_EQ(steps, 2U);
      EXPECT_TRUE(torn);
    }
  }
}

TEST_F(JournalTest, EntriesOutOfOrderAreNamed) {
  write_steps(0, 3);
  const std::string whole = read_file(path_);
  write_plainly(path_, whole.substr(0, kHeader) + whole.substr(kHeader + kEntry, kEntry) + whole.substr(kHeader));
  JournalEntry entry;
  JournalReader reader(path_);
  EXPECT_EQ(message_of([&] { reader.next(entry); }), damaged("is damaged: it has step 1 where step 0 belongs"));
}

TEST_F(JournalTest, RefusesToGoOnFromAnotherRunsJournal) {
  write_steps(0, 3);
  for (const uint64_t first : {0U, 2U}) {
    EXPECT_EQ(message_of([&] { JournalWriter(path_, kPairs + 1, hash_, first); }),
              damaged("is another run's: it has 5 pairs and the config hash " + hash_ + ", expected 6 and " + hash_));
    EXPECT_EQ(message_of([&] { JournalWriter(path_, kPairs, "ab", first); }),
              damaged("is another run's: it has 5 pairs and the config hash " + hash_ + ", expected 5 and ab"));
  }
  bool torn = true;
  EXPECT_EQ(whole_steps(&torn), 3U);
}

TEST_F(JournalTest, RefusesToGoOnWithoutTheStepsBefore) {
  EXPECT_EQ(message_of([&] { JournalWriter(path_, kPairs, hash_, 5); }),
            damaged("is missing, expected the steps before 5"));
  EXPECT_FALSE(std::filesystem::exists(path_));
  write_steps(0, 3);
  EXPECT_EQ(message_of([&] { JournalWriter(path_, kPairs, hash_, 5); }), damaged("holds 3 steps, expected at least 5"));
  std::string changed = read_file(path_);
  changed[kHeader + kEntry + 9] ^= 1;
  write_plainly(path_, changed);
  EXPECT_EQ(message_of([&] { JournalWriter(path_, kPairs, hash_, 2); }), damaged("is damaged at step 1"));
}

TEST_F(JournalTest, RefusesAnotherVersionAndAForeignFile) {
  write_steps(0, 1);
  std::string other = read_file(path_);
  for (const int version : {1, 3}) {
    other[8] = static_cast<char>(version);
    write_plainly(path_, other);
    const std::string sentence = path_.string() + " has journal version " + std::to_string(version) +
                                 ", this eggroll reads version 2; use the eggroll that wrote it";
    EXPECT_EQ(message_of([&] { JournalReader reader(path_); }), sentence);
    EXPECT_EQ(message_of([&] { JournalWriter(path_, kPairs, hash_, 1); }), sentence);
  }
  write_plainly(path_, "a text that is no journal");
  EXPECT_EQ(message_of([&] { JournalReader reader(path_); }), damaged("is no journal of eggroll"));
  EXPECT_EQ(message_of([&] { JournalReader reader(folder_ / "none"); }),
            "cannot read " + (folder_ / "none").string() +
                ": No such file or directory; check that the path is right and that its folder exists");
}

TEST_F(JournalTest, StepsComeInOrderWithOneFitnessAPair) {
  JournalWriter journal(path_, kPairs, hash_, 0);
  EXPECT_EQ(message_of([&] { journal.append(1, std::nullopt, fitness_of(1)); }),
            "the journal got step 1 with 5 pairs, expected step 0 with 5; report this as a bug");
  EXPECT_EQ(message_of([&] { journal.append(0, std::nullopt, std::vector<int8_t>(4)); }),
            "the journal got step 0 with 4 pairs, expected step 0 with 5; report this as a bug");
  EXPECT_EQ(message_of([&] {
              journal.append(0, egg_evaluation{1, 5, 5}, fitness_of(0));
            }),
            "the journal got an evaluation after 1 steps before step 0; report this as a bug");
  EXPECT_EQ(journal.size(), kHeader);
}

}  // namespace
}  // namespace eggroll
