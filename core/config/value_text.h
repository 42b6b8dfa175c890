// Splits the text of an override's value into its parts: calls, and elements between commas.
#ifndef EGGROLL_CONFIG_VALUE_TEXT_H
#define EGGROLL_CONFIG_VALUE_TEXT_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eggroll {

// The length of the word at the text's start: letters, digits and '_', not a digit first.
size_t word_length(std::string_view text);

// Whether the text is a word and an open parenthesis after it.
bool is_call(std::string_view text);

// The element, which must be no call, as YAML writes it: with a blank after the colon of every key of a map.
std::string as_yaml(std::string_view text);

// The end of the first element of the text, perhaps after a word and =: a comma, or the text's end. closed: the length
// of the element's call with its parentheses, or nothing if it is no call or a parenthesis stays open.
size_t element_length(std::string_view text, std::optional<size_t>* closed = nullptr);

// The elements, without blanks around them.
std::vector<std::string> split_elements(std::string_view text);

}  // namespace eggroll

#endif
