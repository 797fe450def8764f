// Known transfers, and the messages of random ones carried out element by element.

#include "compiler/Sharding/Transfer.h"

#include "llvm/ADT/STLExtras.h"
#include <catch2/catch.hpp>
#include <map>
#include <numeric>
#include <random>

using namespace weft;
using Shape = llvm::SmallVector<int64_t, 4>;

/// Of so many bytes every block is worth to be gathered.
static constexpr int64_t large = 1 << 20;

static const AxisRef x2{0, 1, 2}, x4{0, 1, 4}, x4Major{0, 1, 2}, x4Minor{0, 2, 2}, x3{0, 1, 3};
static const AxisRef y2{1, 1, 2};

/// A mesh of axes "x" and "y" … of these sizes.
static MeshShape makeMesh(llvm::ArrayRef<int64_t> sizes) {
  MeshShape mesh;
  for (auto [index, size] : llvm::enumerate(sizes))
    mesh.axes.push_back({std::string(1, static_cast<char>("xyzuvw"[index])), size});
  return mesh;
}

/// `0: both 2, source 2; copies: target 4`.
static std::string str(llvm::ArrayRef<TransferDigit> digits) {
  std::string text;
  std::string before;
  for (const TransferDigit &digit : digits) {
    std::string place = digit.dim ? std::to_string(*digit.dim) : "copies";
    if (place != before)
      text += (text.empty() ? "" : "; ") + place + ":";
    else
      text += ",";
    before = place;
    text += digit.source ? (digit.target ? " both " : " source ") : " target ";
    text += std::to_string(digit.size);
  }
  return text;
}

static std::string digits(const MeshShape &from, const MeshShape &to, const TensorSharding &source,
                          const TensorSharding &target) {
  auto found = findTransferDigits(from, to, source, target);
  return found ? str(*found) : "none";
}

/// `SOURCE | TARGET`.
static std::string path(const MeshShape &from, const MeshShape &to, llvm::ArrayRef<int64_t> shape,
                        int64_t elementBytes, const TensorSharding &source,
                        const TensorSharding &target) {
  TransferPath found = findTransferPath(from, to, shape, elementBytes, source, target);
  return str(from, found.source) + " | " + str(to, found.target);
}

TEST_CASE("digits of known transfers") {
  MeshShape two = makeMesh({2}), four = makeMesh({4}), square = makeMesh({2, 2});
  CHECK(digits(four, two, {{{x4}, {}}}, {{{x2}, {}}}) == "0: both 2, source 2");
  CHECK(digits(two, four, {{{x2}, {}}}, {{{}, {x4}}}) == "0: source 2; 1: target 4");
  CHECK(digits(two, four, {{{x2}, {}}}, {{{x4}, {}}}) == "0: both 2, target 2");
  CHECK(digits(two, two, {{{}, {}}}, {{{}, {}}}) == "copies: both 2");
  CHECK(digits(four, two, {{{}, {}}}, {{{}, {}}}) == "copies: both 2, source 2");
  CHECK(digits(two, four, {{{x2}, {}}}, {{{x4Major}, {}}}) == "0: both 2; copies: target 2");
  CHECK(digits(four, two, {{{x4Minor}, {}}}, {{{x2}, {}}}) == "0: both 2; copies: source 2");
  CHECK(digits(four, square, {{{x4}, {}}}, {{{y2, x2}, {}}}) == "0: both 2, both 2");
  CHECK(digits(two, makeMesh({3}), {{{x2}, {}}}, {{{x3}, {}}}) == "none");
  CHECK(digits(two, two, {{}}, {{}}) == "copies: both 2"); // a scalar
}

