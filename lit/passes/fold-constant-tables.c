// RUN: accopt %s --target=nvptx --emit=data | filecheck %s
// RUN: accopt %s --target=nvptx --emit=data --pass-option 'fold-constant-tables{limit=8}' | filecheck %s --check-prefix=LIMIT
// RUN: accopt %s --target=nvptx --emit=ptx | filecheck %s --check-prefix=PTX
// RUN: accopt %s --target=nvptx --emit=transformed --remarks -o /dev/null 2>&1 | filecheck %s --check-prefix=SAYS
#include <openacc.h>

// CHECK-DAG: llvm.mlir.global internal constant @weights.table(dense<[1, 2, 3]> : tensor<3xi32>)
// CHECK-DAG: llvm.mlir.global internal constant @sums.table(dense<[4, 2]> : tensor<2xi32>)
// CHECK-DAG: llvm.mlir.global internal constant @own.table(dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>)
// CHECK-DAG: llvm.mlir.global internal constant @kept.table(dense<[7, 8]> : tensor<2xi32>)
// CHECK-DAG: llvm.mlir.global internal constant @pairs.table("\01\00\00\00\00\00\00@\02\00\00\00\00\00\80?")

// A table in copyin is not copied, and read from constants.
// CHECK-LABEL: llvm.func @in_clause
// CHECK-SAME:    'weights' is constant: device code contains its values
// CHECK-NOT:     acc.copyin varPtr(%weights
// CHECK:         acc.parallel combined(loop) dataOperands(%a_dev : !llvm.ptr)
// CHECK:           llvm.mlir.addressof @weights.table
// CHECK-NOT:     acc.delete accPtr(%weights
// A smaller limit keeps the copy.
// LIMIT-LABEL: llvm.func @in_clause
// LIMIT:         acc.copyin varPtr(%weights
void in_clause(int n, int *a) {
  const int weights[3] = {1, 2, 3};
#pragma acc parallel loop copyin(weights)
  for (int i = 0; i < n; i++)
    a[i] *= weights[i % 3];
}
// PTX: weights_$_table[12] = {1, 0, 0, 0, 2, 0, 0, 0, 3};

// Loads of constant elements are constants, of structures too; so are scalars.
// CHECK-LABEL: llvm.func @elements
// CHECK:         acc.parallel
// CHECK-NOT:       llvm.load
// CHECK:           arith.constant 5.000000e-01 : f32
// CHECK-NOT:       llvm.load
// CHECK:           arith.constant 6.250000e-02 : f32
// CHECK:         llvm.return
struct tap { int d[2]; float w; };
void elements(int n, float *a) {
  static const struct tap taps[2] = {{{1, 2}, .5f}, {{3, 4}, .25f}};
  const float q = 1 / 16.f;
#pragma acc parallel loop firstprivate(q)
  for (int i = 0; i < n; i++)
    a[i] = taps[0].w * i + q;
}

// Without const: an array that is only initialised, by assignments too; the last one counts.
// CHECK-LABEL: llvm.func @assigned
// CHECK:         acc.parallel
// CHECK:           llvm.mlir.addressof @sums.table
void assigned(int n, int *a) {
  int sums[2];
  sums[0] = 1;
  sums[1] = 2;
  sums[0] = 4;
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
    a[i] = sums[i % 2];
}

// Copied: an array that changes after the construct, in a later iteration before it.
// CHECK-LABEL: llvm.func @changed
// CHECK:         acc.copyin varPtr(%later
void changed(int n, int *a) {
  int later[2] = {1, 2};
  for (int t = 0; t < 3; t++) {
#pragma acc parallel loop
    for (int i = 0; i < n; i++)
      a[i] = later[i % 2];
    later[0] = 5;
  }
}

