/* Loaded in front of the C library, it has a program wait when it looks up the account "slow": until the file exists
   that the environment variable SLOW_ACCOUNTS_GATE names. The account is that of root. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct passwd* getpwnam(const char* name) {
  static struct passwd* (*real)(const char*);
  if (!real) real = (struct passwd * (*)(const char*)) dlsym(RTLD_NEXT, "getpwnam");
  if (strcmp(name, "slow") != 0) return real(name);
  const char* gate = getenv("SLOW_ACCOUNTS_GATE");
  while (gate && access(gate, F_OK) != 0) usleep(10000);
  return real("root");
}
