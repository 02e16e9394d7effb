/*
 * A disk that fails on command: loaded before libc (LD_PRELOAD), it stands in front of the calls that change files below one
 * folder. Rules come from a control file that may change at any time; what is done goes to a log. It knows nothing of
 * what the files mean. Everything else, sockets above all, passes through.
 *
 *   FAULTY_DISK_DIR      folder whose files are concerned (absolute, without symbolic links)
 *   FAULTY_DISK_CONTROL  file of rules, one a line: OP WHAT AFTER TIMES [PART]
 *                          OP     write, sync, open, rename or unlink
 *                          WHAT   EIO, ENOSPC, or a number: the call is held for so many ms first
 *                          AFTER  so many calls pass before the rule holds, counted from the moment the file changed
 *                          TIMES  it holds for so many calls; 0: until the file changes
 *                          PART   only for paths below the folder that contain this
 *                        A held call goes on at once when the file changes.
 *   FAULTY_DISK_LOG      gets a line for each call that was let through: NS OP PATH BYTES MARKS
 *                        NS is CLOCK_MONOTONIC after the call. MARKS are words of the data that begin with FAULTY_DISK_MARK and
 *                        go on with digits.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define RULES_MAX 16
#define CONTROL_MAX 4096
#define MARKS_MAX 65536

struct rule {
  char op[8];
  int error;
  long stall_ms;
  long after;
  long times;
  char part[128];
  long seen;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct rule rules[RULES_MAX];
static int rule_count;
static char control_text[CONTROL_MAX];
static long generation;

static long long now_ns(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return at.tv_sec * 1000000000LL + at.tv_nsec;
}

/* Writes past every function that is replaced below. */
static void put_line(const char *path, const char *text, size_t length) {
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return;
  syscall(SYS_write, fd, text, length);
  syscall(SYS_close, fd);
}

static void parse(char *text) {
  char *state;
  rule_count = 0;
  for (char *line = strtok_r(text, "\n", &state); line != NULL && rule_count < RULES_MAX; line = strtok_r(NULL, "\n", &state)) {
    struct rule *rule = &rules[rule_count];
    char what[16] = "";
    memset(rule, 0, sizeof *rule);
    if (sscanf(line, "%7s %15s %ld %ld %127s", rule->op, what, &rule->after, &rule->times, rule->part) < 4) continue;
    if (strcmp(what, "EIO") == 0) rule->error = EIO;
    else if (strcmp(what, "ENOSPC") == 0) rule->error = ENOSPC;
    else rule->stall_ms = atol(what);
    rule_count++;
  }
}

/* Reads the rules anew when their file has changed. The mutex is held. */
static void refresh(void) {
  static char text[CONTROL_MAX];
  const char *path = getenv("FAULTY_DISK_CONTROL");
  ssize_t length = 0;
  int fd = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
  if (fd >= 0) {
    length = syscall(SYS_read, fd, text, CONTROL_MAX - 1);
    syscall(SYS_close, fd);
  }
  text[length > 0 ? length : 0] = 0;
  if (strcmp(text, control_text) == 0) return;
  strcpy(control_text, text);
  generation++;
  parse(text);
}

/* What becomes of this call: 0, or the error it fails with. Holds it first when a rule says so. */
static int judge(const char *op, const char *name) {
  pthread_mutex_lock(&mutex);
  refresh();
  long mine = generation, stall_ms = 0;
  int error = 0;
  for (int i = 0; i < rule_count && error == 0; i++) {
    struct rule *rule = &rules[i];
    if (strcmp(rule->op, op) != 0 || (rule->part[0] != 0 && strstr(name, rule->part) == NULL)) continue;
    long seen = rule->seen++;
    if (seen < rule->after || (rule->times > 0 && seen >= rule->after + rule->times)) continue;
    error = rule->error;
    stall_ms += rule->stall_ms;
  }
  pthread_mutex_unlock(&mutex);
  for (long long end = now_ns() + stall_ms * 1000000LL; stall_ms > 0 && now_ns() < end;) {
    struct timespec pause = {0, 10 * 1000000};
    nanosleep(&pause, NULL);
    pthread_mutex_lock(&mutex);
    refresh();
    int is_over = generation != mine;
    pthread_mutex_unlock(&mutex);
    if (is_over) break;
  }
  return error;
}

/* The path below the folder, or NULL when the file is not below it. */
static const char *below(const char *path) {
  const char *folder = getenv("FAULTY_DISK_DIR");
  if (folder == NULL || path == NULL) return NULL;
  size_t length = strlen(folder);
  if (strncmp(path, folder, length) != 0 || path[length] != '/') return NULL;
  return path + length + 1;
}

static const char *name_of_fd(int fd, char *path) {
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length <= 0) return NULL;
  path[length] = 0;
  return below(path);
}

