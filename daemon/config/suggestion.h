// What somebody who misspelt a word may have meant.
#pragma once

#include <span>
#include <string_view>

namespace spindled {

/// How many letters have to be put in, taken out, replaced, or swapped with the next to make `b` of `a`.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Of `known` the word nearest to `word`; empty where none is near enough to be meant.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

}  // namespace spindled
