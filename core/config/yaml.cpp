#include "config/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <unordered_map>

#include "eggroll/error.h"
#include "system/text.h"

namespace eggroll {
namespace {

using Kind = ConfigNode::Kind;

bool is_any(const std::string& text, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_utf8(const std::string& text) {
  try {
    nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

// Finds Unicode's noncharacters in UTF-8 text: U+FDD0 to U+FDEF and the last two of every 65536. The library would
// print other characters in their place.
bool has_noncharacter(const std::string& text) {
  for (size_t at = 0; at + 2 < text.size(); ++at) {
    const auto byte = [&](size_t offset) { return static_cast<unsigned char>(text[at + offset]); };
    if (byte(0) == 0xEF && byte(1) == 0xB7 && byte(2) >= 0x90 && byte(2) <= 0xAF) return true;
    if ((byte(0) & 0x0F) == 0x0F && byte(0) >= 0x80 && byte(1) == 0xBF && byte(2) >= 0xBE) return true;
  }
  return false;
}

ConfigNode text_node(const std::string& text, const Source& source) {
  if (text.find('\0') != std::string::npos) throw wrong(source, "the text holds a zero byte; remove it");
  if (!is_utf8(text)) throw wrong(source, "the text is not UTF-8; convert it, or rename the file that it names");
  if (has_noncharacter(text)) throw wrong(source, "the text holds a code that is no character (U+FFFE); remove it");
  return {text, source};
}

bool only(const std::string& text, size_t from, const char* characters) {
  return from < text.size() && text.find_first_not_of(characters, from) == std::string::npos;
}

// [-+]? ( \. digits | digits ( \. digits? )? ) ( [eE] [-+]? digits )?
bool is_real(const std::string& text) {
  size_t at = 0;
  const auto skip_one_of = [&](const char* characters) {
    const bool is = at < text.size() && std::string_view(characters).find(text[at]) != std::string_view::npos;
    if (is) ++at;
    return is;
  };
  const auto skip_digits = [&] {
    const size_t from = at;
    while (skip_one_of("0123456789")) continue;
    return at > from;
  };
  skip_one_of("-+");
  const bool whole = skip_digits();
  const bool fraction = skip_one_of(".") && skip_digits();
  if (!whole && !fraction) return false;
  if (skip_one_of("eE")) {
    skip_one_of("-+");
    if (!skip_digits()) return false;
  }
  return at == text.size();
}

ConfigNode integer_node(const std::string& text, std::string_view digits, int base, const Source& source) {
  int64_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value, base).ec != std::errc()) {
    throw wrong(source,
                fmt::format("the integer {} does not fit 64 bits; use a smaller one, or quotes for text", text));
  }
  return {value, source};
}

class NoTree : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// Builds one document's tree from the parser's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  // whole: the source of every value if the text has no lines (the command line), else that of the document.
  TreeBuilder(Source whole, bool has_lines) : whole_(std::move(whole)), has_lines_(has_lines) {}

  ConfigNode take() { return root_ ? std::move(*root_) : ConfigNode({}, whole_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_)
      throw wrong(source_of(mark), "a second document or stray text begins here, expected one document; remove it");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    refuse(mark, "?", anchor);
    if (expects_key()) throw wrong(source_of(mark), "a key is null, expected text; name it or put it in quotes");
    // The library accepts a key without a colon, and then reports a null at the place of the key.
    if (!open_.empty() && open_.back().key && open_.back().key_position == mark.pos) {
      throw wrong(source_of(mark), fmt::format("the key '{}' has no colon; write '{}: null' for no value",
                                               *open_.back().key, *open_.back().key));
    }
    add({{}, source_of(mark)});
  }
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}  // its anchor was refused
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse(mark, tag, anchor);
    const Source source = source_of(mark);
    if (expects_key()) {
      start_entry(text_node(value, source).text(), source);
      open_.back().key_position = mark.pos;
    } else {
      add(tag == "?" ? plain_scalar(value, source) : text_node(value, source));
    }
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    start(mark, tag, anchor, style, ConfigNode::List());
  }
  void OnSequenceEnd() override { end(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    start(mark, tag, anchor, style, ConfigNode::Map());
  }
  void OnMapEnd() override { end(); }

 private:
  // A list or map under way; in a map a key waits for its value.
  struct Open {
    ConfigNode::Value value;
    Source source;
    std::optional<std::string> key;
    Source key_source;
    int key_position = 0;
    std::unordered_map<std::string, int> lines;  // of a map's keys
  };

  Source source_of(const YAML::Mark& mark) const { return {whole_.file, has_lines_ ? mark.line + 1 : whole_.line}; }

  void refuse(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) const {
    if (anchor != 0) throw wrong(source_of(mark), "anchors and aliases (& and *) are not read; use ${key} instead");
    if (tag != "?" && tag != "!") {
      throw wrong(source_of(mark), "tags (!) are not read; remove it, or put text in quotes");
    }
  }

  bool expects_key() const {
    return !open_.empty() && std::holds_alternative<ConfigNode::Map>(open_.back().value) && !open_.back().key;
  }

  void start_entry(const std::string& key, const Source& source) {
    if (key == "<<") throw wrong(source, "merge keys (<<) are not read; use a defaults list or ${key} instead");
    if (key.empty()) throw wrong(source, "a key is empty; name it");
    if (key.size() > kLongestKey) {
      throw wrong(source, fmt::format("a key has {} bytes, expected at most {}; shorten it", key.size(), kLongestKey));
    }
    if (key.find('.') != std::string::npos) {
      throw wrong(source, fmt::format("the key '{}' holds a dot, expected nested keys; write them as a map", key));
    }
    const auto [known, is_new] = open_.back().lines.emplace(key, source.line);
    if (!is_new) {
      throw wrong(source, fmt::format("the key '{}' is given twice{}; remove one", key,
                                      has_lines_ ? fmt::format(", first in line {}", known->second) : ""));
    }
    open_.back().key = key;
    open_.back().key_source = source;
  }

  void start(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, YAML::EmitterStyle::value style,
             ConfigNode::Value value) {
    refuse(mark, tag, anchor);
    if (!has_lines_ && style != YAML::EmitterStyle::Flow) {
      throw wrong(whole_, "expected one value, [list] or {map}; put text in quotes");
    }
    if (expects_key()) throw wrong(source_of(mark), "a key is a list or a map, expected text; name it");
    if (open_.size() == kDeepestTree) {
      throw wrong(source_of(mark),
                  fmt::format("more than {} lists and maps are nested; flatten some of them", kDeepestTree));
    }
    open_.push_back({std::move(value), source_of(mark), std::nullopt, {}, 0, {}});
  }

  void end() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add({std::move(done.value), done.source});
  }

