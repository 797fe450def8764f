//===- Units.h - numbers with units -----------------------------*- C++ -*-===//
//
// A quantity of a cluster description is a number and the name of a unit. What it measures is one
// of a few dimensions; inside the compiler everything is in the base unit of its dimension:
// seconds, bytes, bytes per second, FLOP per second, or a plain number. Prefixes: n, u, m of
// seconds; k, M, G, T, P (powers of 1000) and Ki, Mi, Gi, Ti (of 1024) of bytes, bits and FLOP.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CLUSTER_UNITS_H
#define WEFT_COMPILER_CLUSTER_UNITS_H

#include "compiler/Cluster/cluster.pb.h"
#include <optional>
#include <string>
#include <string_view>

namespace weft {

enum class Dimension { Number, Seconds, Bytes, BytesPerSecond, FlopPerSecond };

/// The base unit's name: `1`, `s`, `B`, `B/s`, `FLOP/s`.
std::string_view getBaseUnit(Dimension dimension);

/// How many base units `unit` is: 1e9 for `GB/s` of BytesPerSecond, 1.25e8 for `Gbit/s`. None if it
/// is no unit of that dimension.
std::optional<double> getUnitFactor(std::string_view unit, Dimension dimension);

/// The quantity in base units. Its unit must be of the dimension (validateCluster).
double inBaseUnits(const cluster::Quantity &quantity, Dimension dimension);

} // namespace weft

#endif // WEFT_COMPILER_CLUSTER_UNITS_H
