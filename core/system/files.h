// Files that survive a crash: whole replacement, appending, reading, and their SHA-256.
#ifndef EGGROLL_SYSTEM_FILES_H
#define EGGROLL_SYSTEM_FILES_H

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "eggroll/error.h"

namespace eggroll {

// The sentence of a failed system call: "cannot ACTION PATH: why; the cure". A full disk also says what is free.
Error file_error(const std::string& action, const std::filesystem::path& path, int error_number);

// Opens /dev/null for each of standard input, output and error that the caller closed. Otherwise a file that a program
// opens would get that number, and printed text would be written into the file. Call first in main().
void open_standard_descriptors();

// Whether something has this name. A path that cannot be looked at counts as there: the attempt to read it says why.
bool is_there(const std::filesystem::path& path);

// The paths in the folder that can be read, sorted. None if there is no such folder.
std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder);

// The folder of this name among a run's files; throws Error if it is a link, which would lead to a folder that is not
// the run's. It need not exist.
std::filesystem::path own_folder(const std::filesystem::path& folder);

// Creates the folder and those above it if they are missing. Their names outlive a power cut.
void create_folders(const std::filesystem::path& folder);

// An open file; closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor();
  int get() const { return number_; }

 private:
  int number_;
};

// Others may have written a folder of results. A link in it counts as no file, because it could lead anywhere.
enum class Links { kFollowed, kRefused };

// open() for regular files: refuses folders, devices, sockets and FIFOs, and waits for none of them. `action` is the
// verb of the sentence: "read", "write".
Descriptor open_regular(const std::filesystem::path& path, int flags, const std::string& action, Links links);

// Writes all bytes into an open file or pipe; returns 0 or errno.
int write_all(int file, std::string_view bytes);

// Throws if the path holds neither a file nor a link: a rename would put a file in the place of a device.
void require_replaceable(const std::filesystem::path& path);

// Replaces the file by these bytes: after a crash the path holds the old file or the new one, whole and on the disk. On
// failure the old file stays and the temporary file is removed. A path must have only one writer at a time.
void write_atomically(const std::filesystem::path& path, std::string_view bytes);
// The same for bytes that come in parts: body calls its argument with each part.
using WriteBytes = std::function<void(std::string_view)>;
void write_atomically(const std::filesystem::path& path, const std::function<void(const WriteBytes&)>& body);

// An open file with these bytes, made in the system's folder for temporary files and without a name any more. It goes
// when the last process that has it open closes it.
Descriptor unnamed_file(std::string_view bytes);

// Makes what was created, renamed or removed in the folder outlive a power cut.
void sync_folder(const std::filesystem::path& folder);

// Makes a copy whose bytes outlive a power cut; its name does once sync_folder() has returned.
void copy_to_disk(const std::filesystem::path& from, const std::filesystem::path& to);

std::string read_file(const std::filesystem::path& path, Links links = Links::kFollowed);

// The text of a file among results, which must be no link. Throws Error before it reads a file of more than `most`
// bytes.
std::string read_bounded(const std::filesystem::path& path, uint64_t most);

// Reads at most `size` bytes from byte `from` on; the file may be long and may be written meanwhile.
std::string read_part(const std::filesystem::path& path, uint64_t from, size_t size);
// Reads at most `size` of the last bytes, from the first beginning of a line among them if there is one.
std::string read_end(const std::filesystem::path& path, size_t size);

// A file that grows by whole blobs. It is created if it is missing, never through a link. A blob that does not fit
// leaves no part of itself in the file.
class AppendFile {
 public:
  explicit AppendFile(std::filesystem::path path);
  void append(std::string_view blob);  // one write
  void flush();                        // returns once the bytes are on the disk; throws if the file was removed
  void truncate_to(uint64_t size);     // size at most size()
  uint64_t size() const { return size_; }

 private:
  std::filesystem::path path_;
  Descriptor file_;
  uint64_t size_;
};

class Sha256 {
 public:
  Sha256();
  void update(std::string_view bytes);
  std::string hex();  // 64 lower-case digits; ends the digest, call once

 private:
  std::unique_ptr<void, void (*)(void*)> context_;
};

std::string sha256_hex(std::string_view bytes);
std::string sha256_file(const std::filesystem::path& path);

}  // namespace eggroll

#endif