TEST_CASE("known paths") {
  MeshShape one = makeMesh({}), two = makeMesh({2}), four = makeMesh({4});
  TensorSharding whole{{{}, {}}}, rows{{{x2}, {}}};
  CHECK(path(two, two, {8, 8}, 4, rows, rows) == "[{\"x\"}, {}] | [{\"x\"}, {}]");
  CHECK(path(one, one, {8, 8}, 4, whole, whole) == "[{}, {}] | [{}, {}]");
  // Copies of the source send a part each, and to each device of the target what it holds.
  CHECK(path(two, one, {8, 8}, 4, whole, whole) == "[{\"x\"}, {}] | [{}, {}]");
  CHECK(path(two, two, {8, 8}, 4, whole, rows) == "[{\"x\"}, {}] | [{\"x\"}, {}]");
  // Copies of the target receive a part each where a block has bytes enough to be gathered.
  CHECK(path(one, two, {8, 8}, 4, whole, whole) == "[{}, {}] | [{}, {}]");
  CHECK(path(one, two, {8, 8}, large, whole, whole) == "[{}, {}] | [{\"x\"}, {}]");
  CHECK(path(two, two, {8, 8}, large, rows, whole) == "[{\"x\"}, {}] | [{\"x\"}, {}]");
  CHECK(path(two, two, {8, 8}, 4, rows, whole) == "[{\"x\"}, {}] | [{}, {}]");
  // Copies that both have are paired.
  CHECK(path(two, four, {8, 8}, 4, whole, whole) == "[{}, {}] | [{}, {}]");
  // Another dimension is divided where the first does not divide, none where none does.
  CHECK(path(two, one, {7, 8}, 4, whole, whole) == "[{}, {\"x\"}] | [{}, {}]");
  CHECK(path(two, one, {7, 7}, 4, whole, whole) == "[{}, {}] | [{}, {}]");
  // What does not pair is joined, and parted along another dimension.
  CHECK(path(two, makeMesh({3}), {6, 8}, 4, rows, {{{x3}, {}}}) == "[{}, {\"x\"}] | [{\"x\"}, {}]");
}

//===----------------------------------------------------------------------===//
// Random transfers
//===----------------------------------------------------------------------===//

namespace {

/// The coordinate of a position along a digit.
int64_t getCoordinate(const MeshShape &mesh, int64_t position, AxisRef ref) {
  for (size_t axis = mesh.axes.size(); axis-- > ref.axis + 1;)
    position /= mesh.axes[axis].size;
  int64_t ofAxis = position % mesh.axes[ref.axis].size;
  return ofAxis / (mesh.axes[ref.axis].size / ref.end()) % ref.size;
}

/// What one device holds: per dimension the first index and the extent.
struct Block {
  Shape start, extent;

  bool operator==(const Block &) const = default;
  void divide(unsigned dim, int64_t count, int64_t index) {
    REQUIRE(extent[dim] % count == 0);
    extent[dim] /= count;
    start[dim] += index * extent[dim];
  }
};

Block getBlock(const MeshShape &mesh, int64_t position, llvm::ArrayRef<int64_t> shape,
               const TensorSharding &sharding) {
  Block block{Shape(shape.size(), 0), Shape(shape)};
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    for (AxisRef ref : sharding.dims[dim])
      block.divide(dim, ref.size, getCoordinate(mesh, position, ref));
  return block;
}

/// Numbers of the elements of a block, row-major.
std::vector<int64_t> listElements(const Block &block, llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> elements = {0};
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<int64_t> next;
    for (int64_t element : elements)
      for (int64_t i = 0; i < block.extent[dim]; ++i)
        next.push_back(element * shape[dim] + block.start[dim] + i);
    elements = std::move(next);
  }
  return elements;
}

struct Case {
  MeshShape from, to;
  Shape shape;
  int64_t elementBytes = 4;
  TensorSharding source, target;

