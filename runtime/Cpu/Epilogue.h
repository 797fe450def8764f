//===- Epilogue.h - kernels behind pieces of a library's result -*- C++ -*-===//
//
// A generated kernel makes the elements of a result anew where they lie. Whoever computes the
// result in pieces, on several threads, has the kernel run over each piece while it is in the
// core's cache:
//
//   pieces    |---------------|---------------|---------------|
//   tiles     |----|----|----|----|----|----|----|----|----|----|
//
// The tiles that a piece does not hold wholly are left until all pieces are there.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CPU_EPILOGUE_H
#define WEFT_RUNTIME_CPU_EPILOGUE_H

#include "runtime/Cpu/Action.h"
#include "runtime/Cpu/Kernels.h"

namespace weft::runtime {

class Epilogue {
public:
  /// An Error of kind BadInput where the tiles are not those of `output`'s memory.
  Epilogue(EpilogueCall call, const View &output);

  void initialise(const KernelLibrary &kernels) { kernel = kernels.find(call.launch.kernel); }
  /// Where operands lie from here on.
  void setBases(const Bases &bases);

  /// Runs the tiles that lie in the elements [begin, end) of the output's memory.
  void run(int64_t begin, int64_t end) const;
  /// Runs the tiles that no piece holds, of pieces that end at `ends` (ascending).
  void runCut(const std::vector<int64_t> &ends) const;
  /// Runs all tiles.
  void runAll(ThreadPool &pool) const;

private:
  int64_t countTilesIn(int64_t elements) const;
  int64_t countTilesFrom(int64_t elements) const;
  void runTiles(int64_t lo, int64_t hi) const;

  EpilogueCall call;
  int64_t tilesInRow;
  Kernel kernel = nullptr;
  std::vector<void *> addresses;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CPU_EPILOGUE_H
