/* C11's atomics, gcc's built-ins for them, and integers of 128 bits. */
#include "../check.h"
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

typedef unsigned __int128 wide;
typedef __int128 signed_wide;

static atomic_int count;
static _Atomic double total;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static long plain;
static int guarded, locked;
static volatile int lock;

static void *work(void *nothing) {
  for (int i = 0; i < 1000; i++) {
    count++;
    total += 0.5;
    __sync_fetch_and_add(&plain, 2);
    while (atomic_flag_test_and_set(&flag)) {}
    guarded++;
    atomic_flag_clear(&flag);
    while (__sync_lock_test_and_set(&lock, 1)) {}
    locked++;
    __sync_lock_release(&lock);
  }
  return nothing;
}

static void threads(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&t[i], NULL, work, NULL) == 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  CHECK(count == 3000 && total == 1500 && plain == 6000 && guarded == 3000 && locked == 3000);
}

struct two { int a, b; };
static _Atomic struct two two;

static void operations(void) {
  _Atomic int a = 3;
  int expected = 3, array[10];
  CHECK(atomic_compare_exchange_strong(&a, &expected, 7) && a == 7 && expected == 3);
  CHECK(!atomic_compare_exchange_strong(&a, &expected, 9) && a == 7 && expected == 7);
  CHECK(a++ == 7 && ++a == 9 && (a *= 3) == 27 && (a <<= 2) == 108 && (a /= 5) == 21 && a-- == 21);
  CHECK((a |= 3) == 23 && (a &= 6) == 6 && (a ^= 5) == 3 && (a %= 2) == 1);
  _Atomic(int *) p = array;
  p += 3;
  CHECK(p++ == array + 3 && atomic_fetch_sub(&p, 2) == array + 4 && p == array + 2);
  two = (struct two){1, 2};
  struct two want = {1, 2}, next = {3, 4};
  CHECK(atomic_compare_exchange_strong(&two, &want, next));
  want = two;
  CHECK(want.a == 3 && want.b == 4);
  long v = 10;
  CHECK(__sync_add_and_fetch(&v, 5) == 15 && __sync_val_compare_and_swap(&v, 15, 20) == 15 && v == 20);
  CHECK(!__sync_bool_compare_and_swap(&v, 1, 2) && __atomic_fetch_nand(&v, 4, __ATOMIC_RELAXED) == 20);
  unsigned short s = 65535, was, now = 5;
  CHECK(v == ~4L && __atomic_add_fetch(&s, 1, __ATOMIC_RELAXED) == 0);
  __atomic_exchange(&s, &now, &was, __ATOMIC_ACQ_REL);
  CHECK(s == 5 && was == 0 && __atomic_load_n(&s, __ATOMIC_ACQUIRE) == 5);
  struct { atomic_bool b; _Atomic float f; } member = {0, 1};
  member.b = 5;
  CHECK(member.f++ == 1 && (member.f -= 0.5f) == 1.5f && member.b == 1);
  atomic_thread_fence(memory_order_seq_cst);
}

static signed_wide sum(int n, ...) {
  va_list ap;
  signed_wide s = 0;
  va_start(ap, n);
  for (int i = 0; i < n; i++) s += va_arg(ap, signed_wide);
  va_end(ap);
  return s;
}

static signed_wide many(int a, signed_wide b, long c, signed_wide d, int e, signed_wide f, long g) {
  return a + b + c + d * 2 + e + f * 3 + g;
}

static int is(wide x, unsigned long high, unsigned long low) {
  return (unsigned long)(x >> 64) == high && (unsigned long)x == low;
}

static void integers(void) {
  static const signed_wide g = -5;
  static wide h = ((wide)1 << 100) + 7;
  signed_wide r;
  CHECK(is((wide)~0UL * ~0UL, ~0UL - 1, 1) && is(h / 10, 0x199999999, 0x999999999999999aUL));
  CHECK(h % 10 == 3 && g / 2 == -2 && is((wide)g >> 3, ~0UL >> 3, ~0UL) && g >> 3 == -1 && g % 3 == -2);
  CHECK((double)h == 0x1p100 && (float)g == -5 && (wide)1.5e25f == (wide)0xc685fa << 60);
  CHECK(g < 0 && (wide)g > h && sum(3, (signed_wide)1, (signed_wide)-2, (signed_wide)1 << 90) == ((signed_wide)1 << 90) - 1);
  CHECK(many(1, 2, 3, 4, 5, 6, 7) == 44 && sizeof(struct { int a; wide b; }) == 32);
  CHECK(__builtin_mul_overflow((signed_wide)1 << 100, 1L << 30, &r) && r == 0);
  CHECK(__builtin_add_overflow((wide)-1, 1, &r) == 1 - 1 + __builtin_add_overflow_p((wide)-1, 1, g));
  switch (h - 7) {
  case (wide)1 << 100: break;
  default: CHECK(0);
  }
}

int main(void) {
  threads();
  operations();
  integers();
  return report();
}
