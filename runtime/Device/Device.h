//===- Device.h - what a rank's program runs on -----------------*- C++ -*-===//
//
// One interface for the CPU and for accelerators: memory, streams, events, and commands made of
// instructions. The executor knows nothing else of a device, and no address of it is a pointer.
//
//   prepare      a Command of each call (Calls.h): shapes are checked, library plans chosen
//   initialise   memory for the arenas; kernels loaded; commands bound to them; weights and inputs
//                copied on a stream of their own
//   execute      commands enqueued on a stream, an event after each; the host waits for events
//
// Time. A stream does what is enqueued in order, at its own pace; nothing else is ordered but by
// events. The CPU does everything at once, within the call. A test device does it as late as it may
// (test/device), so that a missing wait shows.
//
// Failure. A call that cannot be done (a size, a shape, no memory) throws an Error. A command that
// fails while it runs stops its stream: what follows is dropped, and whoever waits for an event
// recorded after it gets its Error, on other streams too. The CPU throws it from enqueue(). On a
// GPU a kernel's failed check drops nothing: what follows runs, and the Error comes all the same.
//
// Threads. A device, its streams and its commands belong to one rank and are called by the rank's
// thread alone.
//
// Ownership. Whoever makes something ends it, in this order: streams, commands, communicators and
// events, memory, the device. Host memory given to a copy, and commands and device memory that a
// stream uses, stay alive and unchanged until an event says that it is done. The end of a stream
// drops what has not begun.
//
// How CUDA fills this in is told in docs/runtime.md.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICE_DEVICE_H
#define WEFT_RUNTIME_DEVICE_DEVICE_H

#include "runtime/Device/Address.h"
#include "runtime/Device/Calls.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace weft::runtime {

class Transport;

/// The version of this interface, which a device's module must have been built for.
inline constexpr int deviceInterfaceVersion = 4;

/// A point in a stream. Recorded again, it is the later point; never recorded, it is done.
class Event {
public:
  virtual ~Event() = default;

  /// Whether the stream has passed it or failed before it; never waits.
  virtual bool isDone() const = 0;
  /// Waits until it is done, at most `seconds`; returns whether it is. Throws the Error of a
  /// command before it that failed.
  virtual bool wait(double seconds) = 0;
  /// Seconds from when `earlier` was passed until this was; both are done.
  virtual double getSecondsSince(const Event &earlier) const = 0;
};

/// A queue of copies and commands, done in order.
class Stream {
public:
  virtual ~Stream() = default;

  /// Enqueues a copy; host memory of Device::allocateHost.
  virtual void copyToDevice(DeviceAddress to, const std::byte *from, int64_t bytes) = 0;
  virtual void copyToHost(std::byte *to, DeviceAddress from, int64_t bytes) = 0;
  /// Enqueues the passing of `event`.
  virtual void record(Event &event) = 0;
  /// What is enqueued from here on begins after `event`, as it was last recorded, on any stream of
  /// the same device.
  virtual void wait(const Event &event) = 0;
};

/// An instruction made ready for one rank and its device.
class Command {
public:
  virtual ~Command() = default;

  /// Binds it to what is loaded (kernels); called once, after Device::loadKernels.
  virtual void initialise() {}
  /// Enqueues it on a stream of its device, with its operands in the arenas at `bases`.
  virtual void enqueue(const DeviceBases &bases, Stream &stream) = 0;
  /// Whether enqueue() waits for what the stream holds before it: a collective that the host does.
  virtual bool waitsForStream() const { return false; }
};

/// Makes the commands of collectives and messages, which move data between ranks: NCCL's on a GPU,
/// the host's over a Transport everywhere else (HostCommunicator.h). Commands of one communicator
/// are enqueued in the same order by all ranks of a group, and do not outlive it.
class Communicator {
public:
  virtual ~Communicator() = default;
  /// What a stream holds behind the command begins when the collective is over; or, of one with a
  /// token (from 1, each of one command), when the token's wait is. Until then operands stay as
  /// they are. It begins once the stream has done what it holds before.
  virtual std::unique_ptr<Command> makeCollective(CollectiveCall call, uint32_t token) = 0;
  /// Messages are begun and waited for likewise. A rank that does not send has no peers.
  virtual std::unique_ptr<Command> makeSend(MessageCall call, uint32_t token) = 0;
  virtual std::unique_ptr<Command> makeReceive(MessageCall call, uint32_t token) = 0;
  /// Waits for what has the token, begun with its operands in the arenas at the same bases.
  virtual std::unique_ptr<Command> makeWait(uint32_t token) = 0;
};

/// Bytes copied between the host and a device's memory; nothing where both are one.
struct CopiedBytes {
  int64_t toDevice = 0;
  int64_t toHost = 0;
};

class Device {
public:
  virtual ~Device() = default;

