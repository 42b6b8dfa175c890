// The input is a byte and a journal. An odd byte stands for checksums that are right, which no mutation finds by
// chance.
#include <zlib.h>

#include <cstring>
#include <optional>

#include "fuzz/input.h"
#include "fuzz/outcome.h"
#include "train/journal.h"

using namespace eggroll;
using namespace eggroll::test;

namespace {

constexpr size_t kHeaderSize = 84;

void mend_checksum(std::string& bytes, size_t begin, size_t size) {
  const auto crc = static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data() + begin), static_cast<z_size_t>(size - 4)));
  std::memcpy(bytes.data() + begin + size - 4, &crc, 4);
}

void mend_checksums(std::string& bytes) {
  if (bytes.size() < kHeaderSize) return;
  mend_checksum(bytes, 0, kHeaderSize);
  uint32_t pairs = 0;
  std::memcpy(&pairs, bytes.data() + 12, 4);
  const size_t entry = 24 + size_t{pairs} + 4;
  for (size_t at = kHeaderSize; bytes.size() - at >= entry; at += entry) mend_checksum(bytes, at, entry);
}

struct Journal {
  uint32_t pairs;
  std::string config_hash;
  std::vector<JournalEntry> entries;
};

Journal read_journal(const std::filesystem::path& path) {
  JournalReader reader(path);
  Journal journal{reader.pairs(), reader.config_hash(), {}};
  for (JournalEntry entry; reader.next(entry);) journal.entries.push_back(entry);
  return journal;
}

bool same(const JournalEntry& a, const JournalEntry& b) {
  if (a.evaluation.has_value() != b.evaluation.has_value()) return false;
  if (a.evaluation && (a.evaluation->step != b.evaluation->step || a.evaluation->loss != b.evaluation->loss ||
                       a.evaluation->tokens != b.evaluation->tokens)) {
    return false;
  }
  return a.step == b.step && a.fitness == b.fitness;
}

void require_same(const Journal& a, const Journal& b, size_t entries) {
  require(a.pairs == b.pairs && a.config_hash == b.config_hash, "another header");
  require(a.entries.size() >= entries && b.entries.size() == entries, "another number of steps");
  for (size_t i = 0; i < entries; ++i) require(same(a.entries[i], b.entries[i]), "another step");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string bytes(text_of(data, size).substr(1));
  if (data[0] % 2 == 1) mend_checksums(bytes);
  const std::filesystem::path path = scratch().put("journal.bin", bytes);
  std::optional<Journal> journal;
  if (!accepts([&] { journal = read_journal(path); })) return 0;
  must_accept("what was read and written again", [&] {
    const std::filesystem::path written = scratch().put("written.bin", "");
    {
      JournalWriter writer(written, journal->pairs, journal->config_hash, 0);
      for (const JournalEntry& entry : journal->entries) writer.append(entry.step, entry.evaluation, entry.fitness);
    }
    require_same(*journal, read_journal(written), journal->entries.size());
  });
  must_accept("a journal that is cut back", [&] {
    const size_t half = journal->entries.size() / 2;
    { JournalWriter writer(path, journal->pairs, journal->config_hash, half); }
    require_same(*journal, read_journal(path), half);
  });
  return 0;
}
