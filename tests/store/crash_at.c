/* Ends the process in the middle of its n-th change to a file on the disk: half of what was to be
 * written is written, or what was to be done is not done. Preloaded; `crash_at` sets n. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static long left;
static long seen;

void crash_at(long n) {
    left = n;
    seen = 0;
}

long changes_seen(void) { return seen; }

static int is_file(int descriptor) {
    struct stat about;
    return fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
}

static int ends_here(void) {
    seen++;
    return left > 0 && --left == 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define POSITIONED(name, offset)                                                        \
    ssize_t name(int descriptor, const void *data, size_t size, offset at) {            \
        if (is_file(descriptor) && ends_here()) {                                       \
            REAL(name)(descriptor, data, size / 2, at);                                 \
            _exit(137);                                                                 \
        }                                                                               \
        return REAL(name)(descriptor, data, size, at);                                  \
    }

#define CUTTING(name, offset)                                                           \
    int name(int descriptor, offset size) {                                             \
        if (is_file(descriptor) && ends_here()) _exit(137);                             \
        return REAL(name)(descriptor, size);                                            \
    }

#define FLUSHING(name)                                                                  \
    int name(int descriptor) {                                                          \
        if (is_file(descriptor) && ends_here()) _exit(137);                             \
        return REAL(name)(descriptor);                                                  \
    }

POSITIONED(pwrite, off_t)
POSITIONED(pwrite64, off64_t)
CUTTING(ftruncate, off_t)
CUTTING(ftruncate64, off64_t)
FLUSHING(fsync)
FLUSHING(fdatasync)

ssize_t write(int descriptor, const void *data, size_t size) {
    if (is_file(descriptor) && ends_here()) {
        REAL(write)(descriptor, data, size / 2);
        _exit(137);
    }
    return REAL(write)(descriptor, data, size);
}

int unlink(const char *path) {
    if (ends_here()) _exit(137);
    return REAL(unlink)(path);
}
