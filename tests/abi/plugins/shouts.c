/* Prints while it is loaded. All its texts hold escapes, line breaks and bytes that are not UTF-8. */
#include <stdio.h>
#include <string.h>

static int refuse(char* text);

#define BASE_NAME "shouts"
#define BASE .version = "1.0\033[31m\nand more", .build = "by hand\377"
#define BASE_OPEN_RESULT refuse(error->text)
#include "base.h"

static int refuse(char* text) {
  strcpy(text, "no room\nfor \033[2Jthis\377");
  return EGG_ERROR_MEMORY;
}

__attribute__((constructor)) static void shout(void) {
  puts("SHOUTED");
  fputs("SHOUTED\n", stderr);
  fflush(NULL);
}
