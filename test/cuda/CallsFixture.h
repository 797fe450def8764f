//===- CallsFixture.h - one call on two devices -----------------*- C++ -*-===//
//
// The devices "cpu" and "cuda" with arenas of the same bytes. A call is drawn at random, done by
// both, and every byte of the arenas compared: its result may differ by rounding where it is a sum,
// and whatever lies between and around its elements must be as it was.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_CALLSFIXTURE_H
#define WEFT_TEST_CUDA_CALLSFIXTURE_H

#include "runtime/Executor/OpenDevice.h"

#include <array>
#include <functional>
#include <random>

namespace weft::test {

using Index = std::vector<int64_t>;

/// Numbers that are the same in every run.
class Draw {
public:
  explicit Draw(unsigned seed) : random(seed) {}

  /// Within [low, high].
  int64_t within(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  }
  bool isOneIn(int64_t count) { return within(1, count) == 1; }
  template <typename T> T oneOf(const std::vector<T> &values) {
    return values[within(0, static_cast<int64_t>(values.size()) - 1)];
  }

private:
  std::mt19937 random;
};

/// Bytes of each arena.
inline constexpr int64_t arenaBytes = 1 << 16;

/// What a view may be like besides row-major: each is drawn for about half of the views.
struct LayoutChoices {
  bool permutes = true; ///< dimensions lie in any order
  bool hasGaps = true;  ///< between elements, rows, …, as slices have them
  bool repeats = false; ///< strides of 0
};

/// A view of that shape somewhere in its arena. Strides of dimensions of extent 1 are anything.
/// None where it would not fit.
std::optional<runtime::View> drawView(Draw &draw, uint32_t arena, runtime::DType dtype,
                                      const Index &shape, const LayoutChoices &choices);

/// Bytes from a view's first to the end of its last.
int64_t getReach(const runtime::View &view);

/// A device with arenas and a stream.
class CallDevice {
public:
  explicit CallDevice(const std::string &name);

  runtime::Device &get() { return *device; }
  const runtime::DeviceBases &getBases() const { return bases; }

  /// Does what `make` makes with the arenas as in `before`, and returns what they become.
  using Make = std::function<std::unique_ptr<runtime::Command>(runtime::Device &)>;
  const std::byte *run(const Make &make, const std::vector<std::byte> &before);

private:
  std::unique_ptr<runtime::Device> device;
  std::vector<runtime::DeviceMemory> arenas;
  runtime::DeviceBases bases;
  runtime::HostMemory in, out;
  std::unique_ptr<runtime::Stream> stream;
};

/// Both devices, with three arenas each.
class CallDevices {
public:
  static constexpr uint32_t numArenas = 3;

  CallDevices() : cpu("cpu"), cuda("cuda"), before(numArenas * arenaBytes) {}

  /// Fills the arenas with any bytes.
  void fillWithBytes(Draw &draw);
  /// Fills them with elements in [-2, 2]: whole numbers, whose sums are exact, or others.
  void fillWithNumbers(Draw &draw, runtime::DType dtype, bool areWhole);

  /// Does a call on both, which may differ by `tolerance` in elements of the result. Returns what
  /// is wrong, or nothing.
  std::string compare(const CallDevice::Make &make, const runtime::View &result, double tolerance);

  std::array<runtime::Device *, 2> list() { return {&cpu.get(), &cuda.get()}; }

private:
  CallDevice cpu, cuda;
  std::vector<std::byte> before; ///< of the arenas, one after the other
};

/// Waits for what a stream holds; throws its Error.
void waitFor(runtime::Device &device, runtime::Stream &stream);

/// "f32[2, 3] strides [3, 1] at byte 64 of arena 0".
std::string describe(const runtime::View &view);

/// Row-major, at byte `offset` of an arena.
runtime::View makePlainView(uint32_t arena, int64_t offset, runtime::DType dtype, Index shape);

} // namespace weft::test

#endif // WEFT_TEST_CUDA_CALLSFIXTURE_H
