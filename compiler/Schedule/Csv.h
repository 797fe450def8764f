//===- Csv.h - schedules in torch.distributed.pipelining's form -*- C++ -*-===//
//
// A row for each rank, a cell for each action, no header: `<stage><kind><microbatch>`, nothing in
// the cell of a bubble. Kinds are F, I (input gradient), W, B (whole backward), SEND_F, RECV_F,
// SEND_B, RECV_B, UNSHARD, RESHARD, REDUCE_GRAD, and `(0F7;7B3)OVERLAP_F_B` of two at a time. A
// file without messages ("compute_only") gets them, one with messages ("compute_comms") must have
// all. Files of torch up to 2.5 call the input gradient B and the whole backward BW; where that
// could be meant the file is refused.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_SCHEDULE_CSV_H
#define WEFT_COMPILER_SCHEDULE_CSV_H

#include "compiler/Schedule/Schedule.h"
#include <istream>
#include <ostream>

namespace weft::schedule {

/// Reads a schedule and adds messages if there are none. Not checked (checkSchedule). Throws
/// ScheduleError naming row, cell and text.
Schedule readCsv(std::istream &in, const std::string &name);

/// Writes the computations ("compute_only"): torch adds the messages itself. Recomputation and
/// updates have no form there and are left out. Throws ScheduleError for schedules that it cannot
/// hold: token slices, and two copies of a stage.
void writeCsv(std::ostream &out, const Schedule &schedule);

} // namespace weft::schedule

#endif // WEFT_COMPILER_SCHEDULE_CSV_H
