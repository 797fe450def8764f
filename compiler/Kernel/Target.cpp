#include "compiler/Kernel/Target.h"

#include "dialects/Weft/IR/WeftDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;

namespace {

/// One core of a host: "cpu-core" and "cpu" of compiler/Cluster/catalog.txtpb.
struct Core {
  static constexpr double flops = 50e9;  ///< FLOP/s of f32 products
  static constexpr double copy = 8e9;    ///< B/s
  static constexpr double launch = 2e-6; ///< s
  static constexpr double link = 4e9;    ///< B/s to another rank
  static constexpr double call = 20e-6;  ///< s of a collective of no bytes; two threads wake
  /// Bytes: about a last-level cache. Scores that do not fit are read from memory anyway.
  static constexpr int64_t scores = 32 << 20;
};

/// Loops that the compiler generates, and nothing else: what a new device starts from.
class GenericTarget : public Target {
public:
  StringRef getName() const override { return "generic"; }
  bool callsLibrary(Operation *op) const override { return false; }
  bool wantsChannelsLast(Operation *op) const override { return false; }
  bool runsEpilogues(Operation *op) const override { return false; }
  MatrixStorage chooseStorage(RankedTensorType matrix, int64_t rows,
                              bool isColumnMajor) const override {
    return {};
  }
  int64_t getScoreBytes() const override { return Core::scores; }
  double getComputeSeconds(double flops, double bytes) const override {
    return Core::launch + std::max(flops / Core::flops, bytes / Core::copy);
  }
  double getCommunicationSeconds(double bytes) const override {
    return Core::call + bytes / Core::link;
  }
  double getHandoffSeconds() const override { return Core::call; }
};

/// Libraries do convolutions, products and attention of floats; the runtime widens those of 16
/// bits.
class CpuTarget : public GenericTarget {
  /// Of one query to a head, reading the keys is all there is to do: products do that as well, and
  /// share one head out among threads.
  template <typename Op> static bool hasAttention(Op op) {
    RankedTensorType query = op.getQuery().getType(), value = op.getValue().getType();
    return query.getElementTypeBitWidth() <= 32 && query.getDimSize(2) > 1 &&
           value.getNumElements() > 0 && query.getNumElements() > 0;
  }

public:
  StringRef getName() const override { return cpuTarget; }
  bool callsLibrary(Operation *op) const override {
    if (auto dot = dyn_cast<DotGeneralOp>(op))
      return isa<FloatType>(getElementTypeOrSelf(dot.getResult().getType()));
    if (auto attention = dyn_cast<AttentionOp>(op))
      return hasAttention(attention);
    if (auto backward = dyn_cast<AttentionBackwardOp>(op))
      return hasAttention(backward);
    return needsLibrary(op);
  }
  /// What oneDNN has kernels for. Of images in groups of channels there are few.
  bool wantsChannelsLast(Operation *op) const override {
    auto conv = dyn_cast<ConvOp>(op);
    return conv && conv.getGroups() == 1 && conv.getResult().getType().getElementType().isF32() &&
           conv.getKernel().getType().getDimSize(0) >= 16;
  }
  bool runsEpilogues(Operation *op) const override { return isa<ConvOp>(op); }
  /// oneDNN copies what it multiplies by, row by row: of long rows each lies in a page of its own,
  /// and where their length is a power of two in the same few lines of the caches. In panels a
  /// product of 128 x 2048 by 2048 x 2048 takes three quarters of the time. Columns are best read
  /// where they lie by one row (runtime/Cpu/FewRows.h), and best of all by some
  /// (runtime/Cpu/ColumnProduct.h).
  MatrixStorage chooseStorage(RankedTensorType matrix, int64_t rows,
                              bool isColumnMajor) const override {
    constexpr int64_t shortRow = 1024, mostColumns = 768, leastColumns = 256, vector = 16;
    constexpr int64_t fewRows = 12, someRows = 48, leastDepth = 256;
    if (matrix.getRank() < 2 || !matrix.getElementType().isF32() || (isColumnMajor && rows == 1))
      return {};
    int64_t unit = ShapedType::getNumElements(matrix.getShape().drop_front(2));
    int64_t columns = unit * matrix.getDimSize(1);
    if (rows > fewRows && rows <= someRows && columns >= leastColumns &&
        matrix.getDimSize(0) >= leastDepth)
      return {MatrixStorage::ByColumns, 0};
    for (int64_t panel = mostColumns; panel >= leastColumns && columns >= shortRow; panel -= vector)
      if (columns % panel == 0 && panel % unit == 0 &&
          columns / panel <= (unit == 1 ? panel : matrix.getShape().back()))
        return {MatrixStorage::InPanels, panel};
    return {};
  }
};

/// A GPU with cuBLASLt and cuDNN: "h100-sxm" of compiler/Cluster/catalog.txtpb, in orders of
/// magnitude. Attention is products and kernels.
class CudaTarget : public Target {
  static constexpr double flops = 60e12; ///< FLOP/s of f32 products
  static constexpr double copy = 2e12;   ///< B/s
  static constexpr double launch = 4e-6; ///< s
  static constexpr double link = 200e9;  ///< B/s to another rank
  static constexpr double call = 20e-6;  ///< s of a collective of no bytes
  static constexpr double event = 2e-6;  ///< s that a stream waits for another
  /// Bytes of scores: they lie in the device's memory in any case.
  static constexpr int64_t scores = int64_t(2) << 30;

public:
  StringRef getName() const override { return "cuda"; }
  KernelMachine getKernelMachine() const override { return KernelMachine::Gpu; }
  bool callsLibrary(Operation *op) const override {
    if (auto dot = dyn_cast<DotGeneralOp>(op))
      return isa<FloatType>(getElementTypeOrSelf(dot.getResult().getType()));
    return needsLibrary(op);
  }
  bool wantsChannelsLast(Operation *op) const override { return false; }
  bool runsEpilogues(Operation *op) const override { return false; }
  bool hasOwnMemory() const override { return true; }
  MatrixStorage chooseStorage(RankedTensorType matrix, int64_t rows,
                              bool isColumnMajor) const override {
    return {};
  }
  int64_t getScoreBytes() const override { return scores; }
  double getComputeSeconds(double work, double bytes) const override {
    return launch + std::max(work / flops, bytes / copy);
  }
  double getCommunicationSeconds(double bytes) const override { return call + bytes / link; }
  double getHandoffSeconds() const override { return event; }
};

} // namespace

static llvm::ArrayRef<const Target *> getTargets() {
  static const CpuTarget cpu;
  static const CudaTarget cuda;
  static const GenericTarget generic;
  static const Target *const all[] = {&cpu, &cuda, &generic};
  return all;
}

const Target *weft::findTarget(StringRef name) {
  auto all = getTargets();
  const auto *it =
      llvm::find_if(all, [&](const Target *target) { return target->getName() == name; });
  return it == all.end() ? nullptr : *it;
}

const Target *weft::findTarget(StringRef name, Operation *op) {
  const Target *target = findTarget(name);
  if (!target)
    op->emitError("expected target to be one of ")
        << llvm::join(
               llvm::map_range(getTargets(), [](const Target *each) { return each->getName(); }),
               ", ")
        << ", got: " << name;
  return target;
}

bool weft::needsLibrary(Operation *op) { return isa<ConvOp, ConvKernelGradientOp>(op); }
