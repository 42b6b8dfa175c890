// The configuration as a tree of typed values, each of which knows the file and line it came from.
#ifndef EGGROLL_CONFIG_TREE_H
#define EGGROLL_CONFIG_TREE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "eggroll/error.h"

namespace eggroll {

// Where a value was written.
struct Source {
  std::string file;  // "configs/model/gru.yaml", or of an override "command line 'model.width=3'"
  int line = 0;      // from 1; 0: the file as a whole
  std::string text() const { return line > 0 ? file + ":" + std::to_string(line) : file; }
};

class ConfigNode {
 public:
  enum class Kind { kNull, kBoolean, kInteger, kReal, kText, kList, kMap };  // in the order of Value
  struct Entry;
  using List = std::vector<ConfigNode>;
  using Map = std::vector<Entry>;  // in the order written; keys are unique and hold no dot
  using Value = std::variant<std::monostate, bool, int64_t, double, std::string, List, Map>;

  ConfigNode() = default;
  ConfigNode(Value value, Source source);

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  const Source& source() const { return source_; }
  void set_source(Source source) { source_ = std::move(source); }

  // True if this value, or one that it replaced, was null: null may then replace it again.
  bool nullable() const { return nullable_ || kind() == Kind::kNull; }
  void set_nullable() { nullable_ = true; }

  // Each throws Error if the value is of another kind. A real without a fraction is an integer too.
  bool boolean() const;
  int64_t integer() const;
  double real() const;
  const std::string& text() const;
  const List& list() const;
  List& list();
  const Map& map() const;
  Map& map();

  // A path is dotted keys and, in lists, indices from 0 ("model.width", "plugins.path.0"); "" is this node.
  const ConfigNode* find(std::string_view path) const;  // nullptr if there is none
  ConfigNode* find(std::string_view path) { return const_cast<ConfigNode*>(std::as_const(*this).find(path)); }
  const ConfigNode& at(std::string_view path) const;  // throws Error if there is none

  // The override that deleted the value at that path or a value around it, for messages; nullptr if nothing did. Each
  // map keeps the deletions of its own keys.
  void note_deletion(std::string key, Source by) { deleted_.emplace_back(std::move(key), std::move(by)); }
  const Source* deletion_of(std::string_view path) const;

  // Same kinds, values and order; sources do not count.
  friend bool operator==(const ConfigNode& a, const ConfigNode& b);

 private:
  Value value_;
  Source source_;
  bool nullable_ = false;
  std::vector<std::pair<std::string, Source>> deleted_;  // keys
};

struct ConfigNode::Entry {
  std::string key;
  ConfigNode value;
  friend bool operator==(const Entry&, const Entry&) = default;
};

// These stand here because they need a complete Entry.
inline ConfigNode::ConfigNode(Value value, Source source) : value_(std::move(value)), source_(std::move(source)) {}
inline bool operator==(const ConfigNode& a, const ConfigNode& b) { return a.value_ == b.value_; }

// "model" and "width"; a path of one key has the parent "".
std::pair<std::string, std::string> split_path(const std::string& path);
std::string join_path(const std::string& parent, const std::string& key);
// Whether the key is this path or lies below it.
bool is_within(std::string_view key, std::string_view path);

// Limits on everything that is read, so that it can be printed and read again.
inline constexpr size_t kLongestKey = 200;   // bytes, of one that is written with dots too
inline constexpr size_t kDeepestTree = 100;  // lists and maps within each other

// Whether the text is names of letters, digits, '_' and, not first, '-', with single dots or slashes between them; no
// longer than a key may be.
bool is_path(const std::string& text);

// The text without spaces, tabs and line ends around it.
std::string trimmed(std::string_view text);

// An error whose sentence follows the place that it is about.
Error wrong(const Source& source, const std::string& sentence);

// The integer that the node holds; a real without a fraction counts as one. Nothing for any other node.
std::optional<int64_t> whole_number(const ConfigNode& node);

// Text, a number or a boolean as text; throws Error for any other kind.
std::string scalar_text(const ConfigNode& node);

std::string kind_name(ConfigNode::Kind kind);     // "an integer", "text", "null"
std::string shown_value(const ConfigNode& node);  // "the integer 5", "the text 'abc'", "a map"

// "0.1", "15.0", "1e-05": the shortest digits that read back as the same real, never like an integer.
std::string real_text(double value);

// The sentence that there is nothing at that path, with what may have been meant: "model (configs/model/gru.yaml) has
// no key 'widht'; did you mean 'width'?"
std::string missing_path(const ConfigNode& root, const std::string& path);

}  // namespace eggroll

#endif
