//===- TrainingArguments.h - options of training steps ----------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_TRAININGARGUMENTS_H
#define WEFT_TOOLS_WEFT_TRAININGARGUMENTS_H

#include "driver/Training.h"
#include "tools/weft/Command.h"

namespace weft::tool {

/// Adds --train and what is said with it. They exclude `plan`, where there is such an option.
void addTrainingOptions(CLI::App &command, TrainingOptions &options, CLI::Option *plan);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_TRAININGARGUMENTS_H
