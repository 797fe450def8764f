//===- Address.h - where something lies on a device -------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICE_ADDRESS_H
#define WEFT_RUNTIME_DEVICE_ADDRESS_H

#include <compare>
#include <cstdint>
#include <vector>

namespace weft::runtime {

/// A byte of a device's memory. It can be moved by bytes and compared, and it has no pointer: what
/// the number means, its device alone knows (a CUdeviceptr, a host address on the CPU).
class DeviceAddress {
public:
  constexpr DeviceAddress() = default;
  constexpr explicit DeviceAddress(uint64_t value) : value(value) {}

  /// For the device that made the address.
  constexpr uint64_t getValue() const { return value; }

  friend constexpr DeviceAddress operator+(DeviceAddress address, int64_t bytes) {
    return DeviceAddress(address.value + static_cast<uint64_t>(bytes));
  }
  friend constexpr auto operator<=>(const DeviceAddress &, const DeviceAddress &) = default;

private:
  uint64_t value = 0;
};

/// Where each arena's current frame begins, by the arena's number: with it, the (arena, offset) of
/// a View is an address.
using DeviceBases = std::vector<DeviceAddress>;

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICE_ADDRESS_H
