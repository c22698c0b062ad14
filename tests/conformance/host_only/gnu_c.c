/* Extensions of GNU C in host code: each check holds with gcc on x86-64, too. */
#include "../check.h"
#include <pthread.h>

/* Layout: packed, aligned, #pragma pack, bit-fields of every kind. */
struct __attribute__((packed)) tight {
  char a;
  int b;
  double c;
  short d : 3;
  unsigned long e : 40;
};
typedef struct {
  char x;
  short y;
} __attribute__((packed)) pair;
#pragma pack(push, 2)
struct two { char a; int b; double d; };
#pragma pack(pop)
struct wide { char a; int b __attribute__((aligned(16))); };
struct bits { long a : 31; unsigned long b : 32, c : 5; long long d : 33; unsigned e : 1; _Bool f : 1; };
static struct tight constant = {1, 0x12345678, 2.5, -2, 0x123456789aUL};
struct tail { int n; char text[]; };
static struct tail tail = {3, "abcdefgh"};
union number { int i; float f; };
typedef union { int *i; const float *f; } place __attribute__((transparent_union));
typedef int word __attribute__((mode(DI)));

static int at(place p) { return *p.i; }
static float real_at(place p) { return *p.f; }

static void layout(void) {
  struct tight t = {1, 2, 3, 3, 7};
  t.b += 5;
  t.e = 0xffffffffffUL;
  t.d = -4;
  CHECK(sizeof t == 19 && sizeof(pair) == 3 && sizeof(struct two) == 14 && sizeof(struct wide) == 32);
  CHECK(_Alignof(struct wide) == 16 && __alignof__(t.c) == 1 && sizeof(word) == 8);
  CHECK(t.b == 7 && t.c == 3 && t.d == -4 && t.e == 0xffffffffffUL);
  CHECK(constant.b == 0x12345678 && constant.c == 2.5 && constant.d == -2 && constant.e == 0x123456789aUL);
  pair p[3] = {{1, 2}, {3, 4}, {5, 6}}, *q = p;
  q[1].y += 10;
  CHECK(q[1].y == 14 && (char *)&p[2].y - (char *)p == 7);
  struct bits b = {-1, 0xffffffff, 31, -5, 1, 1};
  CHECK(b.a - 2 < 0 && b.b - 2 > 0 && b.c - 40 < 0 && b.d == -5 && b.e + b.f == 2);
  CHECK(strcmp(tail.text, "abcdefgh") == 0);
  int i = 7;
  float real = 1.5f;
  CHECK(real_at(&real) == 1.5f && at(&i) == 7 && ((union number)2.5f).f == 2.5f);
}

/* Jumps. */
static int interpreted(const unsigned char *code) {
  static void *const table[] = {&&increase, &&twice, &&halt};
  int acc = 0;
  goto *table[*code++];
increase:
  acc++;
  goto *table[*code++];
twice:
  acc *= 2;
  goto *table[*code++];
halt:
  return acc;
}

static int find(const int *a, int n, int x) {
  return ({
    int i;
    for (i = 0; i < n; i++)
      if (a[i] == x) goto out;
    i = -1;
  out:
    i;
  });
}

static int leaves(int x) {
  int y = x > 3 ? ({ if (x > 5) return 100; 7; }) : 2;
  return y;
}

static int ranges(unsigned long long x) {
  switch (x) {
  case 10 ... 20: return 2;
  case 1000 ... 100000000000: return 3;
  default: return 4;
  }
}

static int cleaned;
static void clean(int *p) { cleaned = cleaned * 10 + *p; }
static int scoped(int n) {
  for (int i = 1; i < n; i++) {
    int v __attribute__((cleanup(clean))) = i;
    if (i == 1) continue;
    if (i == 4) return v * 10;
  }
  return -1;
}

static void jumps(void) {
  CHECK_EQ(interpreted((const unsigned char[]){0, 0, 1, 0, 2}), 5);
  int a[] = {5, 6, 7}, k = 0;
  CHECK(find(a, 3, 7) == 2 && find(a, 3, 9) == -1);
  CHECK(leaves(1) == 2 && leaves(4) == 7 && leaves(9) == 100);
  CHECK(ranges(15) == 2 && ranges(999) == 4 && ranges(100000000000) == 3 && ranges(100000000001) == 4);
  CHECK(scoped(6) == 40 && cleaned == 1234);
  {
    __label__ again;
  again:
    if (++k < 3) goto again;
  }
  CHECK_EQ(k, 3);
  int steps = 0; /* a narrower copy of the variable is no counter */
  for (int i = -1; i != 0; i = (unsigned char)(i - 1)) steps++;
  CHECK_EQ(steps, 255);
  steps = 0;
  for (int i = 250; (unsigned char)i != 4; i++) steps++;
  CHECK_EQ(steps, 10);
}

