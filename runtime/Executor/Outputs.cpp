//===- Outputs.cpp - what a run hands out ---------------------------------===//

#include "runtime/Executor/Outputs.h"

#include "runtime/Executor/Agree.h"
#include "runtime/Support/Error.h"
#include "runtime/Support/ForEachOffset.h"
#include "runtime/Support/OutputFile.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>

namespace weft::runtime {

namespace {

namespace fs = std::filesystem;

/// The files that outputs are written into: made by rank 0, filled by all, put in place by rank 0.
class OutputFiles {
public:
  OutputFiles(Transport &transport, const std::vector<PortBlock> &outputs, int64_t steps,
              const std::string &folder) {
    std::string made;
    agree(transport, [&] {
      if (transport.getRank() == 0)
        makeFolder(folder);
      for (const PortBlock &output : outputs) {
        NpyHeader header{getNpyDType(output.local.dtype), output.shape, false, 0};
        if (steps > 0)
          header.shape.insert(header.shape.begin(), steps);
        std::string bytes = formatNpyHeader(header.dtype, header.shape);
        header.dataOffset = bytes.size();
        headers.push_back(header);
        if (transport.getRank() != 0)
          continue;
        fs::path path = fs::path(folder) / getNpyFileName(output.port->name());
        File &file = files.emplace_back(std::make_unique<OutputFile>(path))->getStaged();
        file.writeAt(0, bytes.data(), bytes.size());
        file.resize(bytes.size() + header.getNumBytes());
        made += file.getPath() + '\n';
      }
    });
    made = gatherTexts(transport, made).front();
    for (size_t at = 0, end; (end = made.find('\n', at)) != std::string::npos; at = end + 1)
      paths.push_back(made.substr(at, end - at));
  }

  File open(size_t output) const { return File::openForWriting(paths[output]); }

  /// Writes a piece of `block`, this rank's part of an output in its file.
  void write(size_t output, const PortBlock &block, File &file, const Piece &piece,
             const std::byte *memory) const {
    View view = piece.view;
    auto place = [&] { return getFileBlock(block, headers[output], view, piece.start); };
    if (view.dtype != program::BF16)
      return writeBlock(file, place(), memory);
    std::vector<float> floats;
    auto *from = reinterpret_cast<const uint16_t *>(memory);
    forEachOffset(view.shape, view.strides,
                  [&](int64_t offset) { floats.push_back(bfloatToFloat(from[offset])); });
    view.strides = getRowMajorStrides(view.shape);
    writeBlock(file, place(), reinterpret_cast<const std::byte *>(floats.data()));
  }

  void commit() {
    for (std::unique_ptr<OutputFile> &file : files)
      file->commit();
  }

private:
  static void makeFolder(const std::string &folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
      throwFailure("cannot make the folder '{}': {}", folder, error.message());
  }

  std::vector<NpyHeader> headers;
  std::vector<std::unique_ptr<OutputFile>> files; ///< of rank 0
  std::vector<std::string> paths;                 ///< of the files until they are put in place
};

std::string getExpectedPath(const std::string &folder, const program::Port &port) {
  return fs::path(folder) / getNpyFileName(port.name());
}

/// Compares this rank's part of one output with its file, piece by piece.
class PartComparison {
public:
  PartComparison(const PortBlock &output, int64_t steps, const std::string &folder) {
    result.name = output.port->name();
    result.file = getExpectedPath(folder, *output.port);
    header = readNpyHeader(result.file);
    std::vector<int64_t> shape = output.shape;
    if (steps > 0)
      shape.insert(shape.begin(), steps);
    result.shapeFits = header.shape == shape;
    if (result.shapeFits)
      reader.emplace(File::open(result.file));
  }

  /// Compares a piece of `block`, this rank's part of the output in its file.
  void add(const PortBlock &block, const Piece &piece, const std::byte *memory) {
    if (!result.shapeFits)
      return;
    View dense = piece.view;
    dense.dtype = header.dtype;
    dense.strides = getRowMajorStrides(dense.shape);
    std::vector<std::byte> expected(dense.getNumBytes());
    reader->read(getFileBlock(block, header, dense, piece.start), expected.data());
    int64_t index = 0;
    forEachOffset(piece.view.shape, piece.view.strides, [&](int64_t offset) {
      double got = readAsDouble(piece.view.dtype, memory, offset);
      if (add(got, readAsDouble(header.dtype, expected.data(), index)))
        result.worst = getPosition(block, piece, index);
      ++index;
    });
  }

