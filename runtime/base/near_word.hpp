// Guesses for misspelt words: "did you mean 'weight'?" for options, commands and settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fairgv {

/// The known word that is nearest to a mistyped one; empty if none is near. A word that begins with the
/// mistyped one (of three letters or more) is nearer than any other; else at most a third of the letters, and
/// at least one, may have to be put in, taken out, exchanged or swapped with its neighbour.
std::string near_word(std::string_view mistyped, const std::vector<std::string>& known);

/// "did you mean 'WORD'? " with a space behind it, or nothing if no known word is near.
std::string did_you_mean(std::string_view mistyped, const std::vector<std::string>& known);

/// The part of a message after "there is no policy 'fiar'": "did you mean 'fair'? there are fair, fifo" of
/// the list "fair, fifo".
std::string guess_and_list(std::string_view mistyped, const std::string& list);

}  // namespace fairgv
