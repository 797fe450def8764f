//===- States.h - states in files -------------------------------*- C++ -*-===//
//
// States (weights that the step changes) as whole tensors under their names in a .safetensors file:
// every rank reads and writes its blocks alone; of equal blocks the first rank's is written.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_EXECUTOR_STATES_H
#define WEFT_RUNTIME_EXECUTOR_STATES_H

#include "runtime/Collective/Transport.h"
#include "runtime/Executor/Ports.h"
#include "runtime/Executor/Weights.h"
#include "runtime/Io/SafeTensors.h"

namespace weft::runtime {

class States {
public:
  States(const Executable &executable, const Position &position);

  /// Checks that a file holds all states of the executable and nothing else, each of its dtype and
  /// shape; kind BadInput.
  void check(const std::string &path);
  /// Gives this rank's blocks the values of a file that was checked.
  void read(const std::string &path, const PortAccess &access);
  /// Writes a file at once; called by every rank.
  void write(const std::string &path, Transport &transport, const PortAccess &access);

private:
  std::vector<char> chooseWriters(Transport &transport) const;

  std::vector<const program::Weight *> weights;       ///< that are states, of any rank
  std::vector<std::pair<size_t, PlacedBlock>> blocks; ///< of this rank, with the state's number
  std::vector<SafeTensor> found;                      ///< of the checked file, one a state
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_STATES_H
