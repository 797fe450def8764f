//===- NcclConnections.h - NCCL's communicators of a rank -------*- C++ -*-===//
//
// NCCL does the work of a communicator in the order in which it was issued, which must be the same
// on all its ranks, and its messages have no tags. So what may overtake each other has
// communicators of its own:
//
//   collectives of a group on the command's stream   one a group
//   asynchronous ones                                one a group and lane
//   messages                                         one for a sender, a receiver and a tag
//
// They are made together, when the first command is initialised: by then every rank has asked for
// all that its program needs. Making one waits for all its ranks. Ranks ask for different ones in
// different orders, so they are made in the order of their uses, which is the same everywhere:
//
//   rank 0 asks for {0, 1} tag 2, {0, 1} tag 1    and makes tag 1, tag 2
//   rank 1 asks for {1, 2} tag 1, {0, 1} tag 1, {0, 1} tag 2
//                                                 and makes {0, 1} tag 1, tag 2, {1, 2} tag 1
//
// The first rank of each makes its id, which the transport carries to the others.
//
// Failure. No call waits within NCCL: it says that it is in progress, and is asked again until it
// is not, or the run is aborted. What fails while work is under way (a link, a peer) a thread finds
// out, which aborts the run: whoever waits for the device hears of that. No thread is within NCCL
// when communicators are aborted.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_CUDA_NCCLCONNECTIONS_H
#define WEFT_RUNTIME_CUDA_NCCLCONNECTIONS_H

#include "runtime/Collective/Transport.h"
#include "runtime/Cuda/CudaContext.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <nccl.h>
#include <thread>

namespace weft::runtime {

/// What a communicator is for.
struct NcclUse {
  enum Kind { Collectives, AsynchronousCollectives, Messages };

  std::vector<int64_t> ranks; ///< in the order of NCCL's numbers; of messages sender, receiver
  Kind kind = Collectives;
  int64_t number = 0; ///< lane or tag

  auto operator<=>(const NcclUse &) const = default;
};

/// A communicator of NCCL, to be.
struct NcclConnection {
  ncclComm_t comm = nullptr;
  bool isOpen = false;
  std::unique_ptr<CudaStream> stream; ///< of messages
};

class NcclConnections {
public:
  /// Both outlive it.
  NcclConnections(CudaContext &context, Transport &transport)
      : context(context), transport(transport) {}
  /// Ends them: in order where all is well, which waits for the other ranks; or at once where this
  /// or another rank has failed.
  ~NcclConnections();
  NcclConnections(const NcclConnections &) = delete;
  NcclConnections &operator=(const NcclConnections &) = delete;

  /// The connection for a use, which is made by open(). It stays where it is.
  NcclConnection &ask(const NcclUse &use);
  /// The stream of a lane's asynchronous collectives.
  CudaStream &getLane(int32_t lane);

  /// Makes what was asked for and is not there. All ranks call it that have asked.
  void open();

  /// Issues `calls(comm)`, which returns a status, as one group of NCCL's, and returns when it is
  /// enqueued. An Error of kind Failure names it as `what`, also where the communicator has failed
  /// before.
  template <typename Calls>
  void issue(NcclConnection &connection, const char *what, const Calls &calls) {
    std::lock_guard guard(lock);
    checkReady(connection, what);
    ncclResult_t status = ncclGroupStart();
    if (status == ncclSuccess) {
      status = calls(connection.comm);
      ncclResult_t end = ncclGroupEnd();
      status = status == ncclSuccess ? end : status;
    }
    settle(connection, status, what);
  }

private:
  void open(const NcclUse &use, NcclConnection &connection);
  ncclUniqueId shareId(const NcclUse &use);
  void connectPair(const NcclUse &use, NcclConnection &connection);
  void checkReady(const NcclConnection &connection, const char *what);
  void settle(const NcclConnection &connection, ncclResult_t status, const char *what);
  void watch();
  bool finalise(const NcclConnection &connection);

  CudaContext &context;
  Transport &transport;
  std::map<NcclUse, NcclConnection> connections;
  std::map<int32_t, std::unique_ptr<CudaStream>> lanes;
  CUdeviceptr firstMessage = 0; ///< a byte

  std::mutex lock; ///< of `ending`, of the map, and of calls of NCCL for what is open
  std::condition_variable ended;
  bool ending = false;
  std::thread watcher; ///< from open() on
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_CUDA_NCCLCONNECTIONS_H
