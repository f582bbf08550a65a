/* While the file that SAYSO_TEST_READ_ONLY names exists, no open file can be written, and none in
 * SAYSO_HOME be opened for it, as on a disk that the kernel made read-only. Preloaded. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refused(void) {
    const char *sign = getenv("SAYSO_TEST_READ_ONLY");
    int before = errno;
    if (sign && access(sign, F_OK) == 0) {
        errno = EROFS;
        return 1;
    }
    errno = before;
    return 0;
}

static int at_home(const char *path) {
    const char *home = getenv("SAYSO_HOME");
    return home && strncmp(path, home, strlen(home)) == 0;
}

static int file_refused(int descriptor) {
    struct stat about;
    if (descriptor <= STDERR_FILENO) return 0;
    return fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) && refused();
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define POSITIONED(name, offset)                                                        \
    ssize_t name(int descriptor, const void *data, size_t size, offset at) {            \
        return file_refused(descriptor) ? -1 : REAL(name)(descriptor, data, size, at);  \
    }

#define CUTTING(name, offset)                                                           \
    int name(int descriptor, offset size) {                                             \
        return file_refused(descriptor) ? -1 : REAL(name)(descriptor, size);            \
    }

#define OPENING(name)                                                                   \
    int name(const char *path, int flags, ...) {                                        \
        va_list rest;                                                                   \
        va_start(rest, flags);                                                          \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;         \
        va_end(rest);                                                                   \
        if (flags & (O_WRONLY | O_RDWR) && at_home(path) && refused()) return -1;       \
        return REAL(name)(path, flags, mode);                                           \
    }

POSITIONED(pwrite, off_t)
POSITIONED(pwrite64, off64_t)
CUTTING(ftruncate, off_t)
CUTTING(ftruncate64, off64_t)
OPENING(open)
OPENING(open64)

ssize_t write(int descriptor, const void *data, size_t size) {
    return file_refused(descriptor) ? -1 : REAL(write)(descriptor, data, size);
}
