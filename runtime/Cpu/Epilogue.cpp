#include "runtime/Cpu/Epilogue.h"

#include "runtime/Support/Error.h"

#include <algorithm>

namespace weft::runtime {

/// Bytes of a result that are worth waking a thread for.
static constexpr int64_t minThreadBytes = 1 << 16;

Epilogue::Epilogue(EpilogueCall given, const View &output) : call(std::move(given)) {
  int64_t elements = output.getNumElements();
  if (call.tile < 1 || call.row < call.tile || elements % call.row != 0 ||
      call.launch.operands.empty())
    throwBadInput("an epilogue of {} elements in {} does not fit an output of {}", call.tile,
                  call.row, elements);
  tilesInRow = (call.row - 1) / call.tile + 1;
  if (call.launch.tiles != elements / call.row * tilesInRow)
    throwBadInput("an epilogue of {} tiles does not fit an output of {}", call.launch.tiles,
                  elements);
  addresses.resize(call.launch.operands.size());
}

void Epilogue::setBases(const Bases &bases) {
  for (size_t i = 0; i < addresses.size(); ++i)
    addresses[i] = call.launch.operands[i].getAddress(bases);
}

/// Tiles that end within the first elements.
int64_t Epilogue::countTilesIn(int64_t elements) const {
  return elements / call.row * tilesInRow + elements % call.row / call.tile;
}

/// Tiles that begin within the first elements.
int64_t Epilogue::countTilesFrom(int64_t elements) const {
  return elements / call.row * tilesInRow + (elements % call.row + call.tile - 1) / call.tile;
}

void Epilogue::runTiles(int64_t lo, int64_t hi) const {
  int64_t error[3] = {0, 0, 0};
  if (lo < hi && kernel(addresses.data(), call.launch.params.data(), lo, hi, error) != 0)
    throwFailure("kernel '{}' failed behind a library's call", call.launch.kernel);
}

void Epilogue::run(int64_t begin, int64_t end) const {
  runTiles(countTilesFrom(begin), countTilesIn(end));
}

void Epilogue::runCut(const std::vector<int64_t> &ends) const {
  int64_t done = 0; // tiles before this one are
  for (int64_t end : ends) {
    int64_t behind = countTilesFrom(end);
    runTiles(std::max(done, countTilesIn(end)), behind);
    done = behind;
  }
}

void Epilogue::runAll(ThreadPool &pool) const {
  int64_t bytes = call.tile * getElementSize(call.launch.operands.back().dtype);
  int64_t grain = std::max<int64_t>(1, minThreadBytes / std::max<int64_t>(1, bytes));
  pool.parallelFor(call.launch.tiles, grain, [&](int64_t lo, int64_t hi) { runTiles(lo, hi); });
}

} // namespace weft::runtime
