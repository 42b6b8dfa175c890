// "did you mean": the known name nearest to a misspelt one.
#ifndef EGGROLL_SUGGEST_H
#define EGGROLL_SUGGEST_H

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace eggroll {

// Edits (insert, delete, replace) between two words.
inline size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row.back();
}

// Letters with which both words begin.
inline size_t common_beginning(std::string_view a, std::string_view b) {
  size_t count = 0;
  while (count < std::min(a.size(), b.size()) && a[count] == b[count]) ++count;
  return count;
}

// "; did you mean 'x'?", or "" if no name is near. A near name takes few edits, or begins with most of the word.
inline std::string near_name(std::string_view word, const std::vector<std::string>& known) {
  size_t best = std::string::npos;
  std::string nearest;
  for (const std::string& name : known) {
    const size_t distance = edit_distance(word, name);
    if (distance < best) {
      best = distance;
      nearest = name;
    }
  }
  bool is_near = !nearest.empty() && best <= std::max<size_t>(2, word.size() / 3);
  if (!is_near) {
    for (const std::string& name : known) {
      if (common_beginning(word, name) > common_beginning(word, nearest)) nearest = name;
    }
    is_near = common_beginning(word, nearest) >= std::max<size_t>(4, (2 * word.size() + 2) / 3);
  }
  return is_near ? "; did you mean '" + nearest + "'?" : "";
}

// The same as near_name() or, if no name is near, "; known: a, b, c".
inline std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  const std::string hint = near_name(word, known);
  if (!hint.empty()) return hint;
  if (known.empty()) return "; none is known here";
  std::string list = "; known: ";
  for (size_t i = 0; i < known.size(); ++i) list += (i > 0 ? ", " : "") + known[i];
  return list;
}

}  // namespace eggroll

#endif
