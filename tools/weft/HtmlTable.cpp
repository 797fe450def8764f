#include "tools/weft/HtmlTable.h"

#include "llvm/Support/JSON.h"

#include <fmt/format.h>

using namespace weft::tool;

std::string weft::tool::escapeHtml(const std::string &text) {
  std::string escaped;
  for (char letter : llvm::json::isUTF8(text) ? text : llvm::json::fixUTF8(text))
    switch (letter) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    case '\'':
      escaped += "&#39;";
      break;
    default:
      escaped += letter;
    }
  return escaped;
}

static std::string makeCell(const char *tag, const HtmlTable::Cell &cell) {
  std::string kind = cell.kind.empty() ? "" : " class=" + cell.kind;
  return fmt::format("<{0}{1}>{2}</{0}>", tag, kind, cell.html);
}

void HtmlTable::add(const std::vector<Cell> &row) {
  rows += "<tr>";
  for (const Cell &cell : row) {
    rows += makeCell("td", cell);
    if (kinds.size() < row.size())
      kinds.push_back(cell.kind);
  }
  rows += "</tr>\n";
}

std::string HtmlTable::str() const {
  std::string text = "<table>\n<tr>";
  for (size_t i = 0; i < titles.size(); ++i)
    text += makeCell("th", {titles[i], i < kinds.size() ? kinds[i] : ""});
  return text + "</tr>\n" + rows + "</table>\n";
}
