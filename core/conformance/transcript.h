// The results that a backend gave back, and the memory that it was given.
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

// Empty if both are equal byte by byte, else a sentence that says where they first differ.
std::string first_difference(const Transcript& expected, const Transcript& actual);

// Memory that a backend is to fill. It holds kUnwritten at first, so that elements which a backend leaves out are
// found; byte-sized elements start at an odd address.
template <class T>
class Array {
 public:
  explicit Array(size_t count) : count_(count), bytes_(kOffset + count * sizeof(T), kUnwritten) {}
  T* data() { return reinterpret_cast<T*>(bytes_.data() + kOffset); }
  size_t size() const { return count_; }
  T& operator[](size_t i) { return data()[i]; }

  void append_to(Transcript& transcript, const std::string& name) const {
    transcript.parts.push_back({name, std::vector<uint8_t>(bytes_.begin() + kOffset, bytes_.end())});
  }

 private:
  static constexpr uint8_t kUnwritten = 0xA5;
  static constexpr ptrdiff_t kOffset = sizeof(T) == 1 ? 1 : 0;
  size_t count_;
  std::vector<uint8_t> bytes_;
};

}  // namespace eggroll

#endif
