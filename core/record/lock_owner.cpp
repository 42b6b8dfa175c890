#include "record/lock_owner.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <csignal>
#include <string_view>

#include "record/seal.h"

namespace eggroll {
namespace {

constexpr std::string_view kReleased = "released by ";
constexpr std::string_view kPid = "pid ";
constexpr std::string_view kHost = " on host ";
constexpr std::string_view kSeal = ", crc ";

std::string host_name() {
  std::array<char, _POSIX_HOST_NAME_MAX + 1> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "unknown";
}

std::string text_of(pid_t pid, std::string_view host) { return fmt::format("{}{}{}{}", kPid, pid, kHost, host); }

std::string with_seal(std::string_view text) { return fmt::format("{}{}{:08x}", text, kSeal, crc_of(text)); }

bool take(std::string_view& text, std::string_view begin) {
  if (!text.starts_with(begin)) return false;
  text.remove_prefix(begin.size());
  return true;
}

}  // namespace

LockOwner LockOwner::this_process() {
  const std::string host = host_name();
  return {text_of(::getpid(), host), ::getpid(), host};
}

bool LockOwner::is_of_this_host() const { return host == host_name(); }

bool LockOwner::has_died() const { return is_of_this_host() && ::kill(pid, 0) != 0 && errno == ESRCH; }

std::optional<LockOwner> owner_in(int file) {
  std::array<char, _POSIX_HOST_NAME_MAX + 80> bytes{};
  const ssize_t size = ::pread(file, bytes.data(), bytes.size(), 0);
  std::string_view line(bytes.data(), size > 0 ? static_cast<size_t>(size) : 0);
  const size_t end = line.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  line = line.substr(0, end);
  const std::string_view before = line.substr(0, line.find(kSeal));
  if (with_seal(before) != line) return std::nullopt;

  LockOwner owner;
  std::string_view rest = before;
  owner.is_released = take(rest, kReleased);
  if (!take(rest, kPid)) return std::nullopt;
  const auto [stop, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), owner.pid);
  rest.remove_prefix(static_cast<size_t>(stop - rest.data()));
  if (failure != std::errc() || owner.pid <= 0 || !take(rest, kHost)) return std::nullopt;
  owner.host = rest;
  owner.text = text_of(owner.pid, owner.host);
  return owner;
}

bool write_owner(int file, const LockOwner& owner) {
  const std::string line = with_seal((owner.is_released ? std::string(kReleased) : "") + owner.text) + "\n";
  return ::pwrite(file, line.data(), line.size(), 0) == static_cast<ssize_t>(line.size()) &&
         ::ftruncate(file, static_cast<off_t>(line.size())) == 0;
}

}  // namespace eggroll
