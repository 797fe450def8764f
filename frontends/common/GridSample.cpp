#include "frontends/common/GridSample.h"

#include "frontends/common/Composites.h"
#include "frontends/common/Matrix.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {
/// Samples an image [n, c, h, w] at places [n, p], p = h' · w'.
class Sampler {
public:
  Sampler(Emitter &emit, Value image, GridBorder border, bool aligned)
      : emit(emit), border(border), aligned(aligned), height(shapeOf(image)[2]),
        width(shapeOf(image)[3]) {
    ArrayRef<int64_t> s = shapeOf(image);
    pixels = emit.transpose(emit.reshape(image, {s[0], s[1], height * width}), {0, 2, 1});
  }

  /// From [-1, 1] to elements, and to where places beyond the borders count.
  Value placeOf(Value x, bool isWidth) const;
  /// The elements [n, p, c] at whole places; zeros outside.
  Value pick(Value column, Value row) const;
  /// Between the four elements around each place.
  Value between(Value column, Value row) const;

private:
  Value plus(Value x, double number) const { return emit.binary<AddOp>(x, emit.like(x, number)); }
  Value times(Value x, double number) const { return emit.binary<MulOp>(x, emit.like(x, number)); }
  Value clamp(Value x, double least, double most) const {
    return emit.binary<MinOp>(emit.binary<MaxOp>(x, emit.like(x, least)), emit.like(x, most));
  }
  Value reflect(Value x, double low, double high) const;

  Emitter &emit;
  GridBorder border;
  bool aligned;
  int64_t height, width;
  Value pixels; ///< [n, h · w, c]
};

/// Back and forth between low and high.
Value Sampler::reflect(Value x, double low, double high) const {
  double span = high - low;
  if (span == 0)
    return emit.like(x, 0);
  Value distance = emit.unary<AbsOp>(plus(x, -low));
  Value turns = emit.unary<FloorOp>(times(distance, 1 / span));
  Value rest = emit.binary<SubOp>(distance, times(turns, span));
  Value half = times(turns, 0.5);
  Value isEven = emit.compare(CompareDirection::EQ, half, emit.unary<FloorOp>(half));
  Value back = plus(emit.unary<NegOp>(rest), high);
  return emit.select(isEven, plus(rest, low), back);
}

Value Sampler::placeOf(Value x, bool isWidth) const {
  auto size = double(isWidth ? width : height);
  x = aligned ? times(plus(x, 1), (size - 1) / 2) : times(plus(times(plus(x, 1), size), -1), 0.5);
  if (border == GridBorder::Reflection)
    x = aligned ? reflect(x, 0, size - 1) : reflect(x, -0.5, size - 0.5);
  return border == GridBorder::Zeros ? x : clamp(x, 0, size - 1);
}

Value Sampler::pick(Value column, Value row) const {
  auto inside = [&](Value x, double most) {
    return emit.binary<AndOp>(emit.compare(CompareDirection::GE, x, emit.like(x, 0)),
                              emit.compare(CompareDirection::LE, x, emit.like(x, most)));
  };
  double lastColumn = double(width - 1), lastRow = double(height - 1);
  Value valid = emit.binary<AndOp>(inside(column, lastColumn), inside(row, lastRow));
  auto whole = [&](Value x, double most) { // floats do not tell many elements apart
    return emit.cast(clamp(x, 0, most), emit.builder.getI64Type());
  };
  Value flat =
      emit.binary<AddOp>(times(whole(row, lastRow), double(width)), whole(column, lastColumn));
  Shape tuple(shapeOf(flat)), shape(tuple);
  tuple.push_back(1);
  shape.push_back(shapeOf(pixels)[2]);
  Value index = emit.reshape(flat, tuple);
  Value taken =
      emit.create<GatherNdOp>(typeOf(pixels).clone(shape), pixels, index, /*batch_dims=*/1);
  return emit.select(emit.reshape(valid, tuple), taken, emit.like(taken, 0));
}

Value Sampler::between(Value column, Value row) const {
  Value left = emit.unary<FloorOp>(column), top = emit.unary<FloorOp>(row), sum;
  Value right = emit.binary<SubOp>(column, left), below = emit.binary<SubOp>(row, top);
  for (bool isRight : {false, true})
    for (bool isBelow : {false, true}) {
      Value across = isRight ? right : plus(emit.unary<NegOp>(right), 1);
      Value down = isBelow ? below : plus(emit.unary<NegOp>(below), 1);
      Value weight = emit.binary<MulOp>(across, down);
      Value taken = pick(isRight ? plus(left, 1) : left, isBelow ? plus(top, 1) : top);
      Shape tuple(shapeOf(weight));
      tuple.push_back(1);
      Value part = emit.binary<MulOp>(taken, emit.reshape(weight, tuple));
      sum = sum ? emit.binary<AddOp>(sum, part) : part;
    }
  return sum;
}

} // namespace

Value frontend::emitGridSample(Emitter &emit, Value image, Value grid, bool isNearest,
                               GridBorder border, bool isAligned) {
  expectExactRank(image, 4);
  expectExactRank(grid, 4);
  expectFloat(image);
  ArrayRef<int64_t> s = shapeOf(grid);
  if (s[3] != 2 || s[0] != shapeOf(image)[0] || typeOf(image).getNumElements() == 0)
    throw ImportError("grid " + describe(grid) + " does not fit " + describe(image));
  Sampler sampler(emit, image, border, isAligned);
  Shape places{s[0], s[1] * s[2]};
  auto coordinate = [&](int64_t index) {
    return sampler.placeOf(emit.reshape(emit.sliceDim(grid, 3, index, 1), places), index == 0);
  };
  Value column = coordinate(0), row = coordinate(1);
  Value taken = isNearest ? sampler.pick(emit.unary<RoundOp>(column), emit.unary<RoundOp>(row))
                          : sampler.between(column, row);
  Shape result{s[0], shapeOf(image)[1], s[1], s[2]};
  return emit.reshape(emit.transpose(taken, {0, 2, 1}), result);
}

Value frontend::emitAffineGrid(Emitter &emit, Value maps, ArrayRef<int64_t> size, bool isAligned) {
  expectExactRank(maps, 3);
  if (size.size() != 4 || shapeOf(maps)[1] != 2 || shapeOf(maps)[2] != 3)
    throw ImportError("only maps [n, 2, 3] of images [n, c, h, w] are supported");
  auto place = [&](int64_t at, int64_t extent) {
    if (isAligned)
      return extent > 1 ? 2 * double(at) / double(extent - 1) - 1 : 0;
    return (2 * double(at) + 1) / double(extent) - 1;
  };
  int64_t height = checkResizeExtent(double(size[2])), width = checkResizeExtent(double(size[3]));
  Matrix base(height * width, 3);
  for (int64_t row = 0; row < height; ++row)
    for (int64_t column = 0; column < width; ++column) {
      MutableArrayRef<double> at = base.row(row * width + column);
      at[0] = place(column, width);
      at[1] = place(row, height);
      at[2] = 1;
    }
  Value places = emit.dot(maps, base.build(emit, maps), {{}, {}, {2}, {1}}); // [n, 2, h · w]
  return emit.reshape(emit.transpose(places, {0, 2, 1}), {size[0], height, width, 2});
}
