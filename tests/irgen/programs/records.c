/* Structs, unions, bit-fields, by value, nested and anonymous; compound literals; initialisers. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { float x, y, z; } vec3;
typedef struct { double m[3][3]; int tag; } mat;
struct flags { unsigned a : 3; int b : 5; unsigned c : 12; unsigned long d : 40; char e; int f : 1; };
union value { int i; float f; unsigned char bytes[8]; double d; };
struct node { int key; struct node *next; union { int inner; float other; }; struct { short p, q; } named; };
typedef int (*binary)(int, int);

static vec3 add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static mat scale(mat a, double k) {
  for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) a.m[i][j] *= k;
  a.tag++;
  return a;
}
static int plus(int a, int b) { return a + b; }
static int times(int a, int b) { return a * b; }
static binary table[] = {plus, times, 0};
static struct { const char *name; binary f; int *where; } entries[2] = {{"plus", plus}, {.f = times, .name = "times"}};
static int target[8];
static int *into = &target[3], **indirect = &into;
static char *tail = "hello" + 2;
static char text[8] = "abc", exact[3] = "xyz";
static struct flags packed = {5, -7, 4000, 123456789012ul, 'q', -1};
static union value u0 = {.d = 1.5};
static int grid[3][4] = {{1}, {2, 3}, [2] = {[3] = 9}};
static const double weights[20] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
static vec3 *lit = &(vec3){1, 2, 3};

static int apply(binary f, int a, int b) { return f ? f(a, b) : -1; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

int main(void) {
  vec3 v = add((vec3){1, 2, 3}, (vec3){.z = 10}), w = {0};
  printf("%g %g %g %g\n", v.x, v.y, v.z, add(v, v).z);
  mat m = {{{1, 2}, {3}}, 4}, m2 = scale(m, 2), *pm = &m2;
  printf("%g %g %d %d\n", m.m[1][0], pm->m[1][0], pm->tag, m.tag);
  struct flags fl = packed;
  fl.a += 6; fl.b--; fl.c = fl.c * 2; fl.d |= 1; fl.f = 0;
  printf("%u %d %u %lu %c %d\n", fl.a, fl.b, fl.c, (unsigned long)fl.d, fl.e, fl.f);
  printf("%d ", (fl.a = 9));
  printf("%d ", fl.b++);
  printf("%d\n", fl.b);
  union value u;
  u.f = 1.0f;
  printf("%x %x %g\n", u.i, u.bytes[3], u0.d);
  struct node n2 = {2, NULL, .inner = 7}, n1 = {1, &n2, .named = {3, 4}};
  int s = 0;
  for (struct node *p = &n1; p; p = p->next) s += p->key * 10 + p->inner + p->named.q;
  printf("%d\n", s);
  w = v; w.x++; v = w;
  vec3 arr[2] = {[1] = v}, *pv = arr;
  pv[0] = *(pv + 1);
  printf("%g %d\n", arr[0].x, (int)offsetof(struct node, named));
  printf("%d %d %d\n", apply(table[0], 3, 4), table[1](3, 4), apply(table[2], 1, 1));
  printf("%s %d %s\n", entries[1].name, (*entries[1].f)(6, 7), tail);
  into[0] = 5; **indirect += 2; (*indirect)++;
  printf("%d %ld\n", target[3], (long)(into - target));
  printf("%s %.3s %d %d\n", text, exact, (int)sizeof text, grid[2][3] + grid[1][1]);
  double sum = 0; for (int i = 0; i < 20; i++) sum += weights[i];
  printf("%g %g\n", sum, lit->y);
  int *heap = malloc(5 * sizeof *heap);
  for (int i = 0; i < 5; i++) heap[i] = (i * 7) % 5;
  qsort(heap, 5, sizeof(int), compare);
  for (int i = 0; i < 5; i++) printf("%d ", heap[i]);
  free(heap);
  div_t dv = div(17, 5);
  ldiv_t lv = ldiv(-17, 5);
  printf("%d %d %ld %ld\n", dv.quot, dv.rem, lv.quot, lv.rem);
  char buf[32]; memset(buf, 0, sizeof buf); strcpy(buf, text); strcat(buf, "def");
  printf("%s %zu\n", buf, strlen(buf));
  int *pi = (int[]){1, 2, 3}; pi[1] = 20;
  printf("%d %d\n", pi[0] + pi[1], *(int *)&u.f == 0x3f800000);
  struct { int n; struct { int k[2]; } in[2]; } deep = {1, {{{2, 3}}, {{4}}}};
  deep.in[1].k[1] = 8;
  printf("%d %d %d\n", deep.in[0].k[1], deep.in[1].k[0], deep.in[1].k[1]);
  return (s > 3 ? v : w).x > 2;
}
