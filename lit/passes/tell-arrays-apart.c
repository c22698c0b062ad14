// RUN: accopt %s --target nvptx --emit data | filecheck %s
// RUN: accopt %s --target host --emit data | filecheck %s --check-prefix HOST
// RUN: accopt %s --target host --emit transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix SAID
// RUN: accopt %s --target nvptx --emit ptx | filecheck %s --check-prefix PTX
// RUN: accopt %s --target host --emit llvm | filecheck %s --check-prefix SCOPES

// The second result loads what the first may have changed: the host compares the sections of three arrays, those
// that are written first. Where they are apart, each element is loaded once.
// CHECK:       llvm.func internal @__accopt_spans_apart
// CHECK-LABEL: llvm.func @two
// CHECK:         llvm.getelementptr inbounds %spans[40]
// CHECK:         %[[WRITTEN:.*]] = arith.constant 2 : i64
// CHECK:         %[[ALL:.*]] = arith.constant 3 : i64
// CHECK:         %apart{{.*}} = llvm.call @__accopt_spans_apart(%spans, %[[WRITTEN]], %[[ALL]])
// CHECK:         scf.if %apart
// CHECK:           acc.parallel
// CHECK:           accx.apart
// CHECK:         } else {
// CHECK:           acc.parallel
// CHECK:           accx.fallback
// PTX-LABEL:   .entry two_{{[0-9]+}}_kernel
// PTX-NOT:       ld.global.b32
// PTX:           ld.global.nc.b32
// PTX-NOT:       ld.global.b32
// PTX-LABEL:   .entry two_{{[0-9]+}}_2_kernel
// PTX:           ld.global.b32
// PTX:           st.global.b32
// PTX:           ld.global.b32
// PTX:           st.global.b32
// PTX:           ret
// On the host, accesses have scopes.
// SCOPES-LABEL: define {{.*}} @two_{{[0-9]+}}_host
// SCOPES:         load float, {{.*}} !alias.scope
// SCOPES:         store float {{.*}} !alias.scope ![[OWN:[0-9]+]], !noalias
void two(int n, float *a, float *b, const float *c) {
#pragma acc parallel loop present(a[0:n], b[0:n], c[0:n])
  for (int i = 0; i < n; i++) {
    a[i] = 2 * c[i];
    b[i] = 3 * c[i];
  }
}

// A sequential loop stores before its next iteration loads; sums in memory.
// CHECK-LABEL: llvm.func @sum
// CHECK:         scf.if %apart
void sum(int n, float *s, const float *x) {
#pragma acc parallel loop present(s[0:n], x[0:n*n])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      s[i] += x[k * n + i];
}

// Nothing is loaded after a store; after a store that waits for no load; from an array that cannot be the same.
// CHECK-LABEL: llvm.func @plain
// CHECK-NOT:     accx.{{apart|fallback}}
// CHECK-LABEL: llvm.func @begins
// CHECK-NOT:     accx.{{apart|fallback}}
// CHECK-LABEL: llvm.func @promised
// CHECK-NOT:     accx.{{apart|fallback}}
// CHECK-LABEL: llvm.func @objects
// CHECK-NOT:     accx.{{apart|fallback}}
void plain(int n, float *a, const float *c) {
#pragma acc parallel loop present(a[0:n], c[0:n])
  for (int i = 0; i < n; i++)
    a[i] = 2 * c[i];
}
void begins(int n, float *a, const float *c) {
#pragma acc parallel loop present(a[0:n], c[0:n])
  for (int i = 0; i < n; i++) {
    a[i] = 1;
    a[i] = 2 * c[i];
  }
}
void promised(int n, float *restrict a, float *restrict b, const float *c) {
#pragma acc parallel loop present(a[0:n], b[0:n], c[0:n])
  for (int i = 0; i < n; i++) {
    a[i] = 2 * c[i];
    b[i] = 3 * c[i];
  }
}
float u[100], v[100], w[100];
void objects(void) {
#pragma acc parallel loop copyout(u, v) copyin(w)
  for (int i = 0; i < 100; i++) {
    u[i] = 2 * w[i];
    v[i] = 3 * w[i];
  }
}

// Memory that the function has allocated is not what the caller passes: no test.
// CHECK-LABEL: llvm.func @fresh
// CHECK-NOT:     scf.if
// CHECK:         accx.apart
void *malloc(unsigned long);
float *fresh(int n, const float *c) {
  float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b);
#pragma acc parallel loop copyout(a[0:n], b[0:n]) copyin(c[0:n])
  for (int i = 0; i < n; i++) {
    a[i] = 2 * c[i];
    b[i] = 3 * c[i];
  }
  return n > 0 ? a : b;
}

// Members, and elements anywhere: the runtime knows what is mapped.
// CHECK-LABEL: llvm.func @members
// CHECK:         llvm.call @__accopt_extent
// CHECK:         scf.if %apart
struct fields { int n; float *u, *v, *w; int *at; };
void members(struct fields *f) {
#pragma acc parallel loop present(f, f->u, f->v, f->w, f->at)
  for (int i = 0; i < f->n; i++) {
    f->u[f->at[i]] = 2 * f->w[i];
    f->v[f->at[i]] = 3 * f->w[i];
  }
}

