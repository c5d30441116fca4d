// A map from addresses to objects whose readers take no lock: a launch looks up its kernel in it.
//
// Open addressing with linear probing in an array of atomic slots. A full array is replaced by a larger one,
// and the old ones are kept, because a reader may still be in one: together they are smaller than the current
// one.
#ifndef FAIRGV_CUDA_SHIM_CUDART_ADDRESS_TABLE_HPP
#define FAIRGV_CUDA_SHIM_CUDART_ADDRESS_TABLE_HPP

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace fairgv::cudart {

// Any thread may call find() at any time. The caller owns the objects. An object must outlive its entry, and
// an entry must not be erased while its own address is being looked up (that is, while the program launches a
// kernel of a library that it closes).
template <class Object>
class AddressTable {
 public:
  AddressTable() { grow(kFirstCapacity); }

  Object* find(const void* address) const {
    if (address == nullptr) return nullptr;
    const Array& array = *current_.load(std::memory_order_acquire);  // pairs with grow
    for (std::size_t i = slot_of(address, array);; i = (i + 1) & array.mask) {
      const Slot& slot = array.slots[i];
      // Pairs with the release in put: a thread that sees the address sees the object.
      const void* const key = slot.address.load(std::memory_order_acquire);
      if (key == nullptr) return nullptr;
      if (key == address) return slot.object.load(std::memory_order_acquire);  // pairs with put and erase
    }
  }

  // Replaces an existing entry.
  void insert(const void* address, Object* object) {
    const std::lock_guard lock(mutex_);
    Array& array = *arrays_.back();
    if ((array.used + 1) * 2 > array.mask + 1) grow((array.mask + 1) * 2);
    put(*arrays_.back(), address, object);
  }

  // Takes the entry away if it still leads to this object.
  void erase(const void* address, const Object* object) {
    const std::lock_guard lock(mutex_);
    Array& array = *arrays_.back();
    for (std::size_t i = slot_of(address, array);; i = (i + 1) & array.mask) {
      Slot& slot = array.slots[i];
      const void* const key = slot.address.load(std::memory_order_relaxed);
      if (key == nullptr) return;
      if (key != address) continue;
      // The address stays as a mark that keeps later entries reachable.
      if (slot.object.load(std::memory_order_relaxed) == object)
        slot.object.store(nullptr, std::memory_order_release);
      return;
    }
  }

 private:
  static constexpr std::size_t kFirstCapacity = 256;

  struct Slot {
    std::atomic<const void*> address{nullptr};
    std::atomic<Object*> object{nullptr};
  };
  struct Array {
    explicit Array(std::size_t capacity) : slots(new Slot[capacity]), mask(capacity - 1) {}
    std::unique_ptr<Slot[]> slots;
    std::size_t mask;
    std::size_t used = 0;
  };

  static std::size_t slot_of(const void* address, const Array& array) {
    // Functions and variables are aligned; a multiplication spreads the bits that differ.
    const auto bits = std::bit_cast<std::uint64_t>(address);
    return static_cast<std::size_t>((bits * 0x9e3779b97f4a7c15u) >> 32) & array.mask;
  }

  static void put(Array& array, const void* address, Object* object) {
    for (std::size_t i = slot_of(address, array);; i = (i + 1) & array.mask) {
      Slot& slot = array.slots[i];
      const void* const key = slot.address.load(std::memory_order_relaxed);
      if (key != nullptr && key != address) continue;
      slot.object.store(object, std::memory_order_release);  // pairs with find
      if (key == nullptr) {
        ++array.used;
        slot.address.store(address, std::memory_order_release);  // pairs with find
      }
      return;
    }
  }

  void grow(std::size_t capacity) {
    auto larger = std::make_unique<Array>(capacity);
    if (!arrays_.empty()) {
      const Array& old = *arrays_.back();
      for (std::size_t i = 0; i <= old.mask; ++i) {
        Object* const object = old.slots[i].object.load(std::memory_order_relaxed);
        if (object != nullptr) put(*larger, old.slots[i].address.load(std::memory_order_relaxed), object);
      }
    }
    arrays_.push_back(std::move(larger));
    current_.store(arrays_.back().get(), std::memory_order_release);  // pairs with find
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Array>> arrays_;  // the last one is current
  std::atomic<const Array*> current_{nullptr};
};

}  // namespace fairgv::cudart

#endif  // FAIRGV_CUDA_SHIM_CUDART_ADDRESS_TABLE_HPP
