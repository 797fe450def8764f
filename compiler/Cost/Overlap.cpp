#include "compiler/Cost/Overlap.h"

#include <algorithm>

using namespace weft;

double weft::getExposedSeconds(double communication, double compute,
                               const CostConstants &constants) {
  if (communication <= 0)
    return 0;
  double slowed = compute / (1 - constants.overlapLoss);
  if (communication >= slowed)
    return communication - compute;
  return std::min(communication, communication * constants.overlapLoss);
}
