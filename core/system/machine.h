// Facts about the machine, this process and the processes that it starts, which Linux and macOS give in different ways;
// one .cpp for each system.
#ifndef EGGROLL_SYSTEM_MACHINE_H
#define EGGROLL_SYSTEM_MACHINE_H

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace eggroll {

struct Cpu {
  std::string model;                  // "unknown" where the system does not say
  uint32_t cores = 0;                 // logical; 0: the system does not say
  std::vector<std::string> features;  // the vector extensions and what goes with them, as the system names them
};

Cpu this_cpu();

// Numbers of the logical cores that this process may use, ascending; empty if the system does not say.
std::vector<int> usable_cores();

// Whether the system lets a process keep to some cores.
bool can_pin_cores();

// Keeps this process to these cores, where they can be pinned. May be called between fork() and exec().
void pin_to(const std::vector<int>& cores);

// The path of this process's executable, absolute and without links.
std::filesystem::path executable_path();

// The path that makes execve() start this very executable. Linux: its open file, even if the path now has another file.
// macOS: its path; throws Error if the file there has changed since this process began.
std::string executable_to_start();

// This process's variables, as posix_spawn() takes them.
char** environment();

// The variables, as "NAME=value", for a child that must end with this process; see kill_with_parent(), watch_parent().
std::vector<std::string> environment_of_child();

// Must be called between fork() and exec(), with the process that forked: the system then kills this process when that
// one ends. macOS cannot do so; there the child must do it itself, with watch_parent().
void kill_with_parent(pid_t parent);

// Must be called at the start of a program, before it has threads. macOS: if the program has the variables of
// environment_of_child(), it is killed when its parent ends; throws Error if the parent cannot be watched.
void watch_parent();

// Gives all other work of the machine priority over the calling thread and over the children that it starts.
void give_way();

// Whether a process made by fork() may use libraries without an exec(). Apple's frameworks forbid it.
bool can_compute_after_fork();

// "SIGSEGV"; "signal 77" for a signal without a name.
std::string signal_name(int number);

// "SIGSEGV" or "exit code 3" for a status from waitpid(). The same on all systems.
std::string ending_of(int wait_status);

// Ends the process at once, without what exit() does and without the function of call_before_exit().
[[noreturn]] void end_process(int code);

// Has the function called when the process ends by exit(). Linux: by quick_exit(), _exit() and _Exit() too.
void call_before_exit(void (*function)());

// The memory that the process holds now, in bytes; 0 if the system does not say. Linux: its resident memory. macOS: its
// footprint, which includes compressed memory and memory that it shares with the GPU.
uint64_t memory_of(pid_t process);

// The most memory that this process has held: on Linux since forget_peak_memory(), on macOS ever.
uint64_t peak_memory();
void forget_peak_memory();  // gives freed memory back first

}  // namespace eggroll

#endif
