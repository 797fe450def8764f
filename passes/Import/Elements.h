//===- Elements.h - where elements come from --------------------*- C++ -*-===//
//
// Follows an element of a value back through views, parts and negations to where it was computed.
// Along most dimensions it stands for all positions at once, so that few elements tell of a whole
// value.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_IMPORT_ELEMENTS_H
#define WEFT_PASSES_IMPORT_ELEMENTS_H

#include "passes/Import/Match.h"
#include "passes/Import/ViewMap.h"

namespace weft {

/// A position along a dimension: a number, or as far as along dimension `dim` of where the search
/// began.
struct Coordinate {
  int64_t dim = -1;
  int64_t index = 0;
  bool isNumber() const { return dim < 0; }
  bool operator==(const Coordinate &other) const = default;
};
using Coordinates = llvm::SmallVector<Coordinate, 6>;

/// An element of a value, or that negated.
struct Element {
  mlir::Value value;
  Coordinates at;
  bool negated = false;
  bool operator==(const Element &other) const = default;
};

/// The elements `index` of all rows of a value of this shape.
Coordinates inRows(llvm::ArrayRef<int64_t> shape, int64_t index);

/// The coordinates in a view's operand; none where it splits or joins what is not a number.
std::optional<Coordinates> throughView(const ViewMap &map, llvm::ArrayRef<Coordinate> at);

/// Where an element comes from; concatenations and negations on the way go to `matched`.
Element trace(Element element, MatchedOps &matched);

} // namespace weft

#endif // WEFT_PASSES_IMPORT_ELEMENTS_H
