// RUN: accopt %s --target=nvptx --emit=transformed | filecheck %s
// RUN: accopt %s --target=nvptx --emit=transformed --fast-math | filecheck %s --check-prefix=FAST

// A few columns of many rows: gangs share the columns if they have 8192 elements in all, else the nest is as it was.
// The threads of a gang add rows of all its columns, meet in shared memory, and the last gang with the same
// columns adds the gangs' results and runs what follows the sum.
// CHECK-LABEL: llvm.func @columns
// CHECK:       %long_columns = arith.cmpi sge, %{{.*}}, %c8192
// CHECK:       scf.if %long_columns {
// CHECK:         acc.parallel {{.*}} num_workers(%c1{{.*}} : i32) vector_length(%c1024{{.*}} : i32) {
// CHECK:           acc.loop combined(parallel) gang control(%share : i64)
// CHECK:             accx.gang_threads [1024 : i64] {
// CHECK:             ^bb0(%thread: i32):
// CHECK:               accx.gang_barrier
// CHECK:               %exists = arith.andi
// CHECK:               accx.shared_tile "sums" 4096
// CHECK:               scf.for %turn =
// CHECK:                 llvm.load %a
// CHECK:                 arith.addf
// CHECK:               accx.gang_barrier
// CHECK:               scf.while
// CHECK:                 accx.gang_barrier
// CHECK:               %done = scf.if %alone -> (i1) {
// CHECK:               } else {
// CHECK:                 accx.launch_memory "results" 135168
// CHECK:                 accx.launch_memory "tickets" 1056
// CHECK:                 %last = accx.last_gang %ticket of
// CHECK:                 scf.if %last {
// CHECK:               scf.if %finishes {
// CHECK:                 llvm.store %{{.*}}, %out
// CHECK:       } else {
// CHECK:         acc.loop vector reduction
void columns(int n, int m, const float *restrict a, float *restrict out) {
#pragma acc parallel loop copyin(a[0:n*m]) copyout(out[0:m])
  for (int j = 0; j < m; j++) {
    float s = 0;
#pragma acc loop reduction(+:s)
    for (int i = 0; i < n; i++)
      s += a[i * m + j];
    out[j] = s;
  }
}

// Without a reduction clause: integers have no order of addition, and nothing is said about overflow then.
// CHECK-LABEL: llvm.func @integers
// CHECK:       %long_columns
// CHECK:       %partial{{.*}} = scf.for %turn{{.*}} = {{.*}} iter_args(%s
// CHECK:         %[[SUM:.*]] = arith.addi %s{{.*}}, %a_elt{{.*}} : i32
// CHECK-NEXT:    scf.yield %[[SUM]]
void integers(int n, int m, const int *restrict a, int *restrict out) {
#pragma acc parallel loop copyin(a[0:n*m]) copyout(out[0:m])
  for (int j = 0; j < m; j++) {
    int s = 0;
    for (int i = 0; i < n; i++)
      s += a[i * m + j];
    out[j] = s;
  }
}

// The order of floating-point additions counts, except with --fast-math.
// CHECK-LABEL: llvm.func @ordered
// CHECK-NOT:   accx.launch_memory
// FAST-LABEL:  llvm.func @ordered
// FAST:        accx.launch_memory
void ordered(int n, int m, const float *restrict a, float *restrict out) {
#pragma acc parallel loop copyin(a[0:n*m]) copyout(out[0:m])
  for (int j = 0; j < m; j++) {
    float s = 0;
    for (int i = 0; i < n; i++)
      s += a[i * m + j];
    out[j] = s;
  }
}

// Constant lengths need no second version; two results, and a store of which each column has one.
// CHECK-LABEL: llvm.func @extremes
// CHECK-NOT:   scf.if %long_columns
// CHECK:       accx.gang_threads
// CHECK-COUNT-2: accx.shared_tile "sums" 8192
// CHECK-COUNT-2: accx.launch_memory "results" 270336
// CHECK-NOT:   acc.loop {{.*}}vector
// CHECK-LABEL: llvm.func @short_columns
// CHECK-NOT:   accx.gang_threads
void extremes(const double a[restrict 1000][64], double *restrict low, double *restrict high) {
#pragma acc parallel loop copyin(a[0:1000][0:64]) copyout(low[0:64], high[0:64])
  for (int j = 0; j < 64; j++) {
    double l = 1e300, h = -1e300;
#pragma acc loop reduction(min:l) reduction(max:h)
    for (int i = 0; i < 1000; i++) {
      l = a[i][j] < l ? a[i][j] : l;
      h = a[i][j] > h ? a[i][j] : h;
    }
    low[j] = l;
    high[j] = h;
  }
}

void short_columns(const int a[restrict 100][64], int *restrict out) {
#pragma acc parallel loop copyin(a[0:100][0:64]) copyout(out[0:64])
  for (int j = 0; j < 64; j++) {
    int s = 0;
    for (int i = 0; i < 100; i++)
      s += a[i][j];
    out[j] = s;
  }
}

// Few long rows: gangs share a row, whose neighbours are neighbouring threads'; otherwise a row has a gang.
// CHECK-LABEL: llvm.func @sums_of_rows
// CHECK:       %long_rows = arith.cmpi sge, %{{.*}}, %c8192
// CHECK:       %few_rows = arith.cmpi sle, %{{.*}}, %c528
// CHECK:       %few_long_rows = arith.andi %long_rows, %few_rows
// CHECK:       scf.if %few_long_rows {
// CHECK:         acc.loop combined(parallel) gang control(%share{{.*}} : i64)
// CHECK:           accx.gang_threads [1024 : i64] {
// CHECK:             scf.for %turn{{.*}} =
// CHECK:             accx.last_gang
// CHECK:       } else {
// CHECK:         acc.loop vector reduction
void sums_of_rows(int n, int m, const float *restrict a, float *restrict out) {
#pragma acc parallel loop copyin(a[0:n*m]) copyout(out[0:n])
  for (int i = 0; i < n; i++) {
    float s = 0;
#pragma acc loop reduction(+:s)
    for (int j = 0; j < m; j++)
      s += a[i * m + j];
    out[i] = s;
  }
}

// Known to be short, or too many.
// CHECK-LABEL: llvm.func @other_rows
// CHECK-NOT:   gang_threads
// CHECK:       llvm.return
void other_rows(int n, const float *restrict a, float *restrict out) {
#pragma acc parallel loop copyin(a[0:n*8000]) copyout(out[0:n])
  for (int i = 0; i < n; i++) {
    float s = 0;
#pragma acc loop reduction(+:s)
    for (int j = 0; j < 8000; j++)
      s += a[i * 8000 + j];
    out[i] = s;
  }
#pragma acc parallel loop copyin(a[0:9000000]) copyout(out[0:1000])
  for (int i = 0; i < 1000; i++) {
    float s = 0;
#pragma acc loop reduction(+:s)
    for (int j = 0; j < 9000; j++)
      s += a[i * 9000 + j];
    out[i] = s;
  }
}