  std::string str() const {
    auto describe = [](const MeshShape &mesh) {
      std::string text = "{";
      for (const MeshAxis &axis : mesh.axes)
        text += " " + axis.name + "=" + std::to_string(axis.size);
      return text + " }";
    };
    std::string text = describe(from) + " " + weft::str(from, source) + " to " + describe(to) +
                       " " + weft::str(to, target) + " of";
    for (int64_t extent : shape)
      text += " " + std::to_string(extent);
    return text + " of " + std::to_string(elementBytes) + " bytes";
  }
};

class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}

  int64_t below(int64_t limit) { return static_cast<int64_t>(engine() % uint64_t(limit)); }

  Case makeCase() {
    Case made{makeMesh(), makeMesh(), Shape(below(4)), below(2) ? large : 4, {}, {}};
    made.source = makeSharding(made.from, made.shape.size());
    made.target = makeSharding(made.to, made.shape.size());
    for (auto [dim, extent] : llvm::enumerate(made.shape)) {
      int64_t a = blocks(made.source.dims[dim]), b = blocks(made.target.dims[dim]);
      extent = std::lcm(a, b) * (1 + below(4));
    }
    return made;
  }

private:
  MeshShape makeMesh() {
    static const int64_t all[] = {1, 2, 2, 3, 4, 6};
    Shape sizes;
    for (int64_t count = below(4); count > 0; --count)
      sizes.push_back(all[below(std::size(all))]);
    return ::makeMesh(sizes);
  }

  /// Digits of a mesh, some of them parts of an axis, in any dimension and order or in none.
  TensorSharding makeSharding(const MeshShape &mesh, size_t rank) {
    AxisList all;
    for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
      int64_t size = mesh.axes[axis].size, pre = 1;
      while (size > 1) {
        int64_t digit = 2 + below(size - 1);
        if (size % digit != 0)
          continue;
        all.push_back({axis, pre, digit});
        pre *= digit;
        size /= digit;
      }
    }
    std::shuffle(all.begin(), all.end(), engine);
    TensorSharding sharding = TensorSharding::replicated(rank);
    for (AxisRef ref : all)
      if (size_t dim = below(static_cast<int64_t>(rank) + 1); dim < rank)
        append(sharding.dims[dim], ref);
    return sharding;
  }

  std::mt19937 engine;
};

/// All messages of a transfer, from what its digits say.
class Simulation {
public:
  Simulation(const Case &given, const TransferPath &path,
             llvm::ArrayRef<TransferDigit> transferDigits)
      : given(given), path(path), digits(transferDigits) {}

  void run() {
    checkDigits(given.from, [](const TransferDigit &digit) { return digit.source; });
    checkDigits(given.to, [](const TransferDigit &digit) { return digit.target; });
    for (int64_t sender = 0; sender < given.from.devices(); ++sender)
      if (isLeader(sender))
        send(sender, 0, std::vector<int64_t>(digits.size()));
    for (int64_t receiver = 0; receiver < given.to.devices(); ++receiver) {
      std::vector<int64_t> wanted =
          listElements(getBlock(given.to, receiver, given.shape, path.target), given.shape);
      std::vector<int64_t> &arrived = received[receiver];
      llvm::sort(wanted);
      llvm::sort(arrived);
      CHECK(arrived == wanted); // each element once
    }
  }

private:
  /// Each digit of the mesh stands in one digit of the transfer.
  template <typename Get> void checkDigits(const MeshShape &mesh, Get get) {
    std::map<int64_t, int64_t> found; // how often
    for (int64_t device = 0; device < mesh.devices(); ++device) {
      int64_t number = 0;
      for (const TransferDigit &digit : digits)
        if (std::optional<AxisRef> own = get(digit)) {
          CHECK(own->size == digit.size);
          number = number * digit.size + getCoordinate(mesh, device, *own);
        }
      ++found[number];
    }
    CHECK(static_cast<int64_t>(found.size()) == mesh.devices());
  }

  bool isLeader(int64_t sender) const {
    return llvm::all_of(digits, [&](const TransferDigit &digit) {
      return digit.target || digit.dim || getCoordinate(given.from, sender, *digit.source) == 0;
    });
  }