/* Names and storage. */
extern int nowhere(void) __attribute__((weak));
int own(int x) { return x + 1; }
int other(int x) __attribute__((alias("own")));
__attribute__((weak)) int replaceable(void) { return 11; }
static int started;
__attribute__((constructor(200))) static void second(void) { started = started * 10 + 2; }
__attribute__((constructor(101))) static void first(void) { started = 1; }
static __thread int mine = 5;
_Thread_local struct { char c; double d[3]; } zeros;
static void *thread(void *sum) {
  mine += 2;
  zeros.d[2] += 4;
  *(double *)sum = mine + zeros.d[2];
  return NULL;
}

static void names(void) {
  CHECK(nowhere == 0 && other(4) == 5 && replaceable() == 11);
  CHECK_EQ(started, 12);
  pthread_t other_thread;
  double sum = 0;
  mine = 100;
  zeros.d[2] = 200;
  CHECK(pthread_create(&other_thread, NULL, thread, &sum) == 0);
  pthread_join(other_thread, NULL);
  CHECK(sum == 11 && mine == 100 && zeros.d[2] == 200);
}

/* Built-ins. */
#define MAXIMUM(a, b) ({ __auto_type a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })

static void builtins(void) {
  long product;
  unsigned sum;
  int n = 0, m = 0;
  char text[8];
  CHECK(__builtin_mul_overflow(1L << 40, 1L << 40, &product) && product == 0);
  CHECK(__builtin_mul_overflow(~0UL, ~0UL, &product) && !__builtin_mul_overflow(3, -4L, &product));
  CHECK(product == -12 && __builtin_uadd_overflow(~0u, 2, &sum) && sum == 1);
  CHECK(__builtin_add_overflow_p(127, 1, (signed char)0) && !__builtin_sub_overflow(0, 5, &product));
  CHECK(__builtin_types_compatible_p(int, const int) && !__builtin_types_compatible_p(int, long));
  CHECK(__builtin_choose_expr(1, 5, "x") == 5 && __builtin_expect(n == 0, m++) && m == 1);
  CHECK(__builtin_isnan(0.0 / n - 1.0 / 0 + 1.0 / 0) && __builtin_isinf_sign(-1.0 / 0) == -1);
  CHECK(__builtin_signbit(-0.0f) && !__builtin_isfinite(1.0L / 0) && __builtin_isnormal(1.0f));
  CHECK(__builtin_fpclassify(1, 2, 3, 4, 5, 1e-310) == 4 && __builtin_isunordered(1, 0.0 / 0 * n));
  __builtin_memset(text, 'x', 5);
  text[5] = 0;
  CHECK(__builtin_strlen(text) == 5 && __builtin_bswap16(0x0102) == 0x0201 && __builtin_fabsf(-2) == 2);
  CHECK(MAXIMUM(3, 4) == 4 && MAXIMUM(2.5, 1) == 2.5 && __builtin_object_size(text, 0) > 7);
  _Complex float z = 1 + 2.0iF;
  __imag__ z += 3;
  CHECK(__real__ z == 1 && __imag__ z == 5 && __builtin_cimagf(__builtin_conjf(z)) == -5);
  struct { int a, b; } old = {b : 5, a : 6};
  CHECK(old.a == 6 && old.b == 5 && ((int[4]){[2] 7})[2] == 7);
}

/* The preprocessor, and what is short. */
#if __has_include(<stdlib.h>) && !__has_include("nowhere.h") && __has_builtin(__builtin_memcpy) && \
    !__has_builtin(__builtin_nothing) && __has_attribute(packed) && defined(__has_include)
#define ANSWERED 1
#ifdef NOTHING
#elifdef ANSWERED
#define ELSE_DEFINED 1
#endif
#endif
#define COUNT(...) (0 __VA_OPT__(+ counted(__VA_ARGS__)))
#define counted(a, ...) 1 __VA_OPT__(+ 1)
#define NUMBER 1
#pragma push_macro("NUMBER")
#undef NUMBER
#define NUMBER 2
enum { TWO = NUMBER };
#pragma pop_macro("NUMBER")
enum __attribute__((packed)) small { SMALL, LEAST = -3 };
static int taken;
static int next(void) { return taken++; }

static void shorthands(void) {
  CHECK(ANSWERED && ELSE_DEFINED && COUNT() == 0 && COUNT(1) == 1 && COUNT(1, 2) == 2);
  CHECK(TWO == 2 && NUMBER == 1 && sizeof(enum small) == 1);
  CHECK((next() ?: 7) == 7 && (next() ?: 8) == 1 && taken == 2 && strcmp((char *)0 ?: "x", "x") == 0);
  struct { unsigned u : 7; } bit = {61};
  int i = -13;
  CHECK(i % bit.u == -13 && i % (unsigned)bit.u == -13U % 61);
  static const long double pi = 3.14159265358979323846L;
  CHECK(pi != 3.14159265358979323846 && pi - 3.14159265358979323846 > 1e-17L);
  CHECK((long double)18446744073709551615UL == 18446744073709551615.0L && 0.1L != 0.1);
  switch (taken) {
  case 2: taken++; [[fallthrough]];
  default: taken++;
  }
  CHECK_EQ(taken, 4);
}

int main(void) {
  shorthands();
  layout();
  jumps();
  names();
  builtins();
  return report();
}
