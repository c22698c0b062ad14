// RUN: accopt %s --emit=acc | filecheck %s

// CHECK:      acc.reduction.recipe @reduction_add_f64 : !llvm.ptr reduction_operator <add> init {
// CHECK:      acc.private.recipe @private_f32_10 : !llvm.ptr init {

// Collapsed loops are one operation; reduction implies a copy of the variable.
double collapse(int n, int m, double a[n][m]) {
  double s = 0;
#pragma acc parallel loop collapse(2) gang vector(64) reduction(+:s) copyin(a[0:n][0:m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) s += a[i][j];
  return s;
}
// CHECK:      llvm.func @collapse
// CHECK:        %[[S:.*]] = acc.copyin varPtr(%s : !llvm.ptr) varType(f64) -> !llvm.ptr {dataClause = #acc<data_clause acc_copy>, name = "s", implicit = true}
// CHECK:        acc.parallel combined(loop)
// CHECK:          %[[R:.*]] = acc.reduction varPtr(%[[S]] : !llvm.ptr) varType(f64) recipe(@reduction_add_f64) -> !llvm.ptr {name = "s"}
// CHECK:          acc.loop combined(parallel) gang vector(%{{.*}} : i32) reduction(%[[R]] : !llvm.ptr) control(%i : i32, %j : i32) = (%{{.*}}, %{{.*}} : i32, i32) to (%n, %m : i32, i32) step (%{{.*}}, %{{.*}} : i32, i32) {
// CHECK:            llvm.store %{{.*}}, %[[R]] : f64, !llvm.ptr
// CHECK:          collapse = [2 : i64], collapseDeviceType = [#acc.device_type<none>]

// private makes the name mean a copy; a scalar declared outside and assigned inside is in memory.
void privates(int n, float *out) {
  float w[10], last;
#pragma acc parallel copy(out[0:n])
  {
#pragma acc loop gang(static:4) worker tile(8, *) private(w)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < 10; j++) {
        w[j] = i;
        last = w[j];
        out[i] = last;
      }
  }
}
// CHECK:      llvm.func @privates
// CHECK:        %w = llvm.alloca
// CHECK:        %last = llvm.alloca
// CHECK:        acc.parallel dataOperands(
// CHECK:          %[[W:.*]] = acc.private varPtr(%w : !llvm.ptr) varType(!llvm.array<10 x f32>) recipe(@private_f32_10) -> !llvm.ptr {name = "w"}
// CHECK:          acc.loop gang({static=%{{.*}} : i32}) worker private(%[[W]] : !llvm.ptr) tile({%{{.*}} : i32, %{{.*}} : i32}) control(%i{{.*}} : i32, %j{{.*}} : i32)
// CHECK:            accx.element %[[W]][%j{{.*}}] of f32 : i32
// CHECK:            llvm.store %{{.*}}, %last : f32, !llvm.ptr

// The default mode comes from the construct: independent, auto, seq.
void modes(int n, int *a) {
#pragma acc kernels loop copy(a[0:n])
  for (int i = 0; i < n; i++) a[i]++;
#pragma acc serial loop copy(a[0:n])
  for (int i = 0; i < n; i++) a[i]++;
}
// CHECK:      llvm.func @modes
// CHECK:        acc.kernels combined(loop)
// CHECK:          auto_ = [#acc.device_type<none>]
// CHECK:        acc.serial combined(loop)
// CHECK:          seq = [#acc.device_type<none>]

// Atomic statements; what is captured goes through a temporary.
void atomics(int n, int *count, float *x) {
#pragma acc parallel loop copy(count[0:1], x[0:n])
  for (int i = 0; i < n; i++) {
    int mine;
#pragma acc atomic capture
    mine = count[0]++;
#pragma acc atomic if(i > 3)
    x[0] = 2.0f - x[0];
  }
}
// CHECK:      llvm.func @atomics
// CHECK:        acc.atomic.capture {
// CHECK-NEXT:     acc.atomic.read %captured = %[[C:.*]] : !llvm.ptr, !llvm.ptr, i32
// CHECK-NEXT:     acc.atomic.update %[[C]] : !llvm.ptr {
// CHECK:        acc.atomic.update if(%{{.*}}) %{{.*}} : !llvm.ptr {
// CHECK-NEXT:   ^{{.*}}(%old{{.*}}: f32):
// CHECK:          arith.subf %{{.*}}, %old{{.*}} : f32
