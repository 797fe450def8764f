//===- Csv.h - cells of the tables ------------------------------*- C++ -*-===//

#ifndef WEFT_COMPILER_VALIDATE_CSV_H
#define WEFT_COMPILER_VALIDATE_CSV_H

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::validate {

/// Cells without quotes and spaces in front.
std::vector<std::string> splitLine(std::string line);

template <typename Number> Number parseNumber(const std::string &text) {
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::runtime_error(fmt::format("expected a number, got: '{}'", text));
  return value;
}

/// Sets a field of a row from the text of its cell, or throws what is wrong with it.
template <typename Row>
using Setters = std::map<std::string, std::function<void(Row &, const std::string &)>>;

/// Reads the rows of a table whose first line names its columns. Columns without a setter and empty
/// cells are passed over. `start` makes a row of the columns, `check` refuses one. Errors name
/// file, line and column.
template <typename Row, typename Start, typename Check>
std::vector<Row> readRows(const std::string &path, const Setters<Row> &setters, Start start,
                          Check check) {
  std::ifstream file(path);
  std::string line;
  if (!file)
    throw std::runtime_error("cannot read " + path + ": " + std::strerror(errno));
  if (!std::getline(file, line))
    throw std::runtime_error(path + ": expected a line that names the columns, got: nothing");
  std::vector<std::string> columns = splitLine(line);
  for (auto column = columns.begin(); column != columns.end(); ++column)
    if (setters.contains(*column) && std::find(columns.begin(), column, *column) != column)
      throw std::runtime_error(fmt::format("{}:1: column '{}' is there twice", path, *column));
  std::vector<Row> rows;
  for (int number = 2; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \r") == std::string::npos)
      continue;
    try {
      std::vector<std::string> cells = splitLine(line);
      if (cells.size() != columns.size())
        throw std::runtime_error(
            fmt::format("expected {} cells, got: {}", columns.size(), cells.size()));
      Row row = start(columns);
      row.line = number;
      for (size_t i = 0; i < columns.size(); ++i)
        if (auto setter = setters.find(columns[i]); setter != setters.end() && !cells[i].empty()) {
          try {
            setter->second(row, cells[i]);
          } catch (const std::runtime_error &error) {
            throw std::runtime_error(fmt::format("column '{}': {}", columns[i], error.what()));
          }
        }
      check(row);
      rows.push_back(std::move(row));
    } catch (const std::runtime_error &error) {
      throw std::runtime_error(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  return rows;
}

} // namespace weft::validate

#endif // WEFT_COMPILER_VALIDATE_CSV_H
