#include "compiler/Kernel/Index.h"

#include "llvm/Support/MathExtras.h"

using namespace weft::kernel;

Affine Affine::operator+(const Affine &other) const {
  Affine result(constant + other.constant);
  auto a = terms.begin(), b = other.terms.begin();
  while (a != terms.end() || b != other.terms.end()) {
    if (b == other.terms.end() || (a != terms.end() && a->first < b->first)) {
      result.terms.push_back(*a++);
    } else if (a == terms.end() || b->first < a->first) {
      result.terms.push_back(*b++);
    } else {
      if (a->second + b->second != 0)
        result.terms.push_back({a->first, a->second + b->second});
      ++a, ++b;
    }
  }
  return result;
}

Affine Affine::operator*(int64_t factor) const {
  Affine result(constant * factor);
  if (factor != 0)
    for (auto [var, coefficient] : terms)
      result.terms.push_back({var, coefficient * factor});
  return result;
}

VarId Vars::addLoop(int64_t extent, Depends depends) {
  vars.push_back({Var::Loop, depends, {0, extent - 1}, {}, 1, {}, 0, extent});
  return vars.size() - 1;
}

Affine Vars::data(unsigned owner, const Element &element, int64_t extent) {
  auto [it, isNew] = datas.try_emplace({owner, element}, vars.size());
  if (isNew)
    vars.push_back({Var::Data, depends(element.second), {0, extent - 1}, {}, 1, element, owner});
  return Affine::var(it->second);
}

Range Vars::range(const Affine &value) const {
  Range result{value.constant, value.constant};
  for (auto [id, coefficient] : value.terms) {
    const Var &var = vars[id];
    Range own = var.range;
    if (var.kind == Var::Quotient) {
      Range base = range(var.base);
      own = {llvm::divideFloorSigned(base.low, var.divisor),
             llvm::divideFloorSigned(base.high, var.divisor)};
    } else if (var.kind == Var::Remainder) {
      own = {0, var.divisor - 1};
    }
    result.low += coefficient * (coefficient > 0 ? own.low : own.high);
    result.high += coefficient * (coefficient > 0 ? own.high : own.low);
  }
  return result;
}

unsigned Vars::depends(const Affine &value) const {
  unsigned result = Nowhere;
  for (auto [id, coefficient] : value.terms)
    result |= vars[id].depends;
  return result;
}

unsigned Vars::depends(const Index &index) const {
  unsigned result = Nowhere;
  for (const Affine &value : index)
    result |= depends(value);
  return result;
}

void Vars::collectLoops(const Affine &value, llvm::SmallVectorImpl<VarId> &loops) const {
  for (auto [id, coefficient] : value.terms) {
    const Var &var = vars[id];
    if (var.kind == Var::Data) {
      for (const Affine &index : var.element.second)
        collectLoops(index, loops);
    } else if (var.kind != Var::Loop) {
      collectLoops(var.base, loops);
    } else if (!llvm::is_contained(loops, id)) {
      loops.insert(llvm::upper_bound(loops, id), id);
    }
  }
}

std::pair<Affine, Affine> Vars::split(const Affine &value, int64_t divisor) {
  if (divisor == 1)
    return {value, Affine()};
  Range whole = range(value);
  if (whole.low >= 0 && whole.high < divisor)
    return {Affine(), value};
  Affine quotient(llvm::divideFloorSigned(value.constant, divisor));
  Affine remainder(value.constant - quotient.constant * divisor);
  for (auto [id, coefficient] : value.terms) {
    Affine &part = coefficient % divisor == 0 ? quotient : remainder;
    part.terms.push_back({id, coefficient % divisor == 0 ? coefficient / divisor : coefficient});
  }
  Range rest = range(remainder);
  if (rest.low >= 0 && rest.high < divisor)
    return {quotient, remainder};
  return {quotient + opaque(Var::Quotient, remainder, divisor),
          opaque(Var::Remainder, remainder, divisor)};
}

Affine Vars::opaque(Var::Kind kind, const Affine &base, int64_t divisor) {
  auto [it, isNew] = opaques.try_emplace({kind, base, divisor}, vars.size());
  if (isNew)
    vars.push_back({kind, depends(base), {0, 0}, base, divisor, {}, 0});
  return Affine::var(it->second);
}

Index Vars::delinearise(const Affine &linear, llvm::ArrayRef<int64_t> shape) {
  Index index(shape.size());
  Affine rest = linear;
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] == 1)
      continue;
    bool first = llvm::all_of(shape.take_front(dim), [](int64_t size) { return size == 1; });
    if (first) {
      index[dim] = rest;
      break;
    }
    std::tie(rest, index[dim]) = split(rest, shape[dim]);
  }
  return index;
}

Affine Vars::linearise(const Index &index, llvm::ArrayRef<int64_t> shape) const {
  Affine linear;
  for (auto [value, extent] : llvm::zip_equal(index, shape))
    linear = linear * extent + value;
  return recombine(std::move(linear));
}

Affine Vars::recombine(Affine value) const {
  auto meets = [&](const std::pair<VarId, int64_t> &term, const std::pair<VarId, int64_t> &other) {
    const Var &remainder = vars[term.first], &quotient = vars[other.first];
    return quotient.kind == Var::Quotient && quotient.divisor == remainder.divisor &&
           other.second == term.second * remainder.divisor && quotient.base == remainder.base;
  };
  for (size_t i = 0; i < value.terms.size();) {
    auto term = value.terms[i++];
    if (vars[term.first].kind != Var::Remainder)
      continue;
    auto other = llvm::find_if(value.terms, [&](auto &at) { return meets(term, at); });
    if (other == value.terms.end())
      continue;
    Affine parts;
    parts.terms = {term, *other};
    llvm::sort(parts.terms);
    value = value - parts + vars[term.first].base * term.second;
    i = 0;
  }
  return value;
}