// Pointers that are loaded, and functions that do more than compute: not known.
// CHECK-LABEL: llvm.func @rows
// CHECK-NOT:     accx.apart
// CHECK-LABEL: llvm.func @calls
// CHECK-NOT:     accx.apart
void rows(int n, float **a, float **b, float **c) {
#pragma acc parallel loop collapse(2) present(a[0:n][0:n], b[0:n][0:n], c[0:n][0:n])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      a[i][j] = 2 * c[i][j];
      b[i][j] = 3 * c[i][j];
    }
}
int printf(const char *, ...);
void calls(int n, float *a, float *b, float *c) {
#pragma acc parallel loop present(a[0:n], b[0:n], c[0:n])
  for (int i = 0; i < n; i++) {
    printf("%g\n", a[i]);
    b[i] = 2 * c[i];
    a[i] = 3 * c[i];
  }
}

// The clauses of a queue come before the test.
// CHECK-LABEL: llvm.func @queued
// CHECK:         acc.wait
// CHECK:         acc.present
// CHECK:         scf.if %apart
// CHECK:           acc.parallel {{.*}}async
void queued(int n, float *a, float *b, const float *c) {
#pragma acc parallel loop present(a[0:n], b[0:n], c[0:n]) async(2) wait(1)
  for (int i = 0; i < n; i++) {
    a[i] = 2 * c[i];
    b[i] = 3 * c[i];
  }
}

// On the host, LLVM knows that accesses of different types do not overlap. Of a device pointer nothing is known.
// CHECK-LABEL: llvm.func @types
// CHECK:         scf.if %apart
// SAID:        remark: loads stay behind stores, as arrays may overlap: which part of 'at' it accesses is not known
// HOST-LABEL:  llvm.func @types
// HOST-NOT:      scf.if
// HOST-LABEL:  llvm.func @anywhere
// HOST-NOT:      scf.if
void types(int n, float *a, float *b, const int *c) {
#pragma acc parallel loop present(a[0:n], b[0:n], c[0:n])
  for (int i = 0; i < n; i++) {
    a[i] = 2 * c[i];
    b[i] = 3 * c[i];
  }
}
void anywhere(int n, int *a, int *b, int *at) {
#pragma acc parallel loop present(a[0:n], b[0:n]) deviceptr(at)
  for (int i = 0; i < n; i++) {
    a[i] = at[a[i]];
    b[i] = at[b[i]];
  }
}

// Functions of each thread are read too, unless they use variables of the program or have branches; so are iterations
// that one thread runs after one another as there are few, not those on lanes.
// HOST-LABEL:  llvm.func @objects_of_a_function
// CHECK-LABEL: llvm.func @objects_of_a_function
// CHECK:         accx.apart
// PTX-LABEL:   .entry objects_of_a_function_{{[0-9]+}}_kernel
// PTX-COUNT-2:   ld.global.nc.v2.b64
// PTX-NOT:       ld.global
// PTX-LABEL:   .entry objects_of_a_function_{{[0-9]+}}_2_kernel
// CHECK-LABEL: llvm.func @of_a_variable
// CHECK-NOT:     accx.apart
// CHECK-LABEL: llvm.func @few_lanes
// CHECK:         accx.apart
// CHECK-LABEL: llvm.func @many_lanes
// CHECK-NOT:     accx.apart
static void turn(const double *v, double factor, double *w) {
#pragma acc loop seq
  for (int k = 0; k < 4; k++)
    w[k] = v[k] * factor + v[3 - k];
}
void objects_of_a_function(int n, double *v, double *w) {
#pragma acc parallel loop present(v[0:4*n], w[0:4*n])
  for (int i = 0; i < n; i++)
    turn(v + 4 * i, 0.5, w + 4 * i);
}
double angle;
#pragma acc declare create(angle)
static void turn_by_it(const double *v, double *w) {
#pragma acc loop seq
  for (int k = 0; k < 4; k++) {
    if (angle == 0) goto next;
    w[k] = v[k] * angle + v[3 - k];
  next:;
  }
}
void of_a_variable(int n, double *v, double *w) {
#pragma acc parallel loop present(v[0:4*n], w[0:4*n])
  for (int i = 0; i < n; i++)
    turn_by_it(v + 4 * i, w + 4 * i);
}
void few_lanes(int n, double *p, double (*a)[4], double (*b)[4]) {
#pragma acc parallel loop gang present(p[0:4], a[0:n], b[0:n])
  for (int i = 0; i < n; i++) {
#pragma acc loop vector
    for (int k = 0; k < 4; k++)
      b[i][k] = p[k] * a[i][0];
  }
}
void many_lanes(int n, double *p, double (*a)[400], double (*b)[400]) {
#pragma acc parallel loop gang present(p[0:400], a[0:n], b[0:n])
  for (int i = 0; i < n; i++) {
#pragma acc loop vector
    for (int k = 0; k < 400; k++)
      b[i][k] = p[k] * a[i][0];
  }
}
