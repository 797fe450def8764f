#include "compiler/Validate/Csv.h"

std::vector<std::string> weft::validate::splitLine(std::string line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n'))
    line.pop_back();
  std::vector<std::string> cells(1);
  for (char letter : line)
    if (letter == ',')
      cells.emplace_back();
    else if (letter != '"' && (letter != ' ' || !cells.back().empty()))
      cells.back() += letter;
  return cells;
}
