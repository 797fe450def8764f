//===- IntegerCases.cpp - what instructions of integers compute -----------===//

#include "test/cuda/InstructionCase.h"

#include <algorithm>
#include <limits>

namespace weft::test {

namespace {

using U = uint64_t;
using S128 = __int128;
using U128 = unsigned __int128;

constexpr int32_t s32(U a) { return static_cast<int32_t>(a); }
constexpr uint32_t u32(U a) { return static_cast<uint32_t>(a); }
constexpr int64_t s64(U a) { return static_cast<int64_t>(a); }
constexpr int16_t s16(U a) { return static_cast<int16_t>(a); }
constexpr uint16_t u16(U a) { return static_cast<uint16_t>(a); }

/// Bit by bit, as the manual describes them.
U extract(U a, U b, U c, int bits, bool isSigned) {
  U position = b & 255, length = c & 255, last = bits - 1;
  bool sign = isSigned && length && (a >> std::min(position + length - 1, last) & 1);
  U result = 0;
  for (U i = 0; i <= last; ++i)
    result |= U(i < length && position + i <= last ? a >> (position + i) & 1 : sign) << i;
  return result;
}

U insert(U a, U b, U position, U length, int bits) {
  for (U i = 0; i < length && position + i < U(bits); ++i)
    b = (b & ~(U(1) << (position + i))) | (a >> i & 1) << (position + i);
  return b;
}

U permute(U a, U b, U selector) {
  U bytes = u32(a) | b << 32, result = 0;
  for (int i = 0; i < 4; ++i) {
    U choice = selector >> (4 * i) & 15, byte = bytes >> (8 * (choice & 7)) & 255;
    result |= (choice & 8 ? (byte >> 7) * 255 : byte) << (8 * i);
  }
  return result;
}

U reverse(U a, int bits) {
  U result = 0;
  for (int i = 0; i < bits; ++i)
    result |= (a >> i & 1) << (bits - 1 - i);
  return result;
}

U highest(U a, int bits) {
  for (int i = bits - 1; i >= 0; --i)
    if (a >> i & 1)
      return i;
  return u32(-1);
}

S128 clamp(S128 value, S128 low, S128 high) { return std::clamp(value, low, high); }

constexpr Numbers I = Numbers::Integers;

const std::vector<InstructionCase> arithmetic = {
    {"add.s32 %r0, %r1, %r2;", 'r', I, [](U a, U b, U) -> U { return u32(a + b); }},
    {"add.u64 %d0, %d1, -7;", 'd', I, [](U a, U, U) -> U { return a - 7; }},
    {"add.s16 %h0, %h1, %h2;", 'h', I, [](U a, U b, U) -> U { return u16(a + b); }},
    {"add.sat.s32 %r0, %r1, %r2;", 'r', I,
     [](U a, U b, U) -> U { return u32(clamp(S128(s32(a)) + s32(b), INT32_MIN, INT32_MAX)); }},
    {"sub.sat.s32 %r0, %r1, %r2;", 'r', I,
     [](U a, U b, U) -> U { return u32(clamp(S128(s32(a)) - s32(b), INT32_MIN, INT32_MAX)); }},
    {"add.cc.u64 %d4, %d1, %d2; addc.u64 %d0, %d3, %d1;", 'd', I,
     [](U a, U b, U c) -> U { return c + a + (a + b < a); }},
    {"sub.cc.u32 %r4, %r1, %r2; subc.u32 %r0, %r3, %r1;", 'r', I,
     [](U a, U b, U c) -> U { return u32(c - a - (u32(a) < u32(b))); }},
    {"mul.lo.s32 %r0, %r1, %r2;", 'r', I, [](U a, U b, U) -> U { return u32(a * b); }},
    {"mul.hi.s32 %r0, %r1, %r2;", 'r', I,
     [](U a, U b, U) -> U { return u32(U(S128(s32(a)) * s32(b) >> 32)); }},
    {"mul.hi.u32 %r0, %r1, -858993459;", 'r', I,
     [](U a, U, U) -> U { return U(u32(a)) * 3435973837u >> 32; }},
    {"mul.hi.s64 %d0, %d1, %d2;", 'd', I,
     [](U a, U b, U) -> U { return U(S128(s64(a)) * s64(b) >> 64); }},
    {"mul.hi.u64 %d0, %d1, %d2;", 'd', I, [](U a, U b, U) -> U { return U(U128(a) * b >> 64); }},
    {"mul.wide.s32 %d0, %r1, %r2;", 'd', I,
     [](U a, U b, U) -> U { return U(int64_t(s32(a)) * s32(b)); }},
    {"mul.wide.u16 %r0, %h1, %h2;", 'r', I, [](U a, U b, U) -> U { return u32(u16(a)) * u16(b); }},
    {"mad.lo.s64 %d0, %d1, %d2, %d3;", 'd', I, [](U a, U b, U c) -> U { return a * b + c; }},
    {"mad.wide.s32 %d0, %r1, %r2, %d3;", 'd', I,
     [](U a, U b, U c) -> U { return U(int64_t(s32(a)) * s32(b)) + c; }},
    {"mad.hi.u32 %r0, %r1, %r2, %r3;", 'r', I,
     [](U a, U b, U c) -> U { return u32((U(u32(a)) * u32(b) >> 32) + c); }},
    {"div.s32 %r0, %r1, %r2;", 'r', I,
     [](U a, U b, U) -> U { return u32(b) ? u32(int64_t(s32(a)) / s32(b)) : u32(-1); }},
    {"div.u64 %d0, %d1, %d2;", 'd', I, [](U a, U b, U) -> U { return b ? a / b : ~U(0); }},
    {"rem.s64 %d0, %d1, %d2;", 'd', I,
     [](U a, U b, U) -> U { return b ? U(S128(s64(a)) % s64(b)) : a; }},
    {"rem.u16 %h0, %h1, %h2;", 'h', I,
     [](U a, U b, U) -> U { return u16(b) ? u16(a) % u16(b) : u16(a); }},
    {"min.s32 %r0, %r1, %r2;", 'r', I,
     [](U a, U b, U) -> U { return u32(std::min(s32(a), s32(b))); }},
    {"max.u64 %d0, %d1, %d2;", 'd', I, [](U a, U b, U) -> U { return std::max(a, b); }},
    {"max.s16 %h0, %h1, %h2;", 'h', I,
     [](U a, U b, U) -> U { return u16(std::max(s16(a), s16(b))); }},
    {"abs.s32 %r0, %r1;", 'r', I,
     [](U a, U, U) -> U { return u32(a) >> 31 ? u32(0 - a) : u32(a); }},
    {"neg.s64 %d0, %d1;", 'd', I, [](U a, U, U) -> U { return 0 - a; }},
    {"sad.s32 %r0, %r1, %r2, %r3;", 'r', I,
     [](U a, U b, U c) -> U {
       return u32(c + std::max(s32(a), s32(b)) - std::min(s32(a), s32(b)));
     }},
    {"cnot.b32 %r0, %r1;", 'r', I, [](U a, U, U) -> U { return u32(a) == 0; }},
};

const std::vector<InstructionCase> bits = {
    {"and.b64 %d0, %d1, %d2;", 'd', I, [](U a, U b, U) -> U { return a & b; }},
    {"or.b16 %h0, %h1, %h2;", 'h', I, [](U a, U b, U) -> U { return u16(a | b); }},
    {"xor.b32 %r0, %r1, %r2;", 'r', I, [](U a, U b, U) -> U { return u32(a ^ b); }},
    {"not.b32 %r0, %r1;", 'r', I, [](U a, U, U) -> U { return u32(~a); }},
    {"xor.pred %p4, %p1, %p2; not.pred %p0, %p4;", 'p', I,
     [](U a, U b, U) -> U { return !((a ^ b) & 1); }},
    {"shl.b32 %r0, %r1, %r2;", 'r', I,
     [](U a, U b, U) -> U { return u32(b) < 32 ? u32(a << u32(b)) : 0; }},
    {"shl.b64 %d0, %d1, %r2;", 'd', I,
     [](U a, U b, U) -> U { return u32(b) < 64 ? a << u32(b) : 0; }},
    {"shr.u16 %h0, %h1, %r2;", 'h', I,
     [](U a, U b, U) -> U { return u32(b) < 16 ? u16(a) >> u32(b) : 0; }},
    {"shr.s32 %r0, %r1, %r2;", 'r', I,
     [](U a, U b, U) -> U { return u32(s32(a) >> std::min(u32(b), 31u)); }},
    {"shr.s16 %h0, %h1, %r2;", 'h', I,
     [](U a, U b, U) -> U { return u16(s16(a) >> std::min(u32(b), 15u)); }},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3;", 'r', I,
     [](U a, U b, U c) -> U { return (U(u32(b)) << 32 | u32(a)) << (c & 31) >> 32; }},
    {"shf.r.wrap.b32 %r0, %r1, %r2, %r3;", 'r', I,
     [](U a, U b, U c) -> U { return u32((U(u32(b)) << 32 | u32(a)) >> (c & 31)); }},
    {"shf.l.clamp.b32 %r0, %r1, %r2, %r3;", 'r', I,
     [](U a, U b, U c) -> U {
       return u32((U(u32(b)) << 32 | u32(a)) >> (32 - std::min(u32(c), 32u)));
     }},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3;", 'r', I,
     [](U a, U b, U c) -> U { return u32((U(u32(b)) << 32 | u32(a)) >> std::min(u32(c), 32u)); }},
    {"bfe.u32 %r0, %r1, %r2, %r3;", 'r', I,
     [](U a, U b, U c) -> U { return extract(u32(a), b, c, 32, false); }},
    {"bfe.s32 %r0, %r1, %r2, %r3;", 'r', I,
     [](U a, U b, U c) -> U { return extract(u32(a), b, c, 32, true); }},
    {"bfe.s64 %d0, %d1, %r2, %r3;", 'd', I,
     [](U a, U b, U c) -> U { return extract(a, b, c, 64, true); }},
    {"bfi.b32 %r0, %r1, %r2, %r3, 7;", 'r', I,
     [](U a, U b, U c) -> U { return insert(a, u32(b), c & 255, 7, 32); }},
    {"bfi.b64 %d0, %d1, %d2, 5, %r3;", 'd', I,
     [](U a, U b, U c) -> U { return insert(a, b, 5, c & 255, 64); }},
    {"bfind.u32 %r0, %r1;", 'r', I, [](U a, U, U) -> U { return highest(u32(a), 32); }},
    {"bfind.s64 %r0, %d1;", 'r', I,
     [](U a, U, U) -> U { return highest(s64(a) < 0 ? ~a : a, 64); }},
    {"bfind.shiftamt.u32 %r0, %r1;", 'r', I,
     [](U a, U, U) -> U { return u32(a) ? 31 - highest(u32(a), 32) : u32(-1); }},
    {"clz.b64 %r0, %d1;", 'r', I, [](U a, U, U) -> U { return a ? 63 - highest(a, 64) : 64; }},
    {"clz.b32 %r0, %r1;", 'r', I,
     [](U a, U, U) -> U { return u32(a) ? 31 - highest(u32(a), 32) : 32; }},
    {"popc.b32 %r0, %r1;", 'r', I, [](U a, U, U) -> U { return U(__builtin_popcount(u32(a))); }},
    {"popc.b64 %r0, %d1;", 'r', I, [](U a, U, U) -> U { return U(__builtin_popcountll(a)); }},
    {"brev.b32 %r0, %r1;", 'r', I, [](U a, U, U) -> U { return reverse(a, 32); }},
    {"brev.b64 %d0, %d1;", 'd', I, [](U a, U, U) -> U { return reverse(a, 64); }},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0xCA;", 'r', I,
     [](U a, U b, U c) -> U { return u32((a & b) | (~a & c)); }},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x96;", 'r', I,
     [](U a, U b, U c) -> U { return u32(a ^ b ^ c); }},
    {"prmt.b32 %r0, %r1, %r2, %r3;", 'r', I, [](U a, U b, U c) -> U { return permute(a, b, c); }},
    {"prmt.b32 %r0, %r1, %r2, 0x5410U;", 'r', I,
     [](U a, U b, U) -> U { return u32(u16(a) | b << 16); }},
    {"prmt.b32.rc16 %r0, %r1, %r2, 1;", 'r', I,
     [](U a, U, U) -> U { return (u32(a) >> 16) * 0x10001u; }},
    {"selp.b32 %r0, %r1, %r2, %p3;", 'r', I, [](U a, U b, U c) -> U { return u32(c & 1 ? a : b); }},
    {"slct.u64.s32 %d0, %d1, %d2, %r3;", 'd', I,
     [](U a, U b, U c) -> U { return s32(c) >= 0 ? a : b; }},
    {"mov.b64 {%r0, %r4}, %d1; mov.b64 %d4, {%r4, %r0}; mov.b64 {_, %r0}, %d4;", 'r', I,
     [](U a, U, U) -> U { return u32(a); }},
    {"mov.b32 {%h4, %h5}, %r1; mov.b64 %d0, {%h5, %h4, %h2, %h3};", 'd', I,
     [](U a, U b, U c) -> U { return u32(a) >> 16 | U(u16(a)) << 16 | U(u16(b)) << 32 | c << 48; }},
    {"@!%p1 mov.u32 %r0, 1; @%p1 mov.u32 %r0, 2;", 'r', I,
     [](U a, U, U) -> U { return a & 1 ? 2 : 1; }},
};

