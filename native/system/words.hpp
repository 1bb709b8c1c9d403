// Enumerations whose words are part of Python's interface. A list of rows, `row(name, ...)`, defines the enumeration
// and a table of its words, in the order of its numbers. The word is the row's name, or the second entry of the row if
// it is spelled differently (TENTER_ENUM_SPELLED). Python reads the tables as `tenter._native.WORDS`.
#pragma once

namespace tenter {

struct Words {
  const char* const* word;
  int count;
};

#define TENTER_NAME(name, ...) name,
#define TENTER_WORD(name, ...) #name,
#define TENTER_SPELLED(name, word, ...) word,
#define TENTER_FLAG(name, flag) flag,  // for tables whose rows have a flag after the name
#define TENTER_WORDS(of, ROWS, CELL)                       \
  inline constexpr const char* of##_word[] = {ROWS(CELL)}; \
  inline constexpr Words of##_words = {of##_word, int(sizeof of##_word / sizeof *of##_word)};
#define TENTER_ENUM(E, of, ROWS)            \
  enum class E : int { ROWS(TENTER_NAME) }; \
  TENTER_WORDS(of, ROWS, TENTER_WORD)
#define TENTER_ENUM_SPELLED(E, of, ROWS)    \
  enum class E : int { ROWS(TENTER_NAME) }; \
  TENTER_WORDS(of, ROWS, TENTER_SPELLED)

}  // namespace tenter
