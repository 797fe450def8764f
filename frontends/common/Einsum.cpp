// Einsum, by products of two operands at a time.
//
// Each operand carries one label a dimension. Operands are joined from the left: labels that both
// have and that are needed later are batch dimensions, labels that both have and nobody needs are
// contracted, labels that one has and nobody needs are summed first. For `bij,bjk,k->bi`:
//
//   bij · bjk   batch b, contract j   ->  bik
//   bik · k     contract k            ->  bi

#include "frontends/common/Composites.h"

using namespace mlir;
using namespace weft;
using namespace weft::frontend;

namespace {

/// A label is a letter, or for a dimension of the ellipsis a number counted from its end.
using Labels = SmallVector<int>;
constexpr int ellipsisBase = 1000;

struct Term {
  Value value;
  Labels labels;
};

struct Equation {
  SmallVector<std::string> inputs;
  std::optional<std::string> output;
};

class Einsum {
public:
  Einsum(Emitter &emit, StringRef equation, ArrayRef<Value> operands)
      : emit(emit), text(equation), operands(operands) {}
  Value run();

private:
  Equation parse();
  Labels labelsOf(StringRef term, int64_t ellipsisRank);
  Labels implicitOutput(const SmallVector<Term> &terms);
  Term diagonal(Term term);
  Term dropUnits(Term term);
  Term sumOver(Term term, const Labels &kept);
  Term multiply(const Term &lhs, const Term &rhs, const Labels &needed);
  Value arrange(Term term, const Labels &labels);
  int64_t ellipsisRank(const Equation &equation);

  Emitter &emit;
  StringRef text;
  ArrayRef<Value> operands;
  DenseMap<int, int64_t> sizes;
};

Equation Einsum::parse() {
  std::string dense;
  for (char c : text)
    if (!isspace(static_cast<unsigned char>(c)))
      dense.push_back(c);
  Equation equation;
  auto [left, right] = StringRef(dense).split("->");
  if (StringRef(dense).contains("->"))
    equation.output = right.str();
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  for (StringRef term : terms)
    equation.inputs.push_back(term.str());
  if (equation.inputs.size() != operands.size())
    throw ImportError("the equation has " + std::to_string(equation.inputs.size()) + " terms for " +
                      std::to_string(operands.size()) + " operands");
  return equation;
}

/// The most dimensions that an ellipsis stands for.
int64_t Einsum::ellipsisRank(const Equation &equation) {
  int64_t most = 0;
  for (auto [index, term] : llvm::enumerate(equation.inputs))
    if (StringRef(term).contains("..."))
      most = std::max<int64_t>(most, typeOf(operands[index]).getRank() - int64_t(term.size()) + 3);
  return most;
}

Labels Einsum::labelsOf(StringRef term, int64_t ellipsisRank) {
  Labels labels;
  for (size_t at = 0; at < term.size(); ++at) {
    if (term.substr(at).starts_with("...")) {
      for (int64_t i = ellipsisRank; i-- > 0;)
        labels.push_back(ellipsisBase + i);
      at += 2;
    } else if (isalpha(static_cast<unsigned char>(term[at]))) {
      labels.push_back(term[at]);
    } else {
      throw ImportError("the equation holds '" + std::string(1, term[at]) + "'");
    }
  }
  return labels;
}

/// The ellipsis, then every letter that occurs once, in order.
Labels Einsum::implicitOutput(const SmallVector<Term> &terms) {
  std::map<int, int> counts;
  for (const Term &term : terms)
    for (int label : term.labels)
      ++counts[label];
  Labels result;
  for (auto it = counts.rbegin(); it != counts.rend() && it->first >= ellipsisBase; ++it)
    result.push_back(it->first);
  for (auto [label, count] : counts)
    if (label < ellipsisBase && count == 1)
      result.push_back(label);
  return result;
}

/// A label twice in one operand takes the diagonal: elements off it are masked, then one dimension
/// is summed.
Term Einsum::diagonal(Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    auto again = llvm::find(ArrayRef(term.labels).drop_front(i + 1), term.labels[i]);
    if (again == term.labels.end())
      continue;
    int64_t other = again - term.labels.begin();
    ArrayRef<int64_t> shape = shapeOf(term.value);
    if (shape[i] != shape[other])
      throw ImportError("a label stands for sizes " + std::to_string(shape[i]) + " and " +
                        std::to_string(shape[other]));
    Value on = emit.compare(CompareDirection::EQ, emit.iota(shape, i), emit.iota(shape, other));
    Value kept = emit.select(on, term.value, emit.like(term.value, 0));
    term.value = emit.reduce(ReduceKind::Sum, kept, {other}, false);
    term.labels.erase(term.labels.begin() + other);
    --i;
  }
  return term;
}

