// What Linux and macOS say each in its own way of the machine, of this process and of those it starts; one .cpp for
// each system.
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

// Numbers of the logical cores that this process may use, ascending; empty where the system does not say.
std::vector<int> usable_cores();

// Whether the system lets a process keep to some cores.
bool can_pin_cores();

// Keeps this process to these cores, where they can be pinned. May be called between fork() and exec().
void pin_to(const std::vector<int>& cores);

// The path of this process's executable, absolute and without links.
std::filesystem::path executable_path();

// What makes execve() start this very executable. Linux: its open file, even if the path now has another file. macOS:
// its path; throws Error if the file there has changed since this process began.
std::string executable_to_start();

// This process's variables, as posix_spawn() takes them.
char** environment();

// The same, as "NAME=value", for a process that must end with this one; see kill_with_parent() and watch_parent().
std::vector<std::string> environment_of_child();

// Called between fork() and exec(), with the process that forked: the system kills this process when that one ends.
// macOS cannot do so; there the child must do it itself, with watch_parent().
void kill_with_parent(pid_t parent);

// Called at the start of a program, before it has threads. If environment_of_child() started the program, it is killed
// when its parent ends. Throws Error if the parent cannot be watched.
void watch_parent();

// Lets all other work of the machine go before that of the calling thread, and of the children that it starts.
void give_way();

// Whether a process made by fork() may use libraries without an exec(). Apple's frameworks forbid it.
bool can_compute_after_fork();

// "SIGSEGV"; "signal 77" of one without a name.
std::string signal_name(int number);

// "SIGSEGV" or "exit code 3", of what waitpid() says. The same on all systems.
std::string ending_of(int wait_status);

// Ends the process at once, without what exit() does and unheard by call_before_exit().
[[noreturn]] void end_process(int code);

// Called where the process is about to end by exit() or its like. Linux: by _exit() too.
void call_before_exit(void (*function)());

// Memory that the process holds now, in bytes; 0 where the system does not say. Linux: what is resident. macOS: its
// footprint, which has what was compressed and what it shares with the GPU too.
uint64_t memory_of(pid_t process);

// The most of it that this process ever held, since forget_peak_memory() where the system lets that forget.
uint64_t peak_memory();
void forget_peak_memory();  // gives freed memory back first

}  // namespace eggroll

#endif
