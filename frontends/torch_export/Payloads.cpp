#include "frontends/torch_export/Payloads.h"

#include "frontends/torch_export/Node.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::frontend;
using namespace weft::frontend::aten;

/// A table of names; no real model comes near.
static constexpr uint64_t maxTableBytes = 1 << 30;
/// Of all views that are copied out: views that overlap may each be much larger than their storage.
static constexpr int64_t maxCopiedBytes = 4 * maxConstantBytes;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Payloads::Payloads(const Archive &archive, StringRef name, StringRef fileName, Weights &weights,
                   Emitter &emit)
    : archive(archive), fileName(fileName), weights(weights), emit(emit) {
  // Parameters and persistent buffers, then the others; a name that both have is the former's.
  readTable("data/weights/", name.str() + "_weights_config.json");
  readTable("data/constants/", name.str() + "_constants_config.json");
}

void Payloads::readTable(const std::string &folder, const std::string &table) {
  if (!archive.find(folder + table)) {
    for (const std::string &entry : archive.list(folder))
      if (StringRef(entry).ends_with(".pt"))
        throw ImportError("the archive keeps its weights pickled ('" + entry +
                          "'), as older releases of torch wrote them; load it with "
                          "torch.export.load and save it again with torch 2.9 or newer");
    return;
  }
  std::string text = archive.read(folder + table, maxTableBytes);
  nlohmann::json document = parseJson(text, folder + table);
  for (auto &[key, meta] : readPayloads(Json(document, folder + table)))
    payloads.try_emplace(key, Payload{meta, folder + meta.file});
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

std::optional<DenseBlock> weft::frontend::aten::denseBlock(const StridedView &view,
                                                           int64_t elements) {
  DenseBlock block{view.offset, {}, {}, {}, {}};
  for (auto [dim, size] : llvm::enumerate(view.sizes))
    if (view.strides[dim] > 0 && size > 1)
      block.order.push_back(dim);
  llvm::sort(block.order, [&](int64_t a, int64_t b) {
    return std::pair(-view.strides[a], a) < std::pair(-view.strides[b], b);
  });
  // A row of dimension i is as long as the stride of the dimension before it.
  int64_t left = view.offset, pitch = 0;
  for (auto [i, dim] : llvm::enumerate(block.order)) {
    int64_t stride = view.strides[dim];
    if (i > 0 && (pitch % stride != 0 || pitch / stride < view.sizes[dim]))
      return std::nullopt;
    block.shape.push_back(i == 0 ? view.sizes[dim] : pitch / stride);
    block.starts.push_back(i == 0 ? 0 : left / stride);
    block.sizes.push_back(view.sizes[dim]);
    left = i == 0 ? view.offset % stride : left % stride;
    pitch = stride;
  }
  if (pitch > 1) { // elements between those of the last dimension
    block.shape.push_back(pitch);
    block.starts.push_back(left);
    block.sizes.push_back(1);
    left = 0;
  }
  if (!block.order.empty())
    block.start = view.offset - view.offset % view.strides[block.order.front()];
  for (auto [shape, start, size] : llvm::zip(block.shape, block.starts, block.sizes))
    if (start + size > shape)
      return std::nullopt;
  int64_t count = std::accumulate(block.shape.begin(), block.shape.end(), int64_t(1),
                                  std::multiplies<int64_t>());
  if (block.start + count > elements)
    return std::nullopt;
  return block;
}

static bool isRowMajor(const StridedView &view) {
  int64_t stride = 1;
  for (size_t dim = view.sizes.size(); dim-- > 0; stride *= view.sizes[dim])
    if (view.sizes[dim] != 1 && view.strides[dim] != stride)
      return false;
  return true;
}

/// Throws unless the view lies within a storage of `elements`.
static void checkView(const StridedView &view, int64_t elements) {
  int64_t last = view.offset;
  bool fits = view.offset >= 0;
  for (auto [size, stride] : llvm::zip(view.sizes, view.strides)) {
    int64_t reach = 0;
    fits &= stride >= 0 && !llvm::MulOverflow(std::max<int64_t>(size - 1, 0), stride, reach) &&
            !llvm::AddOverflow(last, reach, last);
  }
  if (!fits || last >= elements)
    throw ImportError("sizes " + frontend::describe(view.sizes) + " and strides " +
                      frontend::describe(view.strides) + " from element " +
                      std::to_string(view.offset) + " exceed the storage of " +
                      std::to_string(elements) + " elements");
}

static int64_t numberOf(const SymInt &size) {
  if (auto *number = std::get_if<int64_t>(&size))
    return *number;
  throw ImportError("it has the symbolic size " + std::get<std::string>(size));
}

/// Complex numbers as pairs of real ones, which is how they lie; other tensors stay.
static TensorMeta asPairs(TensorMeta meta) {
  std::optional<ScalarType> part = partOfComplex(meta.dtype);
  if (!part)
    return meta;
  auto twice = [](SymInt &size) {
    if (auto *number = std::get_if<int64_t>(&size);
        number && llvm::MulOverflow<int64_t>(*number, 2, *number))
      throw ImportError("a stride or offset is out of range");
  };
  llvm::for_each(meta.strides, twice);
  twice(meta.storageOffset);
  meta.sizes.push_back(int64_t(2));
  meta.strides.push_back(int64_t(1));
  meta.dtype = *part;
  return meta;
}

static StridedView viewOf(const TensorMeta &meta) {
  StridedView view{numberOf(meta.storageOffset), {}, {}};
  for (auto [size, stride] : llvm::zip(meta.sizes, meta.strides)) {
    view.sizes.push_back(numberOf(size));
    view.strides.push_back(numberOf(stride));
  }
  return view;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Tensor Payloads::copyView(const Payload &payload, const StridedView &view, RankedTensorType type) {
  copiedBytes += storageBytes(type);
  if (copiedBytes > maxCopiedBytes)
    throw ImportError("overlapping and compressed weights of more than " +
                      std::to_string(maxCopiedBytes) +
                      " bytes in all are not supported: save the program with contiguous weights");
  std::string content = archive.read(payload.entry, maxConstantBytes);
  int64_t size = storageBytes(type) / type.getNumElements();
  Tensor tensor = Tensor::allocate(type);
  char *to = tensor.mutableData();
  Shape index(view.sizes.size(), 0);
  int64_t at = view.offset;
  for (int64_t left = type.getNumElements(); left > 0; --left, to += size) {
    std::copy_n(content.data() + at * size, size, to);
    for (int64_t dim = index.size() - 1; dim >= 0; --dim) {
      at += view.strides[dim];
      if (++index[dim] < view.sizes[dim])
        break;
      at -= view.strides[dim] * index[dim];
      index[dim] = 0;
    }
  }
  return tensor;
}

/// Parameters stay in the file, and so do tables of floats. Integers, booleans and scalars may
/// decide shapes, and tensors that the program's text holds are constants of it.
static bool staysInFile(const InputSpec &spec, RankedTensorType type) {
  return spec.kind == InputSpec::Parameter ||
         (spec.kind == InputSpec::Buffer && Weights::isParameter(type));
}

Value Payloads::add(const InputSpec &spec, StoredTensor stored, StringRef name) {
  if (!staysInFile(spec, stored.type))
    return weights.addConstant(std::move(stored), name);
  return weights.addWeight(stored, name,
                           spec.kind == InputSpec::Parameter ? WeightKind::Parameter
                                                             : WeightKind::Constant);
}

/// A dense part of a loaded block as the view that it stands for.
static Value applyView(Emitter &emit, Value value, const DenseBlock &block,
                       const StridedView &view) {
  value = emit.slice(value, block.starts, block.sizes, Shape(block.shape.size(), 1));
  Shape sorted(ArrayRef(block.sizes).take_front(block.order.size()));
  value = emit.reshape(value, sorted);
  Shape permutation(llvm::to_vector_of<int64_t>(llvm::seq<int64_t>(0, block.order.size())));
  llvm::sort(permutation, [&](int64_t a, int64_t b) { return block.order[a] < block.order[b]; });
  value = emit.transpose(value, permutation);
  Shape dims(block.order);
  llvm::sort(dims);
  Shape units(view.sizes.size(), 1);
  for (int64_t dim : dims)
    units[dim] = view.sizes[dim];
  return emit.broadcast(emit.reshape(value, units), view.sizes);
}

static bool isFrozen(const InputSpec &spec, const TensorMeta &meta) {
  return spec.kind == InputSpec::Parameter && !meta.requiresGrad;
}

Value Payloads::createView(const Payload &payload, const InputSpec &spec, const StridedView &view,
                           Type element) {
  const ArchiveEntry &entry = *archive.find(payload.entry);
  RankedTensorType type = tensorType(view.sizes, element);
  int64_t size = storageBytes(RankedTensorType::get({1}, element)), elements = entry.bytes / size;
  checkView(view, elements);
  std::optional<DenseBlock> block = denseBlock(view, elements);
  if (entry.isCompressed || !block) {
    if (entry.bytes > uint64_t(maxConstantBytes) || storageBytes(type) > maxConstantBytes)
      throw ImportError(
          entry.isCompressed
              ? "entry '" + payload.entry + "' is compressed and too large to be unpacked (" +
                    std::to_string(entry.bytes) + " bytes): store it uncompressed"
              : "its elements overlap in a way that is supported for small tensors only: save "
                "the program with contiguous weights");
    return add(spec, {type, {}, copyView(payload, view, type), isFrozen(spec, payload.meta.tensor)},
               spec.target);
  }
  // Unit dimensions are no reason for a view.
  bool isDense =
      !block->isPart() && llvm::is_sorted(block->order) &&
      RankedTensorType::get(block->shape, element).getNumElements() == type.getNumElements();
  StoredTensor stored;
  stored.isFrozen = isFrozen(spec, payload.meta.tensor);
  stored.type = isDense ? type : tensorType(block->shape, element);
  int64_t first = block->start * size, length = storageBytes(stored.type);
  stored.external = ExternalAttr::get(element.getContext(), fileName, entry.offset + first, length);
  if (!staysInFile(spec, type) && length <= maxConstantBytes)
    stored.value = cantFail(Tensor::fromBytes(stored.type, archive.bytes(entry, first, length)));
  Value value = add(spec, std::move(stored), spec.target);
  return isDense ? value : applyView(emit, value, *block, view);
}

const Payloads::Payload &Payloads::find(StringRef name) const {
  auto found = payloads.find(name);
  if (found == payloads.end())
    throw ImportError("the archive holds no values of this name");
  const PayloadMeta &meta = found->second.meta;
  if (meta.isPickled)
    throw ImportError("it is stored pickled, which is not read: save the program with "
                      "torch.export.save and plain tensors");
  if (meta.tensor.layout != stridedLayout)
    throw ImportError("its layout is not dense");
  return found->second;
}

Value Payloads::create(const Payload &payload, const InputSpec &spec) {
  TensorMeta meta = asPairs(payload.meta.tensor);
  Type element = elementType(emit.builder.getContext(), meta.dtype);
  StridedView view = viewOf(meta);
  RankedTensorType type = tensorType(view.sizes, element);
  if (type.getNumElements() == 0)
    return emit.constant(Tensor::allocate(type));
  const ArchiveEntry *entry = archive.find(payload.entry);
  if (!entry)
    throw ImportError("the archive has no entry '" + payload.entry + "'");
  std::string key = payload.entry + "@" + std::to_string(view.offset) + describe(view.sizes) +
                    describe(view.strides) + nameOf(meta.dtype);
  Value &value = loaded[key];
  if (!value)
    value = createView(payload, spec, view, element);
  return value;
}

Value Payloads::load(const InputSpec &spec) {
  emit.setName(spec.target);
  return create(find(spec.target), spec);
}

bool Payloads::isComplex(StringRef name) const {
  return partOfComplex(find(name).meta.tensor.dtype).has_value();
}

/// From the first to behind the last element of a payload in its storage.
static std::pair<int64_t, int64_t> getHull(const TensorMeta &tensor) {
  StridedView view = viewOf(tensor);
  int64_t last = view.offset;
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides))
    last += (size - 1) * stride;
  return {view.offset, last + 1};
}