  void add(ConfigNode node) {
    if (open_.empty()) {
      node.set_source(whole_);
      root_ = std::move(node);
    } else if (auto* list = std::get_if<ConfigNode::List>(&open_.back().value)) {
      list->push_back(std::move(node));
    } else {
      // A value that begins below its key still has the key's place as its source.
      node.set_source(open_.back().key_source);
      std::get<ConfigNode::Map>(open_.back().value).push_back({*open_.back().key, std::move(node)});
      open_.back().key.reset();
    }
  }

  Source whole_;
  bool has_lines_;
  std::vector<Open> open_;
  std::optional<ConfigNode> root_;
};

ConfigNode parse(const std::string& text, const Source& whole, bool has_lines) {
  if (!is_utf8(text) || text.find('\0') != std::string::npos) throw wrong(whole, "not UTF-8 text; convert it");
  // Without a document's end mark, the library accepts quotes that the last line leaves open.
  const std::string marked = text.ends_with('\n') ? text + "...\n" : text;
  try {
    // Reports text that is not YAML at all. YAML::Load would compare each key of a map with all before it.
    std::istringstream checked(marked);
    NoTree no_tree;
    YAML::Parser(checked).HandleNextDocument(no_tree);
    std::istringstream stream(marked);
    YAML::Parser parser(stream);
    TreeBuilder builder(whole, has_lines);
    while (parser.HandleNextDocument(builder)) continue;
    return builder.take();
  } catch (const YAML::Exception& failure) {
    const bool is_open = is_any(failure.msg, {YAML::ErrorMsg::EOF_IN_SCALAR, YAML::ErrorMsg::DOC_IN_SCALAR});
    const std::string reason = is_open ? "a quote is not closed" : failure.msg;
    if (!has_lines)
      throw wrong(whole, fmt::format("the value is not YAML: {}; correct it, or put text in quotes", reason));
    throw setting_error("", fmt::format("{}:{}:{}: not YAML: {}; correct the file", whole.file, failure.mark.line + 1,
                                        failure.mark.column + 1, reason));
  }
}

// The readers of what is written: this program alone, or also readers of YAML 1.1, such as PyYAML.
enum class Readers { kOwn, kAll };

// YAML 1.1 takes these words, in capitals too, for booleans.
bool is_boolean_of_yaml_1_1(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return is_any(text, {"y", "n", "yes", "no", "on", "off"});
}

// Whether readers of YAML 1.1 would refuse a character or take it for a line's end: U+007F, U+2028, U+2029.
bool has_odd_character(const std::string& text) {
  return text.find('\x7f') != std::string::npos || text.find("\xe2\x80\xa8") != std::string::npos ||
         text.find("\xe2\x80\xa9") != std::string::npos;
}

