//===- HtmlTable.h - tables for a browser -----------------------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_HTMLTABLE_H
#define WEFT_TOOLS_WEFT_HTMLTABLE_H

#include <string>
#include <vector>

namespace weft::tool {

/// Text as HTML shows it: &, <, > and quotes stand for themselves; bytes that are no UTF-8 are
/// replaced.
std::string escapeHtml(const std::string &text);

class HtmlTable {
public:
  struct Cell {
    Cell(std::string html, std::string kind = "") : html(std::move(html)), kind(std::move(kind)) {}
    Cell(const char *html) : html(html) {}

    std::string html; ///< escaped already
    std::string kind; ///< a class of the page's style
  };

  /// Titles of the columns, as HTML.
  explicit HtmlTable(std::vector<std::string> titles) : titles(std::move(titles)) {}

  static Cell number(std::string text) { return {std::move(text), "number"}; }
  static Cell wide(std::string html) { return {std::move(html), "bars"}; }

  void add(const std::vector<Cell> &row);
  std::string str() const;

private:
  std::vector<std::string> titles;
  std::vector<std::string> kinds; ///< of the columns, as in the first row
  std::string rows;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_HTMLTABLE_H