// Copied: an array that a called function may change, and one that other code may.
// CHECK-LABEL: llvm.func @let_out
// CHECK-SAME:    'passed' is not known to be constant, as its address is passed to a function: declare it 'const'
// CHECK-SAME:    'outside' is not known to be constant, as other code may assign it: declare it 'const'
// CHECK-DAG:     acc.copyin varPtr(%passed
// CHECK-DAG:     acc.copyin varPtr(%outside
void change(int *p);
int outside[2] = {1, 2};
void let_out(int n, int *a) {
  int passed[2] = {1, 2};
  change(passed);
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
    a[i] = passed[i % 2] + outside[i % 2];
}

// A const array may be passed to a function.
// CHECK-LABEL: llvm.func @passed_on
// CHECK:         acc.parallel
// CHECK:           llvm.mlir.addressof @kept.table
void show(const int *p);
void passed_on(int n, int *a) {
  const int kept[2] = {7, 8};
  show(kept);
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
    a[i] = kept[i % 2];
}

// Without const: an array that a function of the program only reads is a table, one that it changes is not.
// CHECK-LABEL: llvm.func @called
// CHECK:         acc.copyin varPtr(%set
// CHECK-NOT:     acc.copyin varPtr(%summed
// CHECK:         llvm.return
static int sum_of(const int *p) { return p[0] + p[1]; }
static void set_last(int *p) { p[1] = 0; }
int called(int n, int *a) {
  int summed[2] = {3, 4}, set[2] = {3, 4};
  set_last(set);
#pragma acc parallel loop
  for (int i = 0; i < n; i++)
    a[i] = summed[i % 2] + set[i % 2];
  return sum_of(summed);
}

// Copied: device memory of the program's, device copies without values, and values known only at run time.
// CHECK-LABEL: llvm.func @others
// CHECK-DAG:     acc.present varPtr(%mapped
// CHECK-DAG:     acc.create varPtr(%made
// CHECK-DAG:     acc.copyin varPtr(%late
void others(int n, int *a, void *memory) {
  const int mapped[2] = {1, 2}, made[2] = {1, 2}, late[2] = {1, n};
  acc_map_data((void *)mapped, memory, sizeof mapped);
#pragma acc parallel loop present(mapped) create(made) copyin(late)
  for (int i = 0; i < n; i++)
    a[i] = mapped[i % 2] + made[i % 2] + late[i % 2];
}

// A table that each iteration declares is not stored by each.
// CHECK-LABEL: llvm.func @inside
// CHECK:         acc.parallel
// CHECK:           llvm.mlir.addressof @own.table
// CHECK-NOT:       llvm.alloca
// CHECK-NOT:       llvm.store %cst
// CHECK:         llvm.return
void inside(int n, float *a) {
#pragma acc parallel loop
  for (int i = 0; i < n; i++) {
    float own[2] = {.5f, .25f};
    a[i] *= own[i % 2];
  }
}

// A present clause keeps its check; arrays of structures are constants as bytes.
// CHECK-LABEL: llvm.func @checked
// CHECK:         acc.present varPtr(%pairs
// CHECK:         acc.parallel
// CHECK:           llvm.mlir.addressof @pairs.table
struct pair { int i; float f; };
void checked(int n, float *a) {
  const struct pair pairs[2] = {{1, 2.f}, {2, 1.f}};
#pragma acc parallel loop present(pairs)
  for (int i = 0; i < n; i++)
    a[i] *= pairs[i % 2].f;
}

// No test at launch that a table and what the loop writes are apart: the inner loop is parallel without one.
// SAYS-NOT: loop runs sequentially
// SAYS:     remark: loop over 'x': the iterations of all rows are one sequence
// SAYS:     remark: loop mapped to gang (blockIdx), vector (threadIdx.x)
// SAYS-NOT: loop runs sequentially
// SAYS-NOT: overlap
void outermost(int n, int m, float *g) {
  static const float scales[3] = {1, 2, 3};
#pragma acc parallel loop
  for (int y = 0; y < n; y++)
    for (int x = 0; x < m; x++)
      g[y * m + x] *= scales[x % 3];
}
