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
  OutputFiles(Transport &transport, const std::vector<PortBlock> &outputs,
              const std::string &folder)
      : outputs(outputs) {
    std::string made;
    agree(transport, [&] {
      if (transport.getRank() == 0)
        makeFolder(folder);
      for (const PortBlock &output : outputs) {
        NpyHeader header{getNpyDType(output.local.dtype), output.shape, false, 0};
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

  void write(size_t output, File &file, const Piece &piece, const std::byte *memory) const {
    View view = piece.view;
    if (view.dtype != program::BF16)
      return writeBlock(file, getBlock(output, view, piece), memory);
    std::vector<float> floats;
    auto *from = reinterpret_cast<const uint16_t *>(memory);
    forEachOffset(view.shape, view.strides,
                  [&](int64_t offset) { floats.push_back(bfloatToFloat(from[offset])); });
    view.strides = getRowMajorStrides(view.shape);
    writeBlock(file, getBlock(output, view, piece),
               reinterpret_cast<const std::byte *>(floats.data()));
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

  StridedBlock getBlock(size_t output, const View &view, const Piece &piece) const {
    return getFileBlock(outputs[output], headers[output], view, piece.start);
  }

  const std::vector<PortBlock> &outputs;
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
  PartComparison(const PortBlock &output, const std::string &folder) : output(output) {
    result.name = output.port->name();
    result.file = getExpectedPath(folder, *output.port);
    header = readNpyHeader(result.file);
    result.shapeFits = header.shape == output.shape;
    if (result.shapeFits)
      reader.emplace(File::open(result.file));
  }

  void add(const Piece &piece, const std::byte *memory) {
    if (!result.shapeFits)
      return;
    View dense = piece.view;
    dense.dtype = header.dtype;
    dense.strides = getRowMajorStrides(dense.shape);
    std::vector<std::byte> expected(dense.getNumBytes());
    reader->read(getFileBlock(output, header, dense, piece.start), expected.data());
    int64_t index = 0;
    forEachOffset(piece.view.shape, piece.view.strides, [&](int64_t offset) {
      double got = readAsDouble(piece.view.dtype, memory, offset);
      if (add(got, readAsDouble(header.dtype, expected.data(), index)))
        result.worst = getPosition(piece, index);
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
      result.unlike += !(got == expected || (std::isnan(got) && std::isnan(expected)));
      return false;
    }
    bool worst = !any || std::abs(got - expected) > result.difference;
    any = true;
    result.difference = std::max(result.difference, std::abs(got - expected));
    return worst;
  }

  /// The row-major position, in the whole tensor, of a piece's element.
  int64_t getPosition(const Piece &piece, int64_t index) const {
    std::vector<int64_t> strides = getWholeStrides(output, /*fortranOrder=*/false);
    int64_t position = 0;
    for (size_t dim = strides.size(); dim-- > 0;) {
      int64_t extent = piece.view.shape[dim];
      position += (output.start[dim] + piece.start[dim] + index % extent) * strides[dim];
      index /= extent;
    }
    return position;
  }

  const PortBlock &output;
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
  double numbers[] = {part.difference,     part.magnitude,     double(part.elements),
                      double(part.unlike), double(part.worst), double(part.shapeFits)};
  for (const std::string &text :
       gatherTexts(transport, {reinterpret_cast<const char *>(numbers), sizeof(numbers)})) {
    std::memcpy(numbers, text.data(), sizeof(numbers));
    if (numbers[0] > whole.difference) {
      whole.difference = numbers[0];
      whole.worst = static_cast<int64_t>(numbers[4]);
    }
    whole.magnitude = std::max(whole.magnitude, numbers[1]);
    whole.elements += static_cast<int64_t>(numbers[2]);
    whole.unlike += static_cast<int64_t>(numbers[3]);
    whole.shapeFits &= numbers[5] != 0;
  }
  return whole;
}

} // namespace

double Comparison::getRelative() const {
  return magnitude > 0 ? difference / magnitude : difference;
}

bool Comparison::isWithin(double tolerance) const {
  return shapeFits && unlike == 0 && getRelative() <= tolerance;
}

void checkExpected(const program::Program &program, const std::string &folder) {
  for (const program::Port &port : program.outputs())
    readNpyHeader(getExpectedPath(folder, port));
}

std::vector<Comparison> deliverOutputs(Transport &transport, const std::vector<PortBlock> &outputs,
                                       const OutputFolders &folders, const PortAccess &access) {
  std::optional<OutputFiles> files;
  if (!folders.written.empty())
    files.emplace(transport, outputs, folders.written);
  std::vector<Comparison> parts;
  agree(transport, [&] {
    for (size_t i = 0; i < outputs.size(); ++i) {
      const PortBlock &output = outputs[i];
      std::optional<PartComparison> comparison;
      if (!folders.expected.empty())
        comparison.emplace(output, folders.expected);
      if (output.firstCopy && (files || comparison)) {
        File file = files ? files->open(i) : File();
        access.staging.look(output.local, access.bases, access.stream,
                            [&](const Piece &piece, const std::byte *memory) {
                              if (files)
                                files->write(i, file, piece, memory);
                              if (comparison)
                                comparison->add(piece, memory);
                            });
      }
      if (comparison)
        parts.push_back(comparison->getResult());
    }
  });
  if (files)
    agree(transport, [&] { files->commit(); });
  std::vector<Comparison> comparisons;
  for (const Comparison &part : parts)
    comparisons.push_back(joinComparisons(transport, part));
  return comparisons;
}

} // namespace weft::runtime
