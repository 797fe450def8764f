//===- FactorDims.h - which dimensions a factor makes -----------*- C++ -*-===//

#ifndef WEFT_COMPILER_SHARDING_FACTORDIMS_H
#define WEFT_COMPILER_SHARDING_FACTORDIMS_H

#include "compiler/Sharding/ShardingGraph.h"

namespace weft {

/// The first factor of a dimension that is larger than 1; ShardingGraph::none if there is none.
unsigned leadingFactor(const FactorRule &rule, const DimFactors &dim);

/// The dimension of the tensor that the factor leads; none if there is none.
std::optional<unsigned> dimLedBy(const FactorRule &rule, const TensorFactors &tensor,
                                 unsigned factor);

/// Whether any dimension of the tensor has the factor.
bool hasFactor(const TensorFactors &tensor, unsigned factor);

} // namespace weft

#endif // WEFT_COMPILER_SHARDING_FACTORDIMS_H
