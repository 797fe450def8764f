#include "compiler/Search/Slice/SliceTable.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <string_view>

using namespace weft::slice;

namespace {

enum Column { Length, Context, Forward, Backward, Batch };
constexpr int numColumns = 5;
constexpr std::array<const char *, numColumns> columnNames = {"length", "context", "forward_s",
                                                              "backward_s", "batch"};

struct Row {
  int64_t length = 0, context = 0, batch = 1;
  double forward = 0, backward = 0;
  int line = 0;
};

class Reader {
public:
  SliceTable read(std::istream &in);

private:
  [[noreturn]] void fail(const std::string &what) const {
    throw TableError(fmt::format("line {}: {}", line, what));
  }
  std::vector<std::string_view> split(std::string_view text) const;
  void readHeader(std::string_view text);
  void readRow(std::string_view text);
  int64_t parseCount(std::string_view cell, Column column, int64_t least) const;
  double parseSeconds(std::string_view cell, Column column) const;
  void measure();
  void fill(BatchTimes &times, const std::vector<Row> &rows) const;
  [[noreturn]] void refuseGap(int64_t batch, const std::vector<Row> &rows) const;

  int line = 0;
  std::vector<int> columns;                 ///< of each cell of a line
  std::map<int64_t, std::vector<Row>> rows; ///< by number of sequences
  SliceTable table;
};

std::string_view trim(std::string_view text) {
  size_t begin = text.find_first_not_of(" \t\r\"");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\"") - begin + 1);
}

std::vector<std::string_view> Reader::split(std::string_view text) const {
  std::vector<std::string_view> cells;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    cells.push_back(trim(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return cells;
}

void Reader::readHeader(std::string_view text) {
  std::array<bool, numColumns> seen{};
  for (std::string_view name : split(text)) {
    auto found = std::find(columnNames.begin(), columnNames.end(), name);
    if (found == columnNames.end())
      fail(fmt::format("no column '{}'; known are {}, {}, {}, {} and {}", name, columnNames[0],
                       columnNames[1], columnNames[2], columnNames[3], columnNames[4]));
    auto column = static_cast<int>(found - columnNames.begin());
    if (seen[column])
      fail(fmt::format("column '{}' is there twice", name));
    seen[column] = true;
    columns.push_back(column);
  }
  for (int column = 0; column < Batch; ++column)
    if (!seen[column])
      fail(fmt::format("column '{}' is missing", columnNames[column]));
}

int64_t Reader::parseCount(std::string_view cell, Column column, int64_t least) const {
  int64_t value = 0;
  auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size())
    fail(fmt::format("column '{}': expected a whole number, got: '{}'", columnNames[column], cell));
  if (value < least || value > std::numeric_limits<int32_t>::max())
    fail(fmt::format("column '{}': expected a number from {} on, got: {}", columnNames[column],
                     least, value));
  return value;
}

double Reader::parseSeconds(std::string_view cell, Column column) const {
  double value = 0;
  auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value))
    fail(fmt::format("column '{}': expected seconds, got: '{}'", columnNames[column], cell));
  if (value < 0)
    fail(fmt::format("column '{}': expected seconds of at least 0, got: {}", columnNames[column],
                     cell));
  return value;
}

void Reader::readRow(std::string_view text) {
  std::vector<std::string_view> cells = split(text);
  if (cells.size() != columns.size())
    fail(fmt::format("expected {} cells, got: {}", columns.size(), cells.size()));
  Row row;
  row.line = line;
  for (size_t i = 0; i < cells.size(); ++i)
    switch (columns[i]) {
    case Length:
      row.length = parseCount(cells[i], Length, 1);
      break;
    case Context:
      row.context = parseCount(cells[i], Context, 0);
      break;
    case Forward:
      row.forward = parseSeconds(cells[i], Forward);
      break;
    case Backward:
      row.backward = parseSeconds(cells[i], Backward);
      break;
    case Batch:
      row.batch = parseCount(cells[i], Batch, 1);
      break;
    }
  rows[row.batch].push_back(row);
}

/// Granularity and length of the sequence.
void Reader::measure() {
  int64_t divisor = 0, tokens = 0;
  for (const auto &[batch, list] : rows)
    for (const Row &row : list) {
      divisor = std::gcd(divisor, std::gcd(row.length, row.context));
      tokens = std::max(tokens, row.length + row.context);
    }
  if (divisor == 0)
    throw TableError("the table has no rows");
  table.granularity = divisor;
  table.units = tokens / divisor;
}

/// Names the first slice that is not there.
void Reader::refuseGap(int64_t batch, const std::vector<Row> &list) const {
  std::vector<std::pair<int64_t, int64_t>> seen;
  for (const Row &row : list)
    seen.emplace_back((row.length + row.context) / table.granularity,
                      row.context / table.granularity);
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  std::pair<int64_t, int64_t> expected{1, 0}; // end and context
  for (const auto &there : seen) {
    if (there != expected)
      break;
    if (++expected.second == expected.first)
      expected = {expected.first + 1, 0};
  }
  throw TableError(fmt::format(
      "no row of length {}, context {}{}: a sequence of {} tokens in units of {} needs all slices",
      (expected.first - expected.second) * table.granularity, expected.second * table.granularity,
      rows.size() > 1 ? fmt::format(", batch {}", batch) : "", table.units * table.granularity,
      table.granularity));
}

void Reader::fill(BatchTimes &times, const std::vector<Row> &list) const {
  auto slices = static_cast<double>(table.units) * static_cast<double>(table.units + 1) / 2;
  if (static_cast<double>(list.size()) < slices)
    refuseGap(times.batch, list);
  auto size = static_cast<size_t>(slices);
  std::vector<int> lines(size);
  times.forward.resize(size);
  times.backward.resize(size);
  for (const Row &row : list) {
    size_t index = BatchTimes::getIndex((row.length + row.context) / table.granularity,
                                        row.context / table.granularity);
    if (lines[index] != 0)
      throw TableError(fmt::format("line {}: length {}, context {} is there twice, in line {} too",
                                   row.line, row.length, row.context, lines[index]));
    lines[index] = row.line;
    times.forward[index] = row.forward;
    times.backward[index] = row.backward;
  }
}

SliceTable Reader::read(std::istream &in) {
  std::string text;
  while (std::getline(in, text)) {
    ++line;
    if (trim(text).empty())
      continue;
    if (columns.empty())
      readHeader(text);
    else
      readRow(text);
  }
  if (columns.empty())
    throw TableError("the table has no header");
  measure();
  for (const auto &[batch, list] : rows) {
    table.batches.push_back({batch, {}, {}});
    fill(table.batches.back(), list);
  }
  return std::move(table);
}

} // namespace

SliceTable weft::slice::readSliceTable(std::istream &in) { return Reader().read(in); }
