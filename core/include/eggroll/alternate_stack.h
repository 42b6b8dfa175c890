// A second stack for signal handlers, so that a thread whose own stack is used up can still say so.
#ifndef EGGROLL_ALTERNATE_STACK_H
#define EGGROLL_ALTERNATE_STACK_H

#include <csignal>
#include <cstddef>
#include <memory>
#include <new>

namespace eggroll {

// Gives the calling thread such a stack until it ends, unless the thread has one already or memory is short.
inline void give_alternate_stack() {
  class Stack {
   public:
    Stack() {
      stack_t now{};
      if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;
      constexpr size_t kBytes = size_t{64} << 10;  // a processor with AMX puts 11 KiB of registers there
      memory_.reset(new (std::nothrow) std::byte[kBytes]);
      stack_t own{};
      own.ss_sp = memory_.get();
      own.ss_size = kBytes;
      if (memory_ != nullptr && ::sigaltstack(&own, nullptr) != 0) memory_.reset();
    }
    Stack(const Stack&) = delete;
    Stack& operator=(const Stack&) = delete;
    ~Stack() {
      stack_t none{};
      none.ss_flags = SS_DISABLE;
      if (memory_ != nullptr) ::sigaltstack(&none, nullptr);
    }

   private:
    std::unique_ptr<std::byte[]> memory_;
  };
  thread_local const Stack stack;
}

}  // namespace eggroll

#endif