  const Comparison &getResult() const { return result; }

private:
  /// Returns whether this element is the farthest from what is expected.
  bool add(double got, double expected) {
    ++result.elements;
    if (std::isfinite(expected))
      result.magnitude = std::max(result.magnitude, std::abs(expected));
    if (!std::isfinite(got) || !std::isfinite(expected)) {
      result.nonfiniteMismatches += !(got == expected || (std::isnan(got) && std::isnan(expected)));
      return false;
    }
    bool worst = !any || std::abs(got - expected) > result.difference;
    any = true;
    result.difference = std::max(result.difference, std::abs(got - expected));
    return worst;
  }

  /// The row-major position, in the whole tensor, of a piece's element.
  static int64_t getPosition(const PortBlock &block, const Piece &piece, int64_t index) {
    std::vector<int64_t> strides = getWholeStrides(block, /*fortranOrder=*/false);
    int64_t position = 0;
    for (size_t dim = strides.size(); dim-- > 0;) {
      int64_t extent = piece.view.shape[dim];
      position += (block.start[dim] + piece.start[dim] + index % extent) * strides[dim];
      index /= extent;
    }
    return position;
  }

  Comparison result;
  NpyHeader header;
  std::optional<BlockReader> reader;
  bool any = false; ///< whether any pair of elements is finite
};

/// All ranks' comparisons of one output, joined.
Comparison joinComparisons(Transport &transport, const Comparison &part) {
  Comparison whole;
  whole.name = part.name;
  whole.file = part.file;
  double numbers[] = {part.difference,       part.magnitude,
                      double(part.elements), double(part.nonfiniteMismatches),
                      double(part.worst),    double(part.shapeFits)};
  for (const std::string &text :
       gatherTexts(transport, {reinterpret_cast<const char *>(numbers), sizeof(numbers)})) {
    std::memcpy(numbers, text.data(), sizeof(numbers));
    if (numbers[0] > whole.difference) {
      whole.difference = numbers[0];
      whole.worst = static_cast<int64_t>(numbers[4]);
    }
    whole.magnitude = std::max(whole.magnitude, numbers[1]);
    whole.elements += static_cast<int64_t>(numbers[2]);
    whole.nonfiniteMismatches += static_cast<int64_t>(numbers[3]);
    whole.shapeFits &= numbers[5] != 0;
  }
  return whole;
}

} // namespace

double Comparison::getRelative() const {
  return magnitude > 0 ? difference / magnitude : difference;
}

bool Comparison::isWithin(double tolerance) const {
  return shapeFits && nonfiniteMismatches == 0 && getRelative() <= tolerance;
}

void checkExpected(const program::Program &program, const std::string &folder) {
  for (const program::Port &port : program.outputs())
    readNpyHeader(getExpectedPath(folder, port));
}

struct OutputDelivery::Files : OutputFiles {
  using OutputFiles::OutputFiles;
};
struct OutputDelivery::Comparisons {
  std::vector<PartComparison> parts; ///< one an output; empty: nothing is compared
};

OutputDelivery::OutputDelivery(Transport &transport, const std::vector<PortBlock> &outputs,
                               const OutputFolders &folders, int64_t steps)
    : transport(transport), outputs(outputs), steps(steps),
      comparisons(std::make_unique<Comparisons>()) {
  if (!folders.written.empty())
    files = std::make_unique<Files>(transport, outputs, steps, folders.written);
  agree(transport, [&] {
    for (const PortBlock &output : outputs)
      if (!folders.expected.empty())
        comparisons->parts.emplace_back(output, steps, folders.expected);
  });
}

OutputDelivery::~OutputDelivery() = default;

void OutputDelivery::add(int64_t step, const PortAccess &access) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    PartComparison *comparison = comparisons->parts.empty() ? nullptr : &comparisons->parts[i];
    if (!outputs[i].firstCopy || (!files && !comparison))
      continue;
    PortBlock block = steps > 0 ? inStack(outputs[i], steps, step) : outputs[i];
    File file = files ? files->open(i) : File();
    access.staging.look(block.local, access.bases, access.stream,
                        [&](const Piece &piece, const std::byte *memory) {
                          if (files)
                            files->write(i, block, file, piece, memory);
                          if (comparison)
                            comparison->add(block, piece, memory);
                        });
  }
}

std::vector<Comparison> OutputDelivery::finish() {
  gatherTexts(transport, ""); // all have written their parts
  if (files)
    agree(transport, [&] { files->commit(); });
  std::vector<Comparison> whole;
  for (const PartComparison &part : comparisons->parts)
    whole.push_back(joinComparisons(transport, part.getResult()));
  return whole;
}

} // namespace weft::runtime
