//===- CudaStream.cpp - streams and events of cuda.h ----------------------===//

#include "test/cuda/Objects.h"

using namespace weft::test;

namespace {

CUevent_st &getEvent(CUevent event) {
  for (CUctx_st *context : getContexts()) {
    std::lock_guard guard(context->lock);
    if (context->events.count(event))
      return context->check(), *event;
  }
  throw Failure{CUDA_ERROR_INVALID_HANDLE, "what is given for an event is none"};
}

} // namespace

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
  return guarded([&] {
    require(!(flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)),
            "CU_STREAM_NON_BLOCKING or no flags");
    CUctx_st &context = getContext();
    auto *made = new CUstream_st(context, flags == CU_STREAM_DEFAULT);
    std::lock_guard guard(context.lock);
    context.streams.insert(made);
    *stream = made;
  });
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
  return cuStreamCreate(stream, flags);
}

/// What is enqueued is done all the same.
CUresult cuStreamDestroy(CUstream stream) {
  return guarded([&] {
    CUstream_st &found = getStream(stream);
    require(stream != nullptr, "a stream other than the default one");
    {
      std::lock_guard guard(found.context.lock);
      found.context.streams.erase(&found);
    }
    delete &found;
  });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return guarded([&] {
    CUstream_st &found = getStream(stream);
    found.queue->pushPoint()->wait();
    found.context.check();
  });
}

CUresult cuStreamQuery(CUstream stream) {
  return guarded([&] {
    CUstream_st &found = getStream(stream);
    bool done = found.queue->isIdle();
    found.context.check();
    if (!done)
      throw Failure{CUDA_ERROR_NOT_READY, ""};
  });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return guarded([&] {
    CUstream_st &found = getStream(stream);
    if (auto point = getEvent(event).point)
      awaitPoint(found, point);
  });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
  return guarded([&] { enqueue(getStream(stream), [function, data] { function(data); }); });
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
  return guarded([&] {
    CUctx_st &context = getContext();
    auto *made = new CUevent_st{context, !(flags & CU_EVENT_DISABLE_TIMING), nullptr};
    std::lock_guard guard(context.lock);
    context.events.insert(made);
    *event = made;
  });
}

CUresult cuEventDestroy(CUevent event) {
  return guarded([&] {
    CUevent_st &found = getEvent(event);
    {
      std::lock_guard guard(found.context.lock);
      found.context.events.erase(&found);
    }
    delete &found;
  });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return guarded([&] {
    CUevent_st &found = getEvent(event);
    CUstream_st &recorder = getStream(stream);
    if (&found.context != &recorder.context)
      throw Failure{CUDA_ERROR_INVALID_HANDLE, "an event and a stream of different contexts"};
    enqueue(recorder, [] {}); // ordered with the default stream
    found.point = recorder.queue->pushPoint();
  });
}

CUresult cuEventQuery(CUevent event) {
  return guarded([&] {
    CUevent_st &found = getEvent(event);
    if (found.point && !found.point->isDone())
      throw Failure{CUDA_ERROR_NOT_READY, ""};
    found.context.check();
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return guarded([&] {
    CUevent_st &found = getEvent(event);
    if (found.point)
      found.point->wait();
    found.context.check();
  });
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent begin, CUevent end) {
  return guarded([&] {
    CUevent_st &first = getEvent(begin), &last = getEvent(end);
    if (!first.point || !last.point || !first.timed || !last.timed)
      throw Failure{CUDA_ERROR_INVALID_HANDLE, "events that are not recorded, or without times"};
    if (!first.point->isDone() || !last.point->isDone())
      throw Failure{CUDA_ERROR_NOT_READY, ""};
    *milliseconds =
        std::chrono::duration<float, std::milli>(last.point->getTime() - first.point->getTime())
            .count();
  });
}
