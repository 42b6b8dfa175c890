#include "system/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>

#include "system/file_calls.h"

namespace eggroll {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& path) { return path.has_parent_path() ? path.parent_path() : fs::path("."); }

std::string free_space(const fs::path& path) {
  struct statvfs disk {};
  if (statvfs(folder_of(path).c_str(), &disk) != 0) return "";
  const double megabytes = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) / 1e6;
  return fmt::format(" with {:.1f} MB free on that disk", megabytes);
}

const char* cure_of(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or choose a folder on another disk, then run the same command again";
    case EFBIG:
      return "raise the file size limit (ulimit -f) or choose a disk that takes larger files, then run the same "
             "command again";
    case EACCES:
    case EPERM:
    case EROFS:
      return "give this user access to it or choose another folder";
    case ENOENT:
    case ENOTDIR:
      return "check that the path is right and that its folder exists";
    case EISDIR:
      return "give the path of a file, not of a folder";
    case ENAMETOOLONG:
      return "give a shorter name";
    case ELOOP:
      return "remove the links that lead in a circle";
    case ENOLCK:
    case ENOTSUP:  // macOS has locks of open files on its own disks alone, not on network volumes
      return "its file system cannot do this: choose a folder on another one";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n)";
    case EAGAIN:  // a process cannot be started
      return "raise the limit on processes (ulimit -u) or wait until others end, then do it again";
    case ENOMEM:
      return "free some memory or raise its limit (ulimit -v), then do it again";
    default:
      return "check the disk that holds it";
  }
}

const char* kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

// Hands the file's bytes, chunk by chunk, to use(std::string_view).
template <class Use>
void read_chunks(const Descriptor& file, const fs::path& path, Use&& use) {
  std::vector<char> chunk(size_t{1} << 20);
  for (;;) {
    const ssize_t got = ::read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error("read", path, errno);
    if (got == 0) return;
    use(std::string_view(chunk.data(), static_cast<size_t>(got)));
  }
}

void delete_digest(void* context) { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(context)); }

void require_digest(int result) {
  if (result != 1) throw Error("OpenSSL cannot compute SHA-256; reinstall the package of libcrypto");
}

}  // namespace

Error file_error(const std::string& action, const fs::path& path, int error_number) {
  return Error(fmt::format("cannot {} {}: {}{}; {}", action, path.string(),
                           std::generic_category().message(error_number),
                           error_number == ENOSPC ? free_space(path) : "", cure_of(error_number)));
}

void open_standard_descriptors() {
  for (int file = 0; file <= STDERR_FILENO;) {
    file = ::open("/dev/null", O_RDWR);
    if (file < 0) file = ::open("/", O_RDONLY);  // takes the number too, and can be neither read nor written
    if (file < 0) ::_exit(1);
    if (file > STDERR_FILENO) ::close(file);
  }
}

bool is_there(const fs::path& path) {
  std::error_code failure;
  return fs::status(path, failure).type() != fs::file_type::not_found;
}

