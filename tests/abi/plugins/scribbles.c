/* A plugin that writes over the memory that its process shares with others, and ends the process. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BASE_NAME "scribbles"
#include "base.h"

__attribute__((constructor)) static void scribble(void) {
  FILE* maps = fopen("/proc/self/maps", "r");
  char line[512];
  unsigned long begin = 0;
  unsigned long end = 0;
  char access[8];
  if (maps == NULL) return;
  while (fgets(line, sizeof(line), maps) != NULL) {
    if (sscanf(line, "%lx-%lx %7s", &begin, &end, access) != 3 || strcmp(access, "rw-s") != 0) continue;
    memset((void*)begin, 0x55, end - begin);
  }
  fclose(maps);
  _exit(0);
}
