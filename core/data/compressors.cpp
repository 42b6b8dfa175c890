#include "data/compressors.h"

#include <string>
#include <string_view>
#include <vector>

#include "eggroll/error.h"
#include "system/process.h"

namespace eggroll {
namespace {

constexpr double kSeconds = 20.0;
constexpr size_t kRoom = size_t{1} << 20;  // more than a compressor adds to a text that it cannot make smaller

std::optional<uint64_t> size_of(const std::vector<std::string>& words, const Descriptor& text, size_t size,
                                const std::atomic<bool>& stop) {
  const Conversation talk = converse(words, text, {kSeconds, size + kRoom, 0, &stop});
  const bool is_whole = talk.failure == 0 && talk.status == 0 && !talk.too_long && !talk.output.empty();
  return is_whole ? std::optional<uint64_t>(talk.output.size()) : std::nullopt;
}

}  // namespace

CompressedSizes compressed_sizes(std::span<const std::byte> text, const std::atomic<bool>& stop) try {
  const std::string_view bytes(reinterpret_cast<const char*>(text.data()), text.size());
  const Descriptor file = unnamed_file(bytes);
  CompressedSizes sizes;
  sizes.xz = size_of({"xz", "--format=xz", "-9e", "--threads=1", "--stdout"}, file, text.size(), stop);
  // 7-Zip writes no archive of its own format into a pipe; a zip archive has a few hundred bytes around the data.
  for (const char* program : {"7zz", "7z", "7za"}) {
    sizes.ppmd =
        size_of({program, "a", "-tzip", "-mm=PPMd:o=16:mem=256m", "-si", "-so", "text"}, file, text.size(), stop);
    if (sizes.ppmd || stop.load()) break;
  }
  return sizes;
} catch (const Error&) {
  return {};
}

}  // namespace eggroll
