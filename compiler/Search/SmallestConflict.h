//===- SmallestConflict.h - which of many demands exclude each other ------===//

#ifndef WEFT_COMPILER_SEARCH_SMALLESTCONFLICT_H
#define WEFT_COMPILER_SEARCH_SMALLESTCONFLICT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>
#include <vector>

namespace weft {

/// Of `count` demands, by number and in order, some that cannot all be met, of which none can be
/// left out: without any one of them the others can be met. `canMeet` tells whether demands can,
/// given by number in order, and of fewer demands whenever of more. Empty where all can be met;
/// none where nothing can be done even without any.
///
/// QuickXplain (Junker, "Preferred explanations and relaxations for over-constrained problems",
/// AAAI 2004): of n demands a conflict of k is found in O(k · log(n / k) + k) questions. Of several
/// conflicts it is one whose demands come early.
std::optional<std::vector<size_t>>
findSmallestConflict(size_t count, llvm::function_ref<bool(llvm::ArrayRef<size_t>)> canMeet);

} // namespace weft

#endif // WEFT_COMPILER_SEARCH_SMALLESTCONFLICT_H