static void note(const char *op, const char *name, long bytes, const char *marks) {
  const char *path = getenv("FAULTY_DISK_LOG");
  char line[MARKS_MAX + PATH_MAX + 100];
  if (path == NULL) return;
  int length = snprintf(line, sizeof line, "%lld %s %s %ld %s\n", now_ns(), op, name, bytes, marks);
  put_line(path, line, length < (int)sizeof line ? (size_t)length : sizeof line - 1);
}

/* The words in the data that begin with the mark, with commas between. */
static void marks_in(const char *data, size_t size, char *out) {
  const char *mark = getenv("FAULTY_DISK_MARK");
  size_t used = 0, length = mark == NULL ? 0 : strlen(mark);
  out[0] = 0;
  if (length == 0) return;
  for (const char *at = data; (at = memmem(at, size - (size_t)(at - data), mark, length)) != NULL;) {
    size_t end = length;
    while (at + end < data + size && at[end] >= '0' && at[end] <= '9') end++;
    if (used + end + 2 >= MARKS_MAX) return;
    memcpy(out + used, at, end);
    used += end;
    out[used++] = ',';
    out[used] = 0;
    at += end;
  }
}

#define REAL(name) \
  static __typeof__(&name) real; \
  if (real == NULL) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

#define FAIL(op, name) \
  do { \
    int error = judge(op, name); \
    if (error != 0) { \
      errno = error; \
      return -1; \
    } \
  } while (0)

static ssize_t written(const char *name, const void *data, ssize_t done) {
  char marks[MARKS_MAX];
  int saved = errno;
  marks_in(data, done > 0 ? (size_t)done : 0, marks);
  note("write", name, (long)done, marks);
  errno = saved;
  return done;
}

ssize_t write(int fd, const void *data, size_t size) {
  char path[PATH_MAX];
  REAL(write);
  const char *name = name_of_fd(fd, path);
  if (name == NULL) return real(fd, data, size);
  FAIL("write", name);
  return written(name, data, real(fd, data, size));
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
  char path[PATH_MAX];
  REAL(pwrite64);
  const char *name = name_of_fd(fd, path);
  if (name == NULL) return real(fd, data, size, at);
  FAIL("write", name);
  return written(name, data, real(fd, data, size, at));
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) {
  return pwrite64(fd, data, size, at);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  char path[PATH_MAX];
  REAL(writev);
  const char *name = name_of_fd(fd, path);
  if (name == NULL) return real(fd, parts, count);
  FAIL("write", name);
  return written(name, "", real(fd, parts, count));
}

#define SYNC(call) \
  int call(int fd) { \
    char path[PATH_MAX]; \
    REAL(call); \
    const char *name = name_of_fd(fd, path); \
    if (name == NULL) return real(fd); \
    FAIL("sync", name); \
    int result = real(fd); \
    if (result == 0) note("sync", name, 0, ""); \
    return result; \
  }

SYNC(fsync)
SYNC(fdatasync)

/* LevelDB writes through stdio, whose own writes cannot be stepped in front of. */
#define FWRITE(call) \
  size_t call(const void *data, size_t size, size_t count, FILE *file) { \
    char path[PATH_MAX]; \
    REAL(call); \
    const char *name = name_of_fd(fileno(file), path); \
    if (name == NULL) return real(data, size, count, file); \
    int error = judge("write", name); \
    if (error != 0) { \
      errno = error; \
      return 0; \
    } \
    size_t done = real(data, size, count, file); \
    written(name, data, (ssize_t)(done * size)); \
    return done; \
  }

#undef fwrite_unlocked
FWRITE(fwrite)
FWRITE(fwrite_unlocked)

#define FOPEN(call) \
  FILE *call(const char *path, const char *mode) { \
    REAL(call); \
    const char *name = mode[0] == 'r' ? NULL : below(path); \
    int error = name == NULL ? 0 : judge("open", name); \
    if (error != 0) { \
      errno = error; \
      return NULL; \
    } \
    return real(path, mode); \
  }

FOPEN(fopen)
FOPEN(fopen64)

/* Only opens that may change something: those that only read pass. */
#define OPEN(call) \
  int call(const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    REAL(call); \
    const char *name = (flags & O_ACCMODE) == O_RDONLY ? NULL : below(path); \
    if (name != NULL) FAIL("open", name); \
    return real(path, flags, mode); \
  }

OPEN(open)
OPEN(open64)

int rename(const char *from, const char *to) {
  REAL(rename);
  const char *name = below(to);
  if (name == NULL) return real(from, to);
  FAIL("rename", name);
  int result = real(from, to);
  if (result == 0) note("rename", name, 0, "");
  return result;
}

int unlink(const char *path) {
  REAL(unlink);
  const char *name = below(path);
  if (name == NULL) return real(path);
  FAIL("unlink", name);
  int result = real(path);
  if (result == 0) note("unlink", name, 0, "");
  return result;
}
