/* Preloaded into a program, makes one of its calls fail: the N-th of a kind.
 *
 *   FAIL_CALL    kind of call: write, fsync, rename, linkat, ftruncate, mmap, open, mkdir; or
 *                alloc, libc-alloc, library-alloc: made by the program, libc, another library
 *   FAIL_AT      which one, from 1; 0: none, only count
 *   FAIL_ERRNO   what errno then says
 *   FAIL_CUT     the file to empty at that call, after it if it is mmap; the call then is made
 *   FAIL_LOG     file that gets the number of calls at exit, or the name of the program or library
 *                that made the failed one
 *
 * Calls count from when the libraries are initialised, those of forked processes with the
 * program's. Those that the C library makes of itself, as fwrite does of write, do not come by
 * here; allocations do.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The allocator under its other names, so that nothing is looked up for it. */
extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t n, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t align, size_t bytes);

/* There if the program runs under AddressSanitizer, as a library behind this one. */
extern void __asan_init(void) __attribute__((weak));

static const char *kind;
static const void *program, *libc; /* where they are mapped */
static long fail_at;
static int fail_errno;
static atomic_long *n_call; /* of the program and the processes it forks, together */

static const void *base_of(const void *place)
{
    Dl_info info;
    return dladdr(place, &info) == 0 ? NULL : info.dli_fbase;
}

static void append(const char *text)
{
    const char *path = getenv("FAIL_LOG");
    int fd = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
    if (fd >= 0)
        dprintf(fd, "%s\n", text);
    if (fd >= 0)
        close(fd);
}

__attribute__((constructor)) static void begin(void)
{
    FILE *(*of_libc)(const char *, const char *) = fopen;
    const void *place;
    memcpy(&place, &of_libc, sizeof place);
    libc = base_of(place);
    program = base_of((const void *)getauxval(AT_ENTRY));
    const char *at = getenv("FAIL_AT"), *number = getenv("FAIL_ERRNO");
    fail_at = at == NULL ? 0 : atol(at);
    fail_errno = number == NULL ? EIO : atoi(number);
    void *shared = mmap(NULL, sizeof *n_call, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0);
    if (shared == MAP_FAILED)
        abort();
    n_call = shared;
    kind = getenv("FAIL_CALL");
}

__attribute__((destructor)) static void end(void)
{
    char text[32];
    kind = NULL;
    snprintf(text, sizeof text, "%ld", atomic_load(n_call));
    if (fail_at == 0)
        append(text);
}

/* Is this the call? `caller` is a place in who made it. */
static int is_hit(const char *name, const void *caller)
{
    Dl_info info;
    if (kind == NULL || strcmp(kind, name) != 0 || atomic_fetch_add(n_call, 1) + 1 != fail_at)
        return 0;
    kind = NULL;
    const char *cut = getenv("FAIL_CUT");
    if (cut != NULL)
        return truncate(cut, 0);
    const char *slash = dladdr(caller, &info) == 0 ? NULL : strrchr(info.dli_fname, '/');
    append(slash == NULL ? "?" : slash + 1);
    errno = fail_errno;
    return 1;
}

static int is_hit_alloc(const void *caller)
{
    if (kind == NULL || strstr(kind, "alloc") == NULL)
        return 0;
    const void *base = base_of(caller);
    const char *name = base == program ? "alloc" : base == libc ? "libc-alloc" : "library-alloc";
    return is_hit(name, caller);
}

#define HIT(name) is_hit(name, __builtin_return_address(0))
#define HIT_ALLOC() is_hit_alloc(__builtin_return_address(0))
#define NEXT(function) (__extension__(__typeof__(&(function)))dlsym(RTLD_NEXT, #function))

/* The allocator that would be called without this library. */
#define ALLOCATOR(function, own) (__asan_init == NULL ? (own) : NEXT(function))

void *malloc(size_t bytes)
{
    return HIT_ALLOC() ? NULL : ALLOCATOR(malloc, __libc_malloc)(bytes);
}

void *calloc(size_t n, size_t bytes)
{
    return HIT_ALLOC() ? NULL : ALLOCATOR(calloc, __libc_calloc)(n, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return HIT_ALLOC() ? NULL : ALLOCATOR(realloc, __libc_realloc)(old, bytes);
}

void *aligned_alloc(size_t align, size_t bytes)
{
    return HIT_ALLOC() ? NULL : ALLOCATOR(aligned_alloc, __libc_memalign)(align, bytes);
}

int posix_memalign(void **result, size_t align, size_t bytes)
{
    void *made = HIT_ALLOC() ? NULL : ALLOCATOR(aligned_alloc, __libc_memalign)(align, bytes);
    if (made != NULL)
        *result = made;
    return made == NULL ? ENOMEM : 0;
}

ssize_t write(int fd, const void *data, size_t size)
{
    return HIT("write") ? -1 : NEXT(write)(fd, data, size);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    return HIT("write") ? -1 : NEXT(pwrite)(fd, data, size, offset);
}

int fsync(int fd)
{
    return HIT("fsync") ? -1 : NEXT(fsync)(fd);
}

int rename(const char *from, const char *to)
{
    return HIT("rename") ? -1 : NEXT(rename)(from, to);
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags)
{
    return HIT("rename") ? -1 : NEXT(renameat2)(from_at, from, to_at, to, flags);
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags)
{
    return HIT("linkat") ? -1 : NEXT(linkat)(from_at, from, to_at, to, flags);
}

int ftruncate(int fd, off_t size)
{
    return HIT("ftruncate") ? -1 : NEXT(ftruncate)(fd, size);
}

int mkdir(const char *path, mode_t mode)
{
    return HIT("mkdir") ? -1 : NEXT(mkdir)(path, mode);
}

int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(args, mode_t) : 0;
    va_end(args);
    return HIT("open") ? -1 : openat(AT_FDCWD, path, flags, mode);
}

void *mmap(void *at, size_t size, int allowed, int flags, int fd, off_t offset)
{
    if (getenv("FAIL_CUT") == NULL && fd >= 0 && HIT("mmap"))
        return MAP_FAILED;
    void *data = NEXT(mmap)(at, size, allowed, flags, fd, offset);
    if (getenv("FAIL_CUT") != NULL && fd >= 0)
        (void)HIT("mmap");
    return data;
}