// Writes text plainly if its readers take it for text.
void emit_text(YAML::Emitter& out, const std::string& text, Readers readers) {
  const bool plain_start =
      !text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) || text[0] == '_' || text[0] == '/');
  const bool plain =
      plain_start && only(text, 0, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./-") &&
      plain_scalar(text, {}).kind() == Kind::kText && (readers == Readers::kOwn || !is_boolean_of_yaml_1_1(text));
  if (!plain) out << YAML::DoubleQuoted;
  if (readers == Readers::kAll && has_odd_character(text)) out << YAML::EscapeNonAscii;
  out << text;
}

// YAML 1.1 takes 1e-08 for text, and 1.0e-08 for a number.
std::string real_for_all(double value) {
  std::string text = real_text(value);
  const size_t exponent = text.find('e');
  if (exponent != std::string::npos && text.find('.') == std::string::npos) text.insert(exponent, ".0");
  return text;
}

void emit(YAML::Emitter& out, const ConfigNode& node, Readers readers, bool with_source) {
  switch (node.kind()) {
    case Kind::kNull:
      out << YAML::Null;
      break;
    case Kind::kBoolean:
      out << node.boolean();
      break;
    case Kind::kInteger:
      out << node.integer();
      break;
    case Kind::kReal:
      out << (readers == Readers::kAll ? real_for_all(node.real()) : real_text(node.real()));
      break;
    case Kind::kText:
      emit_text(out, node.text(), readers);
      break;
    case Kind::kList:
      out << YAML::Flow << YAML::BeginSeq;
      for (const ConfigNode& element : node.list()) emit(out, element, readers, false);
      out << YAML::EndSeq;
      break;
    case Kind::kMap:
      if (node.map().empty()) out << YAML::Flow;
      out << YAML::BeginMap;
      for (const ConfigNode::Entry& entry : node.map()) {
        out << YAML::Key;
        emit_text(out, entry.key, readers);
        out << YAML::Value;
        emit(out, entry.value, readers, with_source);
      }
      out << YAML::EndMap;
      break;
  }
  const bool is_leaf = node.kind() != Kind::kMap || node.map().empty();
  if (!with_source || !is_leaf) return;
  const std::string source = node.source().text();
  out << YAML::Comment(one_line(source, source.size()));
}

}  // namespace

ConfigNode parse_yaml(const std::string& text, const std::string& file) { return parse(text, {file, 0}, true); }

ConfigNode parse_value(const std::string& text, const Source& source) {
  if (text.empty()) throw wrong(source, "the value is missing; write null or '' for none");
  if (std::string_view("[{\"'").find(text.front()) != std::string_view::npos) return parse(text, source, false);
  return plain_scalar(text, source);
}

ConfigNode plain_scalar(const std::string& text, const Source& source) {
  if (is_any(text, {"", "~", "null", "Null", "NULL"})) return {{}, source};
  if (is_any(text, {"true", "True", "TRUE"})) return {true, source};
  if (is_any(text, {"false", "False", "FALSE"})) return {false, source};
  const std::string_view view = text;
  const size_t sign = text[0] == '-' || text[0] == '+' ? 1 : 0;
  if (only(text, sign, "0123456789")) return integer_node(text, view.substr(text[0] == '+' ? 1 : 0), 10, source);
  if (text.starts_with("0x") && only(text, 2, "0123456789abcdefABCDEF")) {
    return integer_node(text, view.substr(2), 16, source);
  }
  if (text.starts_with("0o") && only(text, 2, "01234567")) return integer_node(text, view.substr(2), 8, source);
  const std::string unsigned_text = text.substr(sign);
  if (is_any(unsigned_text, {".inf", ".Inf", ".INF"}) || is_any(text, {".nan", ".NaN", ".NAN"})) {
    throw wrong(source, fmt::format("the real {} is not finite; use a finite one, or quotes for text", text));
  }
  if (is_real(text)) {
    const std::optional<double> value = real_of(text.substr(text[0] == '+' ? 1 : 0));
    if (!value) {
      throw wrong(source, fmt::format("the real {} does not fit 64 bits; use another, or quotes for text", text));
    }
    return {*value, source};
  }
  return text_node(text, source);
}

std::string to_yaml(const ConfigNode& node, bool with_sources) {
  YAML::Emitter out;
  out.SetNullFormat(YAML::LowerNull);
  emit(out, node, Readers::kAll, with_sources);
  return std::string(out.c_str(), out.size()) + "\n";
}

std::string to_line(const ConfigNode& node) {
  YAML::Emitter out;
  out.SetNullFormat(YAML::LowerNull);
  out.SetMapFormat(YAML::Flow);
  emit(out, node, Readers::kOwn, false);
  return {out.c_str(), out.size()};
}

}  // namespace eggroll
