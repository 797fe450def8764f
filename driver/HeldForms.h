//===- HeldForms.h - how values and weights lie -----------------*- C++ -*-===//

#ifndef WEFT_DRIVER_HELDFORMS_H
#define WEFT_DRIVER_HELDFORMS_H

#include "compiler/Sharding/OperationSplit.h"
#include "compiler/Sharding/PlannedModule.h"

namespace weft {

/// How a tensor lies: as is decided or follows by propagation; a weight that each operation reads
/// as it wants it as the first one does that does not read it whole, also through views.
TensorSharding getHeldForm(const PlannedPart &part, unsigned tensor);

/// How an operation is split: as the plan says, else as follows from its operands and results.
OperationSplit getSplitOf(const PlannedPart &part, unsigned node);

/// What blocks of one kind hold, and how: names are those of the first block, without what all of
/// them begin with.
struct BlockSplits {
  struct Group {
    std::string sharding;
    std::vector<std::string> names;
  };
  std::string name; ///< what the names of the first block begin with, else of what it makes
  int64_t count = 0;
  int64_t parameters = 0; ///< elements, of one block
  std::vector<Group> weights;
  std::string result, resultSharding; ///< what it hands on
};

/// The distinct blocks of a part (compiler/Graph/Blocks.h), in order of their first.
std::vector<BlockSplits> listBlocks(const PlannedPart &part);

/// The same of all parts.
std::vector<BlockSplits> listBlocks(const PlannedModule &planned);

/// What an axis splits of parts on the same devices, in words: "the batch", "98 % of the weights".
std::vector<std::string> describeUse(llvm::ArrayRef<const PlannedPart *> parts, unsigned axis);

} // namespace weft

#endif // WEFT_DRIVER_HELDFORMS_H