std::vector<fs::path> paths_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator next(folder, failure); !failure && next != fs::directory_iterator();
       next.increment(failure)) {
    found.push_back(next->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path own_folder(const fs::path& folder) {
  std::error_code unknown;
  if (!fs::is_symlink(folder, unknown)) return folder;
  throw Error(
      fmt::format("{} is a link, and links among results are not followed; put the folder itself there or "
                  "remove the link",
                  folder.string()));
}

void create_folders(const fs::path& folder) {
  std::error_code failure;
  std::vector<fs::path> missing;  // the innermost first
  for (fs::path path = folder; !path.empty() && !is_there(path); path = path.parent_path()) missing.push_back(path);
  fs::create_directories(folder, failure);
  if (failure) throw file_error("create the folder", folder, failure.value());
  for (const fs::path& path : missing) sync_folder(folder_of(path));
}

Descriptor open_regular(const fs::path& path, int flags, const std::string& action, Links links) {
  const int no_link = links == Links::kRefused ? O_NOFOLLOW : 0;
  Descriptor file(::open(path.c_str(), flags | no_link | O_NONBLOCK | O_CLOEXEC, 0666));
  const int failure = errno;
  struct stat found {};
  if (file.get() >= 0) {
    if (::fstat(file.get(), &found) != 0) throw file_error(action, path, errno);
    if (S_ISREG(found.st_mode)) return file;
  } else if (::lstat(path.c_str(), &found) == 0 && no_link != 0 && S_ISLNK(found.st_mode)) {
    throw Error(
        fmt::format("cannot {} {}: it is a link, and links among results are not followed; put the file itself "
                    "there or remove the link",
                    action, path.string()));
  }
  // A socket cannot be opened, and neither can a FIFO without a reader, for writing.
  const bool odd = file.get() >= 0 || (failure == ENXIO && ::stat(path.c_str(), &found) == 0);
  if (!odd) throw file_error(action, path, failure);
  if (S_ISDIR(found.st_mode)) throw file_error(action, path, EISDIR);
  throw Error(fmt::format("cannot {} {}: it is {}, expected a regular file; give another path or remove it", action,
                          path.string(), kind_of(found.st_mode)));
}

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

int write_all(int file, std::string_view bytes) {
  // A short write is continued, so that the reason for it becomes known.
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

void require_replaceable(const fs::path& path) {
  struct stat present {};
  if (::lstat(path.c_str(), &present) != 0 || S_ISREG(present.st_mode) || S_ISLNK(present.st_mode)) return;
  if (S_ISDIR(present.st_mode)) throw file_error("write", path, EISDIR);
  throw Error(fmt::format("cannot write {}: it is {}, expected a regular file; give another path or remove it",
                          path.string(), kind_of(present.st_mode)));
}

Descriptor unnamed_file(std::string_view bytes) {
  std::error_code failure_to_find;
  const fs::path folder = fs::temp_directory_path(failure_to_find);
  if (failure_to_find) throw Error("the system has no folder for temporary files; set TMPDIR to one");
  std::string path = folder / "eggroll-XXXXXX";
  Descriptor file(::mkostemp(path.data(), O_CLOEXEC));
  if (file.get() < 0) throw file_error("write", path, errno);
  ::unlink(path.c_str());
  if (const int failure = write_all(file.get(), bytes); failure != 0) throw file_error("write", path, failure);
  return file;
}

void write_atomically(const fs::path& path, std::string_view bytes) {
  write_atomically(path, [&](const WriteBytes& write) { write(bytes); });
}

void write_atomically(const fs::path& path, const std::function<void(const WriteBytes&)>& body) {
  require_replaceable(path);
  // One fixed name: the next write overwrites what a killed process left.
  const fs::path temporary = folder_of(path) / fmt::format(".{}.tmp", path.filename().string());
  const auto require = [&](int failure) {
    if (failure != 0) throw file_error("write", path, failure);  // free space as the failure saw it
  };
  const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.get() < 0) require(errno);
  try {
    body([&](std::string_view bytes) { require(write_all(file.get(), bytes)); });
    if (sync_to_disk(file.get()) != 0) require(errno);
    if (::rename(temporary.c_str(), path.c_str()) != 0) require(errno);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_folder(folder_of(path));
}

void sync_folder(const fs::path& folder) {
  const Descriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (file.get() < 0) throw file_error("open the folder", folder, errno);
  // EINVAL: the file system cannot do this; it orders its folders itself.
  if (sync_to_disk(file.get()) != 0 && errno != EINVAL) throw file_error("save the folder", folder, errno);
}

void copy_to_disk(const fs::path& from, const fs::path& to) {
  const Descriptor source = open_regular(from, O_RDONLY, "read", Links::kFollowed);
  struct stat facts {};
  if (::fstat(source.get(), &facts) != 0) throw file_error("read", from, errno);
  const Descriptor copy(
      ::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, facts.st_mode & 0777U));
  const auto require = [&](int failure) {
    if (failure != 0)
      throw file_error("write", to, failure);  // fs::copy_file() calls a full disk an input/output error
  };
  if (copy.get() < 0) require(errno);
  read_chunks(source, from, [&](std::string_view chunk) { require(write_all(copy.get(), chunk)); });
  if (sync_to_disk(copy.get()) != 0) require(errno);
}

std::string read_file(const fs::path& path, Links links) {
  const Descriptor file = open_regular(path, O_RDONLY, "read", links);
  struct stat facts {};
  std::string bytes;
  if (::fstat(file.get(), &facts) == 0 && facts.st_size > 0) bytes.reserve(static_cast<size_t>(facts.st_size));
  read_chunks(file, path, [&](std::string_view chunk) { bytes += chunk; });
  return bytes;
}

std::string read_bounded(const fs::path& path, uint64_t most) {
  const Descriptor file = open_regular(path, O_RDONLY, "read", Links::kRefused);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) throw file_error("read", path, errno);
  std::string bytes;
  const auto require_small = [&](uint64_t size) {
    if (size <= most) return;
    throw Error(
        fmt::format("{} has {} bytes, and such a file of eggroll has at most {}; move it elsewhere, or restore it from "
                    "a copy",
                    path.string(), size, most));
  };
  require_small(static_cast<uint64_t>(facts.st_size));
  read_chunks(file, path, [&](std::string_view chunk) { require_small((bytes += chunk).size()); });
  return bytes;
}

std::string read_part(const fs::path& path, uint64_t from, size_t size) {
  const Descriptor file = open_regular(path, O_RDONLY, "read", Links::kRefused);
  std::string bytes(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = ::pread(file.get(), bytes.data() + done, size - done, static_cast<off_t>(from + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw file_error("read", path, errno);
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

std::string read_end(const fs::path& path, size_t size) {
  std::error_code failure;
  const uint64_t whole = fs::file_size(path, failure);
  if (failure || whole <= size) return read_part(path, 0, size);
  const std::string text = read_part(path, whole - size, size);
  const size_t line = text.find('\n');
  return line == std::string::npos || line + 1 == text.size() ? text : text.substr(line + 1);
}

AppendFile::AppendFile(fs::path path)
    : path_(std::move(path)),
      file_(open_regular(path_, O_WRONLY | O_CREAT | O_APPEND, "write", Links::kRefused)),
      size_(0) {
  struct stat facts {};
  if (::fstat(file_.get(), &facts) != 0) throw file_error("write", path_, errno);
  size_ = static_cast<uint64_t>(facts.st_size);
  if (size_ == 0) sync_folder(folder_of(path_));
}

void AppendFile::append(std::string_view blob) {
  const int failure = write_all(file_.get(), blob);
  if (failure != 0) {
    const Error error = file_error("write", path_, failure);
    // If even this fails, readers still drop a torn end.
    [[maybe_unused]] const int result = ::ftruncate(file_.get(), static_cast<off_t>(size_));
    throw error;
  }
  size_ += blob.size();
}

void AppendFile::flush() {
  if (sync_data_to_disk(file_.get()) != 0) throw file_error("write", path_, errno);
  struct stat facts {};
  if (::fstat(file_.get(), &facts) != 0) throw file_error("write", path_, errno);
  if (facts.st_nlink > 0) return;
  throw Error(
      fmt::format("{} was removed while it was being written; restore it from a copy or delete its folder to "
                  "start over",
                  path_.string()));
}

void AppendFile::truncate_to(uint64_t size) {
  if (size > size_) {
    throw Error(
        fmt::format("cannot cut {} to {} bytes: it has {}; restore it from a copy", path_.string(), size, size_));
  }
  if (::ftruncate(file_.get(), static_cast<off_t>(size)) != 0) throw file_error("write", path_, errno);
  size_ = size;
}

Sha256::Sha256() : context_(EVP_MD_CTX_new(), delete_digest) {
  require_digest(EVP_DigestInit_ex(static_cast<EVP_MD_CTX*>(context_.get()), EVP_sha256(), nullptr));
}

void Sha256::update(std::string_view bytes) {
  require_digest(EVP_DigestUpdate(static_cast<EVP_MD_CTX*>(context_.get()), bytes.data(), bytes.size()));
}

std::string Sha256::hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  require_digest(EVP_DigestFinal_ex(static_cast<EVP_MD_CTX*>(context_.get()), digest.data(), &size));
  std::string text;
  for (unsigned int i = 0; i < size; ++i) text += fmt::format("{:02x}", digest[i]);
  return text;
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 digest;
  digest.update(bytes);
  return digest.hex();
}

std::string sha256_file(const fs::path& path) {
  const Descriptor file = open_regular(path, O_RDONLY, "read", Links::kFollowed);
  Sha256 digest;
  read_chunks(file, path, [&](std::string_view chunk) { digest.update(chunk); });
  return digest.hex();
}

}  // namespace eggroll
