"""Pages are short: what is said twice stands once, and raw tables are data files."""

from __future__ import annotations

from roots import DOCS, ROOT

MOST, MOST_OF_A_PAGE = 45_000, 900
#: lists to look things up in, which may be longer
REFERENCES = ("file-formats", "command-line", "coming-from", "conventions", "differences", "installing")


def words(text: str) -> int:
    """Without the rules of tables."""
    return sum(bool(set(word) - set("|-:")) for word in text.split())


COUNTED = {p.relative_to(DOCS).with_suffix("").as_posix(): words(p.read_text()) for p in sorted(DOCS.rglob("*.md"))}


def test_a_page_is_read_in_a_few_minutes() -> None:
    long = {name: n for name, n in COUNTED.items() if n > MOST_OF_A_PAGE}
    assert {
        name for name in long if name not in REFERENCES and not name.startswith(("operations/", "reference/"))
    } == set()


def test_all_pages_have_at_most_so_many_words() -> None:
    assert sum(COUNTED.values()) <= MOST


def test_words_are_counted_without_the_rules_of_tables() -> None:
    assert words("| a | b c |\n| --- | ---: |\n| d-e | - |") == 4


def test_the_readme_is_read_in_three_minutes() -> None:
    assert words((ROOT / "README.md").read_text()) <= 600
