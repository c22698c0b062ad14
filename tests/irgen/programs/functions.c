/* Variadic functions, recursion, statics, VLAs, volatile, globals, string escapes. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

extern int shared;
int shared = 4;
int tentative;
static double total;
volatile int device_register = 2;

static int count(void) { static int n = 10; static int init[3] = {1, 2, 3}; init[1]++; return n++ + init[1]; }
static int other(void) { static int n; return ++n; }

static int sum(int n, ...) {
  va_list ap, again;
  va_start(ap, n);
  va_copy(again, ap);
  int s = 0;
  for (int i = 0; i < n; i++) s += va_arg(ap, int);
  for (int i = 0; i < n; i++) s += 100 * va_arg(again, int);
  va_end(ap);
  va_end(again);
  return s;
}

static void say(const char *format, ...) {
  char line[64];
  va_list ap;
  va_start(ap, format);
  vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  printf("[%s]\n", line);
}

static double mix(int n, ...) {
  va_list ap;
  va_start(ap, n);
  double d = 0;
  while (n--) { d += va_arg(ap, double); d += va_arg(ap, long); d += strlen(va_arg(ap, char *)); }
  va_end(ap);
  return d;
}

static unsigned long fact(unsigned n) { return n < 2 ? 1 : n * fact(n - 1); }
static int is_odd(int);
static int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
static int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }

static double trace(int n, double a[n][n]) {
  double t = 0;
  for (int i = 0; i < n; i++) t += a[i][i];
  return t;
}

static double vla(int n) {
  double s = 0;
  for (int k = 1; k <= n; k++) {
    double m[k][k + 1];
    for (int i = 0; i < k; i++) for (int j = 0; j <= k; j++) m[i][j] = i * 10 + j;
    s += m[k - 1][k] + sizeof m;
    double (*row)[k + 1] = m;
    s += row[k / 2][0];
  }
  double sq[n][n];
  memset(sq, 0, sizeof sq);
  for (int i = 0; i < n; i++) sq[i][i] = i;
  return s + trace(n, sq);
}

static int swap(int *a, int *b) { int t = *a; *a = *b; *b = t; return t; }
int no_return(int x) { if (x) return 3; }
static int unprototyped();
static int unprototyped(int a) { return a * 2; }

int main(void) {
  printf("%d ", count());
  printf("%d ", count());
  printf("%d ", other());
  printf("%d\n", other());
  printf("%d %.2f\n", sum(4, 1, 2, 3, 4), mix(2, 1.5, 2L, "abc", 2.5, 3L, ""));
  say("%s=%d %c %.1f", "x", 42, 'y', 2.5f);
  printf("%lu %d %d\n", fact(15), is_even(10), is_odd(10));
  printf("%.1f\n", vla(6));
  int a = 1, b = 2;
  swap(&a, &b);
  printf("%d %d %d %d\n", a, b, shared, tentative++);
  device_register += 3; device_register++;
  printf("%d %d\n", device_register, no_return(1));
  total = 0; for (int i = 0; i < 4; i++) total += i * shared;
  printf("%g %d %d\n", total, tentative, unprototyped(4));
  printf("tab\there \"q\" \\ \x41 \101 %%\n");
  puts("caf\xc3\xa9 \1\2" "joined");
  int (*fp[2])(int) = {is_even, is_odd};
  printf("%d%d %s\n", fp[0](4), fp[1](4), __func__);
  fprintf(stderr, "to stderr\n");
  char *s = "loop"; int len = 0; while (*s++) len++;
  printf("%d\n", len);
}
