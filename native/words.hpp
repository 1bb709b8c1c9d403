// Enumerations whose words callers and Python know. A list of rows, `row(name, ...)`, makes the enumeration and its
// words in the order of its numbers: the names, or where these are spelled otherwise the second of a row. Python reads
// them (`tenter._native.WORDS`).
#pragma once
namespace tenter {

struct Words {
  const char* const* word;
  int count;
  constexpr bool has(int number) const { return number >= 0 && number < count; }
};

#define TENTER_NAME(name, ...) name,
#define TENTER_WORD(name, ...) #name,
#define TENTER_WORDS(of, ROWS)                                    \
  inline constexpr const char* of##_word[] = {ROWS(TENTER_WORD)}; \
  inline constexpr Words of##_words = {of##_word, int(sizeof of##_word / sizeof *of##_word)};
#define TENTER_ENUM(E, of, ROWS)            \
  enum class E : int { ROWS(TENTER_NAME) }; \
  TENTER_WORDS(of, ROWS)
#define TENTER_SPELLED(name, word, ...) word,
#define TENTER_ENUM_SPELLED(E, of, ROWS)                             \
  enum class E : int { ROWS(TENTER_NAME) };                          \
  inline constexpr const char* of##_word[] = {ROWS(TENTER_SPELLED)}; \
  inline constexpr Words of##_words = {of##_word, int(sizeof of##_word / sizeof *of##_word)};

}  // namespace tenter