  /// Sends to every receiver: for digits of both sides the sender's coordinate is the receiver's,
  /// for those of the target alone each is one.
  void send(int64_t sender, size_t digit, std::vector<int64_t> values) {
    if (digit == digits.size())
      return deliver(sender, values);
    const TransferDigit &at = digits[digit];
    for (int64_t value = 0; value < (at.source ? 1 : at.size); ++value) {
      values[digit] = at.source ? getCoordinate(given.from, sender, *at.source) : value;
      send(sender, digit + 1, values);
    }
  }

  void deliver(int64_t sender, const std::vector<int64_t> &values) {
    int64_t receiver = findReceiver(values);
    Block sent = getBlock(given.from, sender, given.shape, path.source);
    Block taken = getBlock(given.to, receiver, given.shape, path.target);
    for (auto [digit, value] : llvm::zip_equal(digits, values))
      if (digit.dim && !(digit.source && digit.target))
        (digit.source ? taken : sent).divide(*digit.dim, digit.size, value);
    CHECK(sent == taken); // the piece of the sender's block is the piece of the receiver's
    std::vector<int64_t> elements = listElements(sent, given.shape);
    std::vector<int64_t> &arrived = received[receiver];
    arrived.insert(arrived.end(), elements.begin(), elements.end());
  }

  int64_t findReceiver(const std::vector<int64_t> &values) {
    for (int64_t receiver = 0; receiver < given.to.devices(); ++receiver) {
      auto isAt = [&](auto pair) {
        const TransferDigit &digit = std::get<0>(pair);
        return !digit.target ||
               getCoordinate(given.to, receiver, *digit.target) == std::get<1>(pair);
      };
      if (llvm::all_of(llvm::zip_equal(digits, values), isAt))
        return receiver;
    }
    FAIL("nobody has these coordinates");
    return 0;
  }

  const Case &given;
  const TransferPath &path;
  llvm::ArrayRef<TransferDigit> digits;
  std::map<int64_t, std::vector<int64_t>> received; ///< elements, by receiver
};

} // namespace

TEST_CASE("every element arrives once") {
  Random random(12);
  int gathered = 0, joined = 0, sliced = 0;
  for (int i = 0; i < 2000; ++i) {
    Case given = random.makeCase();
    INFO(given.str());
    TransferPath path = findTransferPath(given.from, given.to, given.shape, given.elementBytes,
                                         given.source, given.target);
    INFO(str(given.from, path.source) << " | " << str(given.to, path.target));
    auto found = findTransferDigits(given.from, given.to, path.source, path.target);
    REQUIRE(found);
    INFO(str(*found));
    Simulation(given, path, *found).run();
    bool pairs = bool(findTransferDigits(given.from, given.to, given.source, given.target));
    for (auto [wanted, now] : llvm::zip_equal(given.target.dims, path.target.dims))
      CHECK(rest(now, wanted)); // the target only gathers
    for (auto [had, now] : llvm::zip_equal(given.source.dims, path.source.dims))
      CHECK((!pairs || rest(now, had))); // the source only slices
    gathered += !(path.target == given.target);
    joined += !pairs;
    sliced += pairs && !(path.source == given.source);
  }
  CHECK((gathered > 100 && joined > 100 && sliced > 100)); // all of it was seen
}

TEST_CASE("small blocks are not gathered") {
  Random random(13);
  for (int i = 0; i < 500; ++i) {
    Case given = random.makeCase();
    given.elementBytes = 4;
    int64_t elements = 1;
    for (auto [extent, axes] : llvm::zip_equal(given.shape, given.target.dims))
      elements *= extent / blocks(axes);
    if (elements * 4 >= 64 << 10)
      continue;
    INFO(given.str());
    CHECK(
        findTransferPath(given.from, given.to, given.shape, 4, given.source, given.target).target ==
        given.target);
  }
}
