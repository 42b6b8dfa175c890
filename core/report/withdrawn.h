// Texts whose held-out part turned out to be known from training. Every report of runs on them says so first.
#ifndef EGGROLL_REPORT_WITHDRAWN_H
#define EGGROLL_REPORT_WITHDRAWN_H

#include <optional>
#include <string>

#include "record/record.h"
#include "report/study.h"

namespace eggroll {

// Why the data of the run were withdrawn, by their sha256; nothing for other data.
std::optional<std::string> why_withdrawn(const RunRecord& record);

bool is_withdrawn(const Study& study);

// The study's name in titles of figures: "width", "width on a withdrawn text".
std::string title_of(const Study& study);

// Stands before each answer and each figure's caption.
inline constexpr const char* kWithdrawnMark = "On a withdrawn text: ";

}  // namespace eggroll

#endif
