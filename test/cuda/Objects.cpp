#include "test/cuda/Objects.h"

#include <cstdio>
#include <cstdlib>

using namespace weft::test;

CUstream_st::CUstream_st(CUctx_st &context, bool blocking)
    : context(context), blocking(blocking),
      queue(std::make_shared<Queue>([&context](const std::function<void()> &work) {
        if (context.failure != CUDA_SUCCESS)
          return;
        try {
          work();
        } catch (const Failure &failure) {
          context.fail(failure);
        }
      })),
      thread([&context, queue = queue] {
        currentContext() = &context;
        queue->loop();
      }) {}

CUstream_st::~CUstream_st() {
  queue->end();
  thread.join();
}

void CUctx_st::check() const {
  if (CUresult code = failure; code != CUDA_SUCCESS)
    throw Failure{code, ""};
}

void CUctx_st::fail(const Failure &why) {
  report(why.message);
  CUresult none = CUDA_SUCCESS;
  failure.compare_exchange_strong(none, why.code);
}

void CUctx_st::synchronize() {
  std::vector<std::shared_ptr<Point>> points;
  {
    std::lock_guard guard(lock);
    for (CUstream_st *stream : streams)
      points.push_back(stream->queue->pushPoint());
    if (defaultStream)
      points.push_back(defaultStream->queue->pushPoint());
  }
  for (auto &point : points)
    point->wait();
}

CUstream_st &CUctx_st::getDefaultStream() {
  std::lock_guard guard(lock);
  if (!defaultStream)
    defaultStream = std::make_unique<CUstream_st>(*this, false);
  return *defaultStream;
}

namespace weft::test {

void report(const std::string &message) {
  std::fprintf(stderr, "CUDA stand-in: %s\n", message.c_str());
}

uint64_t readSetting(const char *name, uint64_t otherwise) {
  const char *given = std::getenv(name);
  return given && *given ? std::strtoull(given, nullptr, 0) : otherwise;
}

namespace {

void reportLeaks() {
  for (CUctx_st *context : getContexts()) {
    std::lock_guard guard(context->lock);
    std::string left = std::to_string(context->memory.getCount()) + " allocations of " +
                       std::to_string(context->memory.getAllocated()) + " bytes, " +
                       std::to_string(context->streams.size()) + " streams, " +
                       std::to_string(context->events.size()) + " events, " +
                       std::to_string(context->modules.size()) + " modules";
    if (context->memory.getCount() || context->streams.size() || context->events.size() ||
        context->modules.size())
      report("device " + std::to_string(context->device) + " is left with " + left);
  }
  if (size_t count = getHostMemory().getCount())
    report(std::to_string(count) + " allocations of host memory are left");
}

} // namespace

const std::vector<CUctx_st *> &getContexts() {
  static const auto *contexts = [] { // outlives the streams' threads
    auto *made = new std::vector<CUctx_st *>;
    for (uint64_t i = 0, count = readSetting("WEFT_STAND_IN_GPUS", 1); i < count; ++i)
      made->push_back(new CUctx_st(static_cast<int>(i)));
    if (readSetting("WEFT_STAND_IN_LEAKS", 0))
      std::atexit(reportLeaks);
    return made;
  }();
  return *contexts;
}

CUctx_st *&currentContext() {
  thread_local CUctx_st *current = nullptr;
  return current;
}

CUctx_st &getContext() {
  CUctx_st *context = currentContext();
  if (!context)
    throw Failure{CUDA_ERROR_INVALID_CONTEXT, "no context is current"};
  context->check();
  return *context;
}

CUstream_st &getStream(CUstream stream) {
  if (stream == nullptr || stream == CU_STREAM_LEGACY)
    return getContext().getDefaultStream();
  for (CUctx_st *context : getContexts()) {
    std::lock_guard guard(context->lock);
    if (context->streams.count(stream))
      return context->check(), *stream;
  }
  throw Failure{CUDA_ERROR_INVALID_HANDLE, "what is given for a stream is none"};
}

namespace {

/// Work of the default stream waits for that of blocking ones; theirs for the default stream's.
void orderWithDefault(CUstream_st &stream) {
  CUctx_st &context = stream.context;
  std::lock_guard guard(context.lock);
  if (&stream == context.defaultStream.get()) {
    for (CUstream_st *other : context.streams)
      if (other->blocking)
        stream.queue->pushWait(other->queue->pushPoint());
  } else if (stream.blocking && context.defaultPoint) {
    stream.queue->pushWait(context.defaultPoint);
  }
}

void noteDefault(CUstream_st &stream) {
  CUctx_st &context = stream.context;
  std::lock_guard guard(context.lock);
  if (&stream == context.defaultStream.get())
    context.defaultPoint = stream.queue->pushPoint();
}

} // namespace

void enqueue(CUstream_st &stream, std::function<void()> work) {
  orderWithDefault(stream);
  stream.queue->push(std::move(work));
  noteDefault(stream);
}

void awaitPoint(CUstream_st &stream, const std::shared_ptr<Point> &point) {
  orderWithDefault(stream);
  stream.queue->pushWait(point);
  noteDefault(stream);
}

bool isReachable(uint64_t address, uint64_t bytes) {
  for (CUctx_st *context : getContexts())
    if (context->memory.covers(address))
      return context->memory.contains(address, bytes);
  return getHostMemory().contains(address, bytes);
}

void require(bool holds, const char *what) {
  if (!holds)
    throw Failure{CUDA_ERROR_INVALID_VALUE, std::string("expected ") + what};
}

} // namespace weft::test

void standInEnqueue(void *stream, void (*work)(void *), void *data) {
  try {
    enqueue(getStream(static_cast<CUstream>(stream)), [work, data] { work(data); });
  } catch (const Failure &failure) {
    if (!failure.message.empty())
      report(failure.message);
  }
}

void standInAwaitPeers(void (*wait)(void *), void *data) {
  AwaitedPeers awaited;
  wait(data);
}

void standInCheck(const void *address, size_t bytes, const char *what) {
  if (!isReachable(reinterpret_cast<uint64_t>(address), bytes))
    throw Failure{CUDA_ERROR_ILLEGAL_ADDRESS, std::string(what) + ": " + std::to_string(bytes) +
                                                  " bytes that are not of one live allocation"};
}
