// Enumerations whose words callers and Python know. A list of rows, `row(name, ...)`, makes the enumeration and its
// words in the order of its numbers: the names, or where these are spelled otherwise the second of a row. Python reads
// them (`tenter._native.WORDS`).
#pragma once

namespace tenter {

struct Words {
  const char* const* word;
  int count;
};

#define TENTER_NAME(name, ...) name,
#define TENTER_WORD(name, ...) #name,
#define TENTER_SPELLED(name, word, ...) word,
#define TENTER_FLAG(name, flag) flag,  // of tables whose rows have one after the name
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
