//===- Agree.h - failing together -------------------------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_EXECUTOR_AGREE_H
#define WEFT_RUNTIME_EXECUTOR_AGREE_H

#include "runtime/Collective/Collectives.h"
#include "runtime/Support/Error.h"

#include <functional>

namespace weft::runtime {

/// An Error that every rank throws, so that none waits for another; one of them, rank 0, tells the
/// user.
class AgreedError : public Error {
public:
  AgreedError(ErrorKind kind, const std::string &message, bool reports)
      : Error(kind, message), reports(reports) {}

  bool reportsToUser() const { return reports; }

private:
  bool reports;
};

/// Does `work` on every rank and waits for all: where it failed anywhere, every rank throws the
/// Error of the first one that failed, with its rank named. A failure of the transport itself is
/// thrown as it is.
void agree(Transport &transport, const std::function<void()> &work);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_EXECUTOR_AGREE_H
