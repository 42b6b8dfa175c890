// What a backend gave back, and the guarded memory it was given.
#ifndef EGGROLL_CONFORMANCE_TRANSCRIPT_H
#define EGGROLL_CONFORMANCE_TRANSCRIPT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace eggroll {

// Everything a backend returned for a case, in named parts.
struct Transcript {
  struct Part {
    std::string name;
    std::vector<uint8_t> bytes;
  };
  std::vector<Part> parts;
};

// Empty where both are equal byte by byte, else a sentence saying where they first differ.
std::string first_difference(const Transcript& expected, const Transcript& actual);

// Appends `size` bytes at `offset` of memory that holds kGuardByte everywhere else; throws Error where it does not.
void append_guarded(Transcript& transcript, const std::string& name, const std::vector<uint8_t>& memory, size_t offset,
                    size_t size);

constexpr uint8_t kGuardByte = 0xA5;

// Memory with known bytes around it. Byte-sized elements start at an odd address.
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t count) : count_(count), bytes_(kGuard * 2 + count * sizeof(T) + 1, kGuardByte) {}
  T* data() { return reinterpret_cast<T*>(bytes_.data() + kOffset); }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data()[i]; }

  void append_to(Transcript& transcript, const std::string& name) const {
    append_guarded(transcript, name, bytes_, kOffset, count_ * sizeof(T));
  }

 private:
  static constexpr size_t kGuard = 64;
  static constexpr size_t kOffset = sizeof(T) == 1 ? kGuard + 1 : kGuard;
  size_t count_;
  std::vector<uint8_t> bytes_;
};

}  // namespace eggroll

#endif
