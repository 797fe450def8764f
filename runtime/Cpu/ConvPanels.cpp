//===- ConvPanels.cpp - convolutions as products by panels, AVX2 ----------===//

#include "runtime/Cpu/ConvPanels.h"

#include "runtime/Cpu/PanelProduct.h"

#include <algorithm>

namespace weft::runtime {

namespace {

/// Output channels that make it cheap to gather windows, which is done once for all of them.
constexpr int64_t leastOutputs = 64;
/// Positions of a task; as few as leave enough tasks, but enough for a panel that comes from
/// memory.
constexpr int64_t mostPositions = 96, leastPositions = 24, rowMultiple = 6;

class PanelConv : public DirectConv {
public:
  PanelConv(const Convolution &convolution, const Epilogue *epilogue)
      : conv(convolution), epilogue(epilogue), channels(conv.input[1]), outputs(conv.output[1]),
        taps(conv.kernel[2] * conv.kernel[3]), nothing(channels, 0.0f) {
    positions = conv.output[0] * conv.output[2] * conv.output[3];
    int64_t share = (positions / wantedTasks + rowMultiple - 1) / rowMultiple * rowMultiple;
    step = std::clamp(share, leastPositions, mostPositions);
    for (int64_t position = step; position < positions + step; position += step)
      ends.push_back(std::min(position, positions) * outputs);
  }

  bool isFast() const { return hasPanelProducts(); }

  void execute(const float *input, const float *kernel, float *output, ThreadPool &pool) override {
    if (kernel != keptFrom)
      keepKernel(kernel, pool);
    pool.parallelFor(int64_t(ends.size()), 1, [&](int64_t lo, int64_t hi) {
      for (int64_t task = lo; task < hi; ++task)
        run(task, input, output);
    });
    if (epilogue)
      epilogue->runCut(ends);
  }

private:
  void keepKernel(const float *kernel, ThreadPool &pool) {
    int64_t depth = taps * channels;
    panels = keptKernel.get(outputs * depth * sizeof(float));
    pool.parallelFor(outputs / panelColumns, 1, [&](int64_t lo, int64_t hi) {
      for (int64_t output = lo * panelColumns; output < hi * panelColumns; ++output)
        for (int64_t channel = 0; channel < channels; ++channel)
          for (int64_t tap = 0; tap < taps; ++tap)
            panels[output / panelColumns * panelColumns * depth +
                   (tap * channels + channel) * panelColumns + output % panelColumns] =
                kernel[(output * channels + channel) * taps + tap];
    });
    keptFrom = kernel;
  }

  void run(int64_t task, const float *input, float *output) const {
    int64_t first = task * step, count = std::min(step, positions - first);
    int64_t depth = taps * channels;
    float *windows = Workplace::get().operand.get(step * depth * sizeof(float));
    for (int64_t i = 0; i < count; ++i)
      gather(input, first + i, windows + i * depth);
    multiplyPanels({windows, depth}, panels, {output + first * outputs, outputs},
                   {count, outputs, depth});
    if (epilogue)
      epilogue->run(first * outputs, ends[task]);
  }

  void gather(const float *input, int64_t position, float *to) const {
    int64_t x = position % conv.output[3], y = position / conv.output[3] % conv.output[2];
    const float *image = input + position / (conv.output[2] * conv.output[3]) * conv.input[2] *
                                     conv.input[3] * channels;
    for (int64_t tap = 0; tap < taps; ++tap, to += channels) {
      int64_t row = getInputCoordinate(conv, 0, y, tap / conv.kernel[3]);
      int64_t column = getInputCoordinate(conv, 1, x, tap % conv.kernel[3]);
      bool isInside = row >= 0 && row < conv.input[2] && column >= 0 && column < conv.input[3];
      const float *from =
          isInside ? image + (row * conv.input[3] + column) * channels : nothing.data();
      std::copy(from, from + channels, to);
    }
  }

  Convolution conv;
  const Epilogue *epilogue; ///< null: none
  int64_t channels, outputs, taps;
  int64_t positions, step;    ///< of the output, of all images; and of a task
  std::vector<float> nothing; ///< an input outside the image
  std::vector<int64_t> ends;  ///< of tasks, in the output's memory
  Scratch keptKernel;
  float *panels = nullptr;
  const float *keptFrom = nullptr;
};

} // namespace

std::unique_ptr<DirectConv> makePanelConv(const Convolution &conv, const Epilogue *epilogue,
                                          bool areWide) {
  // A kernel that changes would be stored anew each time. Without strides, windows are as long as
  // the input many times over, or are the input, which oneDNN reads as fast where it lies.
  bool isStrided = std::any_of(conv.strides.begin(), conv.strides.end(),
                               [](int64_t stride) { return stride > 1; });
  bool applies = !areWide && isStrided && conv.output.size() == 4 && conv.isKernelConstant &&
                 conv.inputLast && conv.outputLast && conv.output[1] % panelColumns == 0 &&
                 conv.output[1] >= leastOutputs && conv.input[1] >= blockChannels;
  return applies ? makeFast<PanelConv>(conv, epilogue) : nullptr;
}

} // namespace weft::runtime
