//===- CommunicationQueue.h - communication beside computation --*- C++ -*-===//
//
// What a rank has begun to communicate and not waited for yet. A thread of the queue's own moves it
// on while the rank's thread computes; where the rank's thread waits, it helps. What is waited for
// within moments is left to the rank's thread alone: to wake another would cost more.
//
// Collectives of one lane are done one after the other, in the order in which they were begun: the
// same on all ranks of a group, as the verifier checks. Lanes do not wait for each other, and
// messages wait for nothing: tags tell apart what overtakes what.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_COLLECTIVE_COMMUNICATIONQUEUE_H
#define WEFT_RUNTIME_COLLECTIVE_COMMUNICATIONQUEUE_H

#include "runtime/Collective/Collectives.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace weft::runtime {

class CommunicationQueue {
public:
  explicit CommunicationQueue(Transport &transport) : transport(transport) {}
  /// Takes back what is not done.
  ~CommunicationQueue();
  CommunicationQueue(const CommunicationQueue &) = delete;
  CommunicationQueue &operator=(const CommunicationQueue &) = delete;

  class Operation;
  using Handle = std::shared_ptr<Operation>;

  /// Begins a collective, whose messages get its lane's tag. What its phases name stays as it is
  /// until it is waited for.
  Handle beginCollective(Phases phases, int32_t lane = 0);
  /// Begins to send and receive. Tags are 1 to half of the transport's greatest.
  Handle beginMessages(std::vector<Send> sends, std::vector<Receive> receives);
  /// Returns when it is done. An Error of this or of an earlier operation is thrown here.
  void wait(const Handle &operation);

  /// A collective from begin to end, behind those of its lane that were begun before.
  void runCollective(Phases phases, int32_t lane = 0);

private:
  Handle begin(Phases phases, std::optional<int32_t> lane);
  void serve();
  void drive(bool mayWork);
  bool advance(Operation &operation, bool mayWork);
  void checkFailure();

  Transport &transport;
  std::mutex lock;                 ///< of what follows, held for moments
  std::condition_variable changed; ///< outstanding, where the thread rests; stopping
  std::deque<std::pair<Handle, std::optional<int32_t>>> begun; ///< not yet seen by drive(); lanes
  std::exception_ptr failure;
  int64_t outstanding = 0;
  int64_t finished = 0;
  bool resting = false; ///< the thread, until something is begun
  bool serving = false; ///< the thread
  bool stopping = false;

  std::mutex driving; ///< of what follows, held while messages are moved and parts reduced
  std::map<int32_t, std::deque<Handle>> collectives; ///< by lane
  std::list<Handle> messages;

  std::atomic<int64_t> openCollectives = 0; ///< begun and not done
  std::thread thread;                       ///< from the first operation on
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_COLLECTIVE_COMMUNICATIONQUEUE_H
