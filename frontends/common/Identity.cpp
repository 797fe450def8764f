#include "frontends/common/Identity.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace weft;

double weft::frontend::identityOf(ReduceKind kind, Type element) {
  if (kind == ReduceKind::Sum || kind == ReduceKind::Prod)
    return kind == ReduceKind::Sum ? 0 : 1;
  bool isMax = kind == ReduceKind::Max;
  if (isa<FloatType>(element))
    return isMax ? -std::numeric_limits<double>::infinity()
                 : std::numeric_limits<double>::infinity();
  unsigned width = element.getIntOrFloatBitWidth();
  if (width == 1)
    return isMax ? 0 : 1;
  if (element.isUnsignedInteger())
    return isMax ? 0 : std::ldexp(1.0, int(width)) - 1;
  double bound = std::ldexp(1.0, int(width) - 1);
  return isMax ? -bound : bound - 1;
}
