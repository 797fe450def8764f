#include "test/cuda/Fibre.h"

#include <mutex>
#include <new>
#include <sys/mman.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_ADDRESS_SANITIZER
/// As the sanitizer's header has them, which is not installed everywhere.
extern "C" void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
extern "C" void __sanitizer_finish_switch_fiber(void *saved, const void **bottom, size_t *size);
#endif
#endif

namespace weft::test {

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

namespace {
std::mutex spareLock;
std::vector<std::unique_ptr<Stacks>> &getSpare() {
  static auto *spare = new std::vector<std::unique_ptr<Stacks>>; // outlives the streams' threads
  return *spare;
}
} // namespace

Stacks::Stacks(size_t count, size_t bytes) : count(count) {
  step = (bytes + pageBytes - 1) / pageBytes * pageBytes + pageBytes;
  void *at = mmap(nullptr, count * step, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    throw std::bad_alloc();
  base = reinterpret_cast<uint64_t>(at);
  for (size_t i = 0; i < count; ++i)
    mprotect(reinterpret_cast<void *>(base + i * step), pageBytes, PROT_NONE);
}

Stacks::~Stacks() { munmap(reinterpret_cast<void *>(base), count * step); }

std::unique_ptr<Stacks> Stacks::takeOne(size_t count, size_t bytes) {
  {
    std::lock_guard guard(spareLock);
    auto &spare = getSpare();
    for (auto &stacks : spare)
      if (stacks->count >= count && stacks->step >= bytes + pageBytes) {
        std::unique_ptr<Stacks> taken = std::move(stacks);
        stacks = std::move(spare.back());
        spare.pop_back();
        return taken;
      }
  }
  return std::make_unique<Stacks>(count, bytes);
}

void Stacks::give(std::unique_ptr<Stacks> stacks) {
  std::lock_guard guard(spareLock);
  getSpare().push_back(std::move(stacks));
}

//===----------------------------------------------------------------------===//
// The switch
//===----------------------------------------------------------------------===//

namespace {
thread_local Fibre *current = nullptr;
} // namespace

#if defined(__x86_64__)
/// Keeps what a call must keep on the stack, whose place goes to *from, and goes on at `to`.
extern "C" void weftSwitchStack(void **from, void *to);
asm(R"(
.text
.local weftSwitchStack
.type weftSwitchStack, @function
weftSwitchStack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  retq
.size weftSwitchStack, .-weftSwitchStack
)");
#endif

void Fibre::start(uint64_t stackLow, uint64_t stackHigh, std::function<void()> what) {
  body = std::move(what);
  done = false;
  low = stackLow;
  high = stackHigh;
  fakeStack = nullptr;
#if defined(__x86_64__)
  constexpr int saved = 6; // registers, below where the switch returns to
  auto **top = reinterpret_cast<void **>(high);
  *--top = nullptr; // a call's return address lies 8 bytes off a multiple of 16
  *--top = reinterpret_cast<void *>(&Fibre::run);
  for (int i = 0; i < saved; ++i)
    *--top = nullptr;
  inside = top;
#else
  getcontext(&inside);
  inside.uc_stack.ss_sp = reinterpret_cast<void *>(low);
  inside.uc_stack.ss_size = high - low;
  inside.uc_link = nullptr;
  makecontext(&inside, &Fibre::run, 0);
#endif
}

void Fibre::run() {
  Fibre &fibre = *current;
#if defined(WEFT_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(nullptr, &fibre.outsideLow, &fibre.outsideBytes);
#endif
  fibre.body();
  fibre.done = true;
  fibre.leave();
  __builtin_unreachable();
}

void Fibre::enter() {
  Fibre *before = current;
  current = this;
#if defined(WEFT_ADDRESS_SANITIZER)
  void *mine = nullptr;
  __sanitizer_start_switch_fiber(&mine, reinterpret_cast<void *>(low), high - low);
#endif
#if defined(__x86_64__)
  weftSwitchStack(&outside, inside);
#else
  swapcontext(&outside, &inside);
#endif
#if defined(WEFT_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(mine, nullptr, nullptr);
#endif
  current = before;
}

void Fibre::leave() {
#if defined(WEFT_ADDRESS_SANITIZER)
  __sanitizer_start_switch_fiber(done ? nullptr : &fakeStack, outsideLow, outsideBytes);
#endif
#if defined(__x86_64__)
  weftSwitchStack(&inside, outside);
#else
  swapcontext(&inside, &outside);
#endif
#if defined(WEFT_ADDRESS_SANITIZER)
  __sanitizer_finish_switch_fiber(fakeStack, &outsideLow, &outsideBytes);
#endif
}

} // namespace weft::test