  /// "cpu", "cuda"
  virtual std::string getName() const = 0;
  /// The device that a program must be compiled for (Executable.device); mostly the same.
  virtual std::string getTarget() const = 0;
  /// An Error of kind BadInput where the hardware lacks a feature that kernels were made for.
  virtual void checkFeatures(std::span<const std::string> features) const = 0;

  // Memory. Sizes are bytes; an Error of kind Failure where there is not enough.

  /// What this rank may allocate: its share where ranks share a device.
  virtual int64_t getAvailableMemory() const = 0;
  /// Memory that holds zeros, aligned for every use: at least 256 bytes.
  virtual DeviceAddress allocate(int64_t bytes) = 0;
  /// The same in the host's memory, at an address that copies of the device's streams reach.
  virtual DeviceAddress allocateOnHost(int64_t bytes) { return allocate(bytes); }
  virtual void free(DeviceAddress address) = 0;
  /// Whether the device's memory is the host's.
  virtual bool sharesHostMemory() const { return false; }
  /// Host memory for copies (pinned), of undefined content.
  virtual std::byte *allocateHost(int64_t bytes) = 0;
  virtual void freeHost(std::byte *memory) = 0;
  /// The address for the host to read and write itself, in step with the streams; null where it
  /// must copy. Of interest to Staging alone.
  virtual std::byte *getHostPointer(DeviceAddress address) const = 0;
  /// A good size for the host buffers of copies.
  virtual int64_t getStagingBytes() const = 0;
  virtual CopiedBytes getCopiedBytes() const = 0;

  virtual std::unique_ptr<Stream> makeStream() = 0;
  virtual std::unique_ptr<Event> makeEvent() = 0;

  /// Loads the kernels of an executable from its folder of kernels, where it has any.
  virtual void loadKernels(const std::string &folder) = 0;

  // Commands. An Error of kind BadInput where operands do not fit each other.
  virtual std::unique_ptr<Command> makeLaunch(LaunchCall call) = 0;
  virtual std::unique_ptr<Command> makeAttention(AttentionCall call) = 0;
  virtual std::unique_ptr<Command> makeAttentionBackward(AttentionBackwardCall call) = 0;
  virtual std::unique_ptr<Command> makeGemm(GemmCall call) = 0;
  virtual std::unique_ptr<Command> makeConv(ConvCall call) = 0;
  virtual std::unique_ptr<Command> makeCopy(CopyCall call) = 0;
  virtual std::unique_ptr<Command> makeFill(FillCall call) = 0;
  /// The device's own way to other ranks; null where the host does collectives. Every rank of
  /// `transport` calls it, and they agree through it on what they need.
  virtual std::unique_ptr<Communicator> makeCommunicator(Transport &transport) { return nullptr; }
};

/// Which part of a machine a rank's device may take.
struct DeviceOptions {
  int64_t rankOnHost = 0;  ///< this rank's number among the ranks of its host
  int64_t ranksOnHost = 1; ///< how many there are
  int threads = 1;         ///< host threads that may work for the rank
};

/// What a device's module exports, as `weft_device_module`. Its file is weft-device-NAME.so, in a
/// folder of modules (runtime/Support/Module.h).
struct DeviceModule {
  int version; ///< deviceInterfaceVersion
  Device *(*make)(const DeviceOptions &options);
};

/// Memory of a device that frees itself.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(Device &device, int64_t bytes, bool onHost = false)
      : device(&device), address(onHost ? device.allocateOnHost(bytes) : device.allocate(bytes)) {}
  DeviceMemory(DeviceMemory &&other) noexcept
      : device(std::exchange(other.device, nullptr)), address(other.address) {}
  DeviceMemory &operator=(DeviceMemory &&other) noexcept {
    std::swap(device, other.device);
    std::swap(address, other.address);
    return *this;
  }
  ~DeviceMemory() {
    if (device)
      device->free(address);
  }

  DeviceAddress getAddress() const { return address; }

private:
  Device *device = nullptr;
  DeviceAddress address;
};

/// Host memory of a device's copies that frees itself.
class HostMemory {
public:
  HostMemory() = default;
  HostMemory(Device &device, int64_t bytes)
      : device(&device), data(device.allocateHost(bytes)), bytes(bytes) {}
  HostMemory(HostMemory &&other) noexcept
      : device(std::exchange(other.device, nullptr)), data(other.data), bytes(other.bytes) {}
  HostMemory &operator=(HostMemory &&other) noexcept {
    std::swap(device, other.device);
    std::swap(data, other.data);
    std::swap(bytes, other.bytes);
    return *this;
  }
  ~HostMemory() {
    if (device)
      device->freeHost(data);
  }

  std::byte *getData() const { return data; }
  int64_t getNumBytes() const { return bytes; }

private:
  Device *device = nullptr;
  std::byte *data = nullptr;
  int64_t bytes = 0;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICE_DEVICE_H
