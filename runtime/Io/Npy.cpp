//===- Npy.cpp - numpy's .npy files ---------------------------------------===//

#include "runtime/Io/Npy.h"

#include "runtime/Support/Error.h"
#include "runtime/Support/File.h"
#include "runtime/Support/OutputFile.h"

#include <cctype>
#include <cstring>
#include <limits>
#include <string_view>

namespace weft::runtime {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
constexpr uint64_t alignment = 64; // of the first element, as numpy writes it
constexpr uint64_t maxHeader = 1 << 20;

struct DescrEntry {
  std::string_view descr;
  DType dtype;
};
constexpr DescrEntry descrs[] = {
    {"|b1", program::I1},  {"|i1", program::I8},  {"<i2", program::I16}, {"<i4", program::I32},
    {"<i8", program::I64}, {"|u1", program::U8},  {"<u2", program::U16}, {"<u4", program::U32},
    {"<u8", program::U64}, {"<f2", program::F16}, {"<f4", program::F32}, {"<f8", program::F64},
};

/// Parses the Python dictionary of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (3,
/// 4), }.
class HeaderParser {
public:
  HeaderParser(const std::string &path, std::string_view text) : path(path), text(text) {}

  void parse(NpyHeader &header) {
    expect('{');
    while (!accept('}')) {
      std::string_view key = parseString();
      expect(':');
      if (key == "descr")
        header.dtype = parseDescr();
      else if (key == "fortran_order")
        header.fortranOrder = parseBool();
      else if (key == "shape")
        header.shape = parseShape();
      else
        fail(fmt::format("has the unknown key '{}'", key));
      ++keys;
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (keys != 3 || header.dtype == program::DTYPE_UNKNOWN)
      fail("must hold 'descr', 'fortran_order' and 'shape'");
  }

private:
  [[noreturn]] void fail(const std::string &what) {
    throwBadInput("'{}' is not a readable .npy file: its header {}", path, what);
  }

  void skipSpace() {
    while (position < text.size() && std::isspace(static_cast<unsigned char>(text[position])))
      ++position;
  }

  bool accept(char c) {
    skipSpace();
    if (position >= text.size() || text[position] != c)
      return false;
    ++position;
    return true;
  }

  void expect(char c) {
    if (!accept(c))
      fail(fmt::format("lacks '{}' at byte {}", c, position));
  }

  std::string_view parseString() {
    skipSpace();
    char quote = position < text.size() ? text[position] : ' ';
    size_t end = quote == '\'' || quote == '"' ? text.find(quote, position + 1) : text.npos;
    if (end == text.npos)
      fail(fmt::format("lacks a string at byte {}", position));
    std::string_view value = text.substr(position + 1, end - position - 1);
    position = end + 1;
    return value;
  }

  DType parseDescr() {
    skipSpace();
    if (position < text.size() && text[position] == '[')
      fail("describes records, which have no tensor type");
    std::string_view descr = parseString();
    for (const DescrEntry &entry : descrs)
      if (entry.descr.substr(1) == descr.substr(descr.empty() ? 0 : 1) &&
          (entry.descr[0] == descr[0] || descr[0] == '=' ||
           (entry.descr[0] == '|' && descr[0] == '<')))
        return entry.dtype;
    fail(fmt::format("has element type '{}'; use a little-endian bool, int, uint or float", descr));
  }

  bool parseBool() {
    skipSpace();
    for (bool value : {false, true}) {
      std::string_view word = value ? "True" : "False";
      if (text.substr(position, word.size()) == word) {
        position += word.size();
        return value;
      }
    }
    fail("has neither True nor False as 'fortran_order'");
  }

  std::vector<int64_t> parseShape() {
    std::vector<int64_t> shape;
    expect('(');
    while (!accept(')')) {
      skipSpace();
      size_t begin = position;
      uint64_t extent = 0;
      while (position < text.size() && std::isdigit(static_cast<unsigned char>(text[position]))) {
        extent = extent * 10 + (text[position++] - '0');
        if (extent > uint64_t(std::numeric_limits<int64_t>::max()) / 16)
          fail("has a dimension beyond all bounds");
      }
      if (position == begin)
        fail(fmt::format("lacks a dimension at byte {}", position));
      accept('L');
      shape.push_back(static_cast<int64_t>(extent));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return shape;
  }

  const std::string &path;
  std::string_view text;
  size_t position = 0;
  int keys = 0;
};

/// Bytes of the array, refusing products beyond int64.
uint64_t checkedBytes(const std::string &path, const NpyHeader &header) {
  uint64_t bytes = getElementSize(header.dtype);
  bool empty = false;
  for (int64_t extent : header.shape) {
    empty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(bytes, uint64_t(extent), &bytes))
      throwBadInput("'{}' is not a readable .npy file: its shape is beyond all bounds", path);
  }
  if (!empty && bytes > uint64_t(std::numeric_limits<int64_t>::max()))
    throwBadInput("'{}' is not a readable .npy file: its shape is beyond all bounds", path);
  return empty ? 0 : bytes;
}

/// Turns column-major elements into row-major ones.
std::vector<std::byte> toRowMajor(const std::vector<std::byte> &columns,
                                  const std::vector<int64_t> &shape, int64_t size) {
  std::vector<std::byte> rows(columns.size());
  std::vector<int64_t> stride(shape.size()), index(shape.size(), 0);
  int64_t step = size;
  for (size_t i = 0; i < shape.size(); ++i) {
    stride[i] = step;
    step *= shape[i];
  }
  int64_t from = 0;
  for (size_t to = 0; to < rows.size(); to += size) {
    std::memcpy(&rows[to], &columns[from], size);
    for (size_t i = shape.size(); i-- > 0;) {
      from += stride[i];
      if (++index[i] < shape[i])
        break;
      from -= stride[i] * shape[i];
      index[i] = 0;
    }
  }
  return rows;
}

} // namespace

int64_t NpyHeader::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

uint64_t NpyHeader::getNumBytes() const { return getNumElements() * getElementSize(dtype); }

NpyHeader readNpyHeader(const std::string &path) {
  File file = File::open(path);
  return readNpyHeader(path, file.getSize(), [&](uint64_t offset, void *data, uint64_t bytes) {
    file.readAt(offset, data, bytes);
  });
}

NpyHeader readNpyHeader(const std::string &path, uint64_t fileSize, const ReadBytes &read) {
  auto bad = [&](const char *what) {
    throwBadInput("'{}' is not a readable .npy file: {}", path, what);
  };
  unsigned char prefix[12];
  if (fileSize < sizeof(prefix))
    bad("it is shorter than a header");
  read(0, prefix, sizeof(prefix));
  if (std::memcmp(prefix, magic.data(), magic.size()) != 0)
    bad("it does not begin with numpy's magic");
  unsigned version = prefix[6];
  if (version < 1 || version > 3)
    bad("its format version is none of 1, 2, 3");
  uint64_t begin = version == 1 ? 10 : 12;
  uint64_t length = uint64_t(prefix[8]) | uint64_t(prefix[9]) << 8;
  if (version > 1)
    length |= uint64_t(prefix[10]) << 16 | uint64_t(prefix[11]) << 24;
  if (length > maxHeader || begin + length > fileSize)
    bad("its header is truncated");
  std::string text(length, '\0');
  read(begin, text.data(), length);
  NpyHeader header;
  HeaderParser(path, text).parse(header);
  header.dataOffset = begin + length;
  uint64_t bytes = checkedBytes(path, header);
  if (fileSize - header.dataOffset < bytes)
    throwBadInput("'{}' is truncated: its shape needs {} bytes, the file has {}", path, bytes,
                  fileSize - header.dataOffset);
  return header;
}

NpyArray readNpy(const std::string &path) {
  NpyHeader header = readNpyHeader(path);
  NpyArray array{header.dtype, header.shape, std::vector<std::byte>(header.getNumBytes())};
  File::open(path).readAt(header.dataOffset, array.data.data(), array.data.size());
  if (header.fortranOrder && array.shape.size() > 1)
    array.data = toRowMajor(array.data, array.shape, getElementSize(array.dtype));
  return array;
}

DType getNpyDType(DType dtype) { return dtype == program::BF16 ? program::F32 : dtype; }

std::string formatNpyHeader(DType dtype, const std::vector<int64_t> &shape) {
  std::string_view descr;
  for (const DescrEntry &entry : descrs)
    if (entry.dtype == dtype)
      descr = entry.descr;
  std::string dims;
  for (int64_t extent : shape)
    dims += fmt::format("{}, ", extent);
  if (shape.size() == 1)
    dims.pop_back(); // "(3,)"
  else if (!dims.empty())
    dims.resize(dims.size() - 2);
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  uint64_t prefix = 10;
  if (text.size() + prefix + alignment > 65535)
    prefix = 12;
  text.append(alignment - 1 - (prefix + text.size()) % alignment, ' ');
  text.push_back('\n');
  std::string header(magic);
  header.push_back(prefix == 10 ? '\1' : '\2');
  header.push_back('\0');
  for (uint64_t i = 0; i < prefix - 8; ++i)
    header.push_back(static_cast<char>(text.size() >> (8 * i)));
  return header + text;
}

void writeNpy(const std::string &path, const NpyArray &array) {
  OutputFile file(path);
  auto append = [&](const auto &values) {
    file.write({reinterpret_cast<const char *>(values.data()), values.size() * sizeof(values[0])});
  };
  append(formatNpyHeader(getNpyDType(array.dtype), array.shape));
  if (array.dtype == program::BF16) {
    std::vector<float> wide(array.data.size() / 2);
    for (size_t i = 0; i < wide.size(); ++i) {
      uint16_t bits;
      std::memcpy(&bits, &array.data[2 * i], 2);
      wide[i] = bfloatToFloat(bits);
    }
    append(wide);
  } else {
    append(array.data);
  }
  file.commit();
}

std::string getNpyFileName(const std::string &name) {
  std::string file;
  for (unsigned char c : name) {
    if (std::isalnum(c) || c == '.' || c == '_' || c == '-')
      file.push_back(static_cast<char>(c));
    else
      file += fmt::format("%{:02X}", c);
  }
  return file + ".npy";
}

} // namespace weft::runtime
