//===- WorkSeconds.h - what an instruction's seconds are due to -*- C++ -*-===//

#ifndef WEFT_COMPILER_COST_WORKSECONDS_H
#define WEFT_COMPILER_COST_WORKSECONDS_H

namespace weft {

/// Seconds of one instruction on one device, part by part from the physical floor upwards; together
/// what it takes (getInstructionSeconds).
struct WorkSeconds {
  double arithmetic = 0; ///< of products, at the stated peak of the element type
  double traffic = 0;    ///< that its bytes take beyond that, at the stated bandwidth
  double kernel = 0;     ///< that the kernel takes beyond both: tiles, waves, rates seen
  double launch = 0;     ///< to start it
};

} // namespace weft

#endif // WEFT_COMPILER_COST_WORKSECONDS_H