const std::vector<InstructionCase> comparisons = {
    {"setp.lt.s32 %p0, %r1, %r2;", 'p', I, [](U a, U b, U) -> U { return s32(a) < s32(b); }},
    {"setp.lo.u32 %p0, %r1, %r2;", 'p', I, [](U a, U b, U) -> U { return u32(a) < u32(b); }},
    {"setp.hs.u64 %p0, %d1, %d2;", 'p', I, [](U a, U b, U) -> U { return a >= b; }},
    {"setp.ne.b16 %p0, %h1, %h2;", 'p', I, [](U a, U b, U) -> U { return u16(a) != u16(b); }},
    {"setp.ge.and.s64 %p0, %d1, %d2, %p3;", 'p', I,
     [](U a, U b, U c) -> U { return s64(a) >= s64(b) && (c & 1); }},
    {"setp.gt.or.s16 %p4|%p0, %h1, %h2, !%p3;", 'p', I,
     [](U a, U b, U c) -> U { return !(s16(a) > s16(b)) || !(c & 1); }},
    {"set.le.u32.s32 %r0, %r1, %r2;", 'r', I,
     [](U a, U b, U) -> U { return s32(a) <= s32(b) ? u32(-1) : 0; }},
    {"set.eq.f32.s32 %r0, %r1, %r2;", 'r', I,
     [](U a, U b, U) -> U { return u32(a) == u32(b) ? 0x3f800000 : 0; }},
    {"cvt.u16.u32 %h0, %r1;", 'h', I, [](U a, U, U) -> U { return u16(a); }},
    {"cvt.s64.s8 %d0, %d1;", 'd', I, [](U a, U, U) -> U { return U(int64_t(int8_t(a))); }},
    {"cvt.u32.s16 %r0, %h1;", 'r', I, [](U a, U, U) -> U { return u32(s16(a)); }},
    {"cvt.sat.s8.s32 %r0, %r1;", 'r', I,
     [](U a, U, U) -> U { return u32(int32_t(clamp(s32(a), -128, 127))); }},
    {"cvt.sat.u16.s64 %h0, %d1;", 'h', I,
     [](U a, U, U) -> U { return U(clamp(s64(a), 0, 65535)); }},
    {"cvt.s32.s8 %r0, %h1;", 'r', I, [](U a, U, U) -> U { return u32(int8_t(a)); }},
};

} // namespace

std::vector<InstructionCase> getIntegerCases() {
  std::vector<InstructionCase> cases = arithmetic;
  cases.insert(cases.end(), bits.begin(), bits.end());
  cases.insert(cases.end(), comparisons.begin(), comparisons.end());
  return cases;
}

} // namespace weft::test
