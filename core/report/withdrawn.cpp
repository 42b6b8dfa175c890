#include "report/withdrawn.h"

#include <algorithm>

namespace eggroll {
namespace {

struct WithdrawnText {
  const char* sha256;
  const char* why;
};

// The English text of version 0.2's first results, as bytes and as the pieces of a vocabulary.
constexpr const char* kEnglish =
    "46 % of the held-out bytes stand byte for byte in the training text (133 of 272 documents, 722,238 of 1,556,437 "
    "bytes)";
constexpr WithdrawnText kTexts[] = {
    {"2d0bc72eb288aadc97bbd77819cd79b6c89a8f280ac8935fa4fdd580715b1955", kEnglish},
    {"3c8980bae8375a63b75bb3031716684e39aff6822bce644160a7304b9061aa61", kEnglish},
};

}  // namespace

std::optional<std::string> why_withdrawn(const RunRecord& record) {
  if (!record.dataset) return std::nullopt;
  const auto* found = std::find_if(std::begin(kTexts), std::end(kTexts),
                                   [&](const WithdrawnText& text) { return record.dataset->sha256 == text.sha256; });
  return found == std::end(kTexts) ? std::nullopt : std::optional<std::string>(found->why);
}

bool is_withdrawn(const Study& study) {
  return std::any_of(study.runs.begin(), study.runs.end(),
                     [](const StudyRun& run) { return why_withdrawn(run.run->record).has_value(); });
}

std::string title_of(const Study& study) { return study.name + (is_withdrawn(study) ? " on a withdrawn text" : ""); }

}  // namespace eggroll
