// RUN: accopt %s --emit=acc | filecheck %s

// A counted loop carries the scalars it assigns; a `continue` guard becomes an `if`.
int sum(int n, const int *a) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (a[i] < 0) continue;
    s += a[i];
  }
  return s;
}
// CHECK:      llvm.func @sum(%n: i32, %a: !llvm.ptr) -> i32 {
// CHECK:        %s = scf.for %i = %c0 to %n step %c1 iter_args(%s_1 = %c0) -> (i32) : i32 {
// CHECK:          arith.cmpi sge
// CHECK-NEXT:     %s_2 = scf.if %{{.*}} -> (i32) {
// CHECK:            %s_3 = arith.addi %s_1, %a_i{{.*}} overflow<nsw> : i32
// CHECK-NEXT:       scf.yield %s_3 : i32
// CHECK-NEXT:     } else {
// CHECK-NEXT:       scf.yield %s_1 : i32
// CHECK:        llvm.return %s : i32

// Counting down: the counter goes up from 0, the C variable is computed from it.
void down(int n, int *a) {
  for (int i = n; i > 0; i -= 2) a[i] = i;
}
// CHECK:      llvm.func @down
// CHECK:        %i_count = arith.subi %n{{.*}}, %c0{{.*}} overflow<nsw> : i32
// CHECK:        scf.for %i{{.*}} = %c0{{.*}} to %i_count step %c2{{.*}} : i32 {
// CHECK-NEXT:     arith.subi %n{{.*}}, %i{{.*}} overflow<nsw> : i32

// Unsigned counters are widened, so that signed comparison is right.
unsigned wide(unsigned n) {
  unsigned i, s = 0;
  for (i = 0; i <= n; i++) s += i;
  return i + s;
}
// CHECK:      llvm.func @wide
// CHECK:        arith.extui %n{{.*}} : i32 to i64
// CHECK:        scf.for %{{.*}} iter_args({{.*}}) -> (i32) : i64 {
// CHECK:          arith.trunci
// CHECK:        arith.select

// What cannot be counted is a while loop; what jumps out is basic blocks with variables in memory.
int search(int n, const int *a) {
  int k = n;
  while (k > 1 && a[k]) k /= 2;
  for (int i = 0; i < n; i++)
    if (a[i] == k) return i;
  return -1;
}
// CHECK:      llvm.func @search
// CHECK:        %i{{.*}} = llvm.alloca
// CHECK:        %k{{.*}} = scf.while (%k{{.*}} = %n{{.*}}) : (i32) -> i32 {
// CHECK:          scf.condition
// CHECK:        cf.br ^[[TEST:bb[0-9]+]]
// CHECK:        cf.cond_br
// CHECK:        llvm.return %i
// CHECK:        cf.br ^[[TEST]]

// Blocks inside structured operations stand in an execute_region.
int inner(int n, int *a) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    int j = 0;
    while (1) { if (a[j] > i) break; j++; }
    s += j;
  }
  return s;
}
// CHECK:      llvm.func @inner
// CHECK:        scf.for
// CHECK:          scf.execute_region {
// CHECK:            cf.cond_br
// CHECK:            scf.yield