/// Another name of elements that a state has; "" where it has them for itself: names of disjoint
/// ranges of one storage are buffers of their own.
std::string Payloads::findSharer(StringRef name, const Payload &payload) const {
  std::string found;
  auto [begin, end] = getHull(payload.meta.tensor);
  for (const auto &other : payloads) {
    const TensorMeta &tensor = other.getValue().meta.tensor;
    if (other.getKey() == name || other.getValue().entry != payload.entry)
      continue;
    auto [first, last] = getHull(tensor);
    bool overlaps = tensor.dtype != payload.meta.tensor.dtype || (first < end && begin < last);
    if (overlaps && (found.empty() || other.getKey() < found))
      found = other.getKey().str();
  }
  return found;
}

/// A state lies in memory as it is computed with, so that no view of its storage is of use: other
/// layouts are copied out.
Value Payloads::loadState(const InputSpec &spec) {
  emit.setName(spec.target);
  const Payload &payload = find(spec.target);
  StridedView view = viewOf(payload.meta.tensor);
  RankedTensorType type =
      tensorType(view.sizes, elementType(emit.builder.getContext(), payload.meta.tensor.dtype));
  const ArchiveEntry *entry = archive.find(payload.entry);
  if (!entry)
    throw ImportError("the archive has no entry '" + payload.entry + "'");
  if (type.getNumElements() == 0)
    throw ImportError("it is changed and has no elements, which is not supported");
  if (std::string other = findSharer(spec.target, payload); !other.empty())
    throw ImportError("it is changed, and shares elements with '" + other +
                      "', which would have to change with it, which is not supported: keep one "
                      "buffer and take views of it where it is used, or clone() the other");
  int64_t size = storageBytes(type) / type.getNumElements();
  checkView(view, entry->bytes / size);
  if (entry->isCompressed || !isRowMajor(view)) {
    if (entry->bytes > uint64_t(maxConstantBytes) || storageBytes(type) > maxConstantBytes)
      throw ImportError("it is changed, and of more than " + std::to_string(maxConstantBytes) +
                        " bytes that are compressed or not in row-major order: save the program "
                        "with contiguous buffers");
    return weights.addWeight({type, {}, copyView(payload, view, type)}, spec.target,
                             WeightKind::State);
  }
  Attribute external = ExternalAttr::get(type.getContext(), fileName,
                                         entry->offset + view.offset * size, storageBytes(type));
  return weights.addWeight({type, external, {}}, spec.target, WeightKind::State);
}