/// Dimensions of size 1 whose label is larger elsewhere broadcast: they are left out.
Term Einsum::dropUnits(Term term) {
  Labels labels;
  Shape shape;
  for (auto [label, size] : llvm::zip(term.labels, shapeOf(term.value))) {
    if (size == 1 && sizes[label] != 1)
      continue;
    if (size != sizes[label])
      throw ImportError("a label stands for sizes " + std::to_string(size) + " and " +
                        std::to_string(sizes[label]));
    labels.push_back(label);
    shape.push_back(size);
  }
  return {emit.reshape(term.value, shape), labels};
}

Term Einsum::sumOver(Term term, const Labels &kept) {
  Shape dims;
  Labels labels;
  for (auto [dim, label] : llvm::enumerate(term.labels)) {
    if (llvm::is_contained(kept, label))
      labels.push_back(label);
    else
      dims.push_back(dim);
  }
  return {emit.reduce(ReduceKind::Sum, term.value, dims, false), labels};
}

Term Einsum::multiply(const Term &left, const Term &right, const Labels &needed) {
  Labels leftKept(needed), rightKept(needed);
  llvm::append_range(leftKept, right.labels);
  llvm::append_range(rightKept, left.labels);
  Term lhs = sumOver(left, leftKept), rhs = sumOver(right, rightKept);
  Emitter::DotDims dims;
  Term result;
  for (auto [dim, label] : llvm::enumerate(lhs.labels)) {
    auto other = llvm::find(rhs.labels, label);
    if (other == rhs.labels.end())
      continue;
    bool batch = llvm::is_contained(needed, label);
    (batch ? dims.lhsBatch : dims.lhsContract).push_back(dim);
    (batch ? dims.rhsBatch : dims.rhsContract).push_back(other - rhs.labels.begin());
    if (batch)
      result.labels.push_back(label);
  }
  for (int label : lhs.labels)
    if (!llvm::is_contained(rhs.labels, label))
      result.labels.push_back(label);
  for (int label : rhs.labels)
    if (!llvm::is_contained(lhs.labels, label))
      result.labels.push_back(label);
  result.value = emit.dot(lhs.value, rhs.value, dims);
  return result;
}

/// The dimensions in the order of `labels`; those that only units stood for come back as 1.
Value Einsum::arrange(Term term, const Labels &labels) {
  term = sumOver(term, labels);
  Shape permutation, shape;
  for (int label : labels) {
    auto found = llvm::find(term.labels, label);
    if (found != term.labels.end())
      permutation.push_back(found - term.labels.begin());
    else if (!sizes.count(label))
      throw ImportError("the result has a label that no operand has");
    shape.push_back(found != term.labels.end() ? sizes[label] : 1);
  }
  if (permutation.size() != term.labels.size())
    throw ImportError("the result has a label twice");
  return emit.reshape(emit.transpose(term.value, permutation), shape);
}

Value Einsum::run() {
  Equation equation = parse();
  int64_t hidden = ellipsisRank(equation);
  SmallVector<Term> terms;
  for (auto [index, text] : llvm::enumerate(equation.inputs)) {
    Value value = operands[index];
    bool open = StringRef(text).contains("...");
    Labels labels = labelsOf(text, open ? typeOf(value).getRank() - int64_t(text.size()) + 3 : 0);
    if (int64_t(labels.size()) != typeOf(value).getRank())
      throw ImportError("the term '" + text + "' does not fit " + describe(value));
    for (auto [label, size] : llvm::zip(labels, shapeOf(value)))
      sizes[label] = std::max(sizes.lookup(label), size);
    terms.push_back({value, labels});
  }
  Labels output = equation.output ? labelsOf(*equation.output, hidden) : implicitOutput(terms);
  for (Term &term : terms)
    term = dropUnits(diagonal(term));
  Term result = terms.front();
  for (size_t next = 1; next < terms.size(); ++next) {
    Labels needed(output);
    for (const Term &later : ArrayRef(terms).drop_front(next + 1))
      llvm::append_range(needed, later.labels);
    result = multiply(result, terms[next], needed);
  }
  return arrange(result, output);
}

} // namespace

Value weft::frontend::emitEinsum(Emitter &emit, StringRef equation, ArrayRef<Value> operands) {
  return Einsum(emit, equation, operands).run();
}
