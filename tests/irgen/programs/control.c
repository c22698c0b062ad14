/* Structured and unstructured control flow. */
#include <stdio.h>
#include <stdlib.h>

static int classify(int n) {
  switch (n) {
  case 0: return 100;
  case 1:
  case 2: n += 10; /* falls through */
  case 3: n += 100; break;
  case -5: { int t = n * 2; n = t; } break;
  default:
    if (n > 50) break;
    n = -n;
  }
  return n;
}

static int find(const int *a, int n, int key) {
  int i;
  for (i = 0; i < n; i++)
    if (a[i] == key) break;
  return i < n ? i : -1;
}

static int nested(int n) {
  int total = 0;
  for (int i = 0; i < n; i++) {
    if (i % 3 == 0) continue;
    for (int j = 0; ; j++) {
      if (j == i) break;
      if ((i + j) % 2) { total += 1; continue; }
      total += j;
      if (total > 1000) goto done;
    }
    int k = i;
    while (k > 0) { k /= 2; if (k == 3) continue; total += k; }
  }
done:
  return total;
}

static int collatz(long n) {
  int steps = 0;
  do {
    n = n % 2 ? 3 * n + 1 : n / 2;
    steps++;
  } while (n != 1);
  return steps;
}

static int retry(int n) {
  int tries = 0;
again:
  tries++;
  if (tries < n) goto again;
  if (tries > 100) { int never = 3; goto end; end: return never; }
  return tries;
}

static void early(int n, int *out) {
  *out = 1;
  if (n < 0) return;
  *out = 2;
  if (n == 0) { *out = 3; return; }
  *out += n;
}

static int duff(int count) {
  int n = (count + 3) / 4, sum = 0;
  switch (count % 4) {
  case 0: do { sum += 1;
  case 3:      sum += 10;
  case 2:      sum += 100;
  case 1:      sum += 1000;
          } while (--n > 0);
  }
  return sum;
}

static unsigned down(unsigned n) {
  unsigned s = 0;
  for (unsigned i = n; i > 0; i--) s += i * i;
  for (unsigned i = n - 1; i < n; i--) s ^= i << 3;
  return s;
}

static int loops(int n) {
  int i, j, s = 0;
  for (i = n; i >= 0; i -= 3) s += i;
  printf("%d ", i);
  for (i = 2; i <= n; i += 5) s += i;
  printf("%d ", i);
  for (i = 10; i < 0; i++) s = -1;
  printf("%d ", i);
  for (i = 0, j = n; i < j; i++, j--) s += j - i;
  printf("%d %d ", i, j);
  for (i = 0; i != 6; ++i) { s += i; }
  for (long k = 0; k < n; k = k + 2) s += k;
  for (i = 1; i < 1000; i *= 3) s += i;
  for (int k = -3; k < (unsigned)2; k++) s += 100000;
  for (short h = 0; h < 5; h++) s += h;
  int bound = 4;
  for (i = 0; i < bound; i++) if (i == 2) bound = 7;
  for (const char *p = "hello", *e = p + 5; p != e; p++) s += *p;
  return s + i * 1000;
}

static int scopes(int n) {
  int r = 0;
  for (int i = 0; i < n; i++) {
    int acc = i;
    int lo;
    if (i & 1) lo = 5; else lo = 7;
    for (int j = 0; j < 3; j++) { acc += j; if (acc > 8) { acc -= 2; } }
    if (acc == 100) return -1;
    r += acc + lo;
  }
  return r;
}

static int void_if(int n) { int r = 0; n ? (r = 1) : (r = 2); if (n) ; else r = 9; return r; }

int main(int argc, char **argv) {
  for (int i = -6; i < 60; i += 3) printf("%d ", classify(i));
  printf("%d %d\n", classify(1), classify(2));
  int a[] = {4, 8, 15, 16, 23, 42};
  printf("%d %d\n", find(a, 6, 16), find(a, 6, 17));
  printf("%d %d %d\n", nested(5), nested(20), nested(100));
  printf("%d %d\n", collatz(27), retry(4));
  int out;
  early(-1, &out); printf("%d ", out);
  early(0, &out); printf("%d ", out);
  early(5, &out); printf("%d\n", out);
  printf("%d %d %u\n", duff(10), duff(7), down(9));
  printf("%d\n", loops(17));
  printf("%d %d %d\n", scopes(6), void_if(0), void_if(1));
  if (argc > 5) abort();
  int k = 0;
  while (1) { if (++k > 10) break; if (k % 2) continue; switch (k) { case 4: continue; case 8: goto out; default: printf("k%d ", k); } }
out:
  printf("%d\n", k);
  for (;;) { k--; if (k < 0) exit(3); }
}
