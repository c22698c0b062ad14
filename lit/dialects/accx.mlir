// RUN: accopt %s | accopt - | filecheck %s

// Every operation and type of accx parses back as it is printed.
// CHECK-LABEL: llvm.func @operations
llvm.func @operations(%p: !llvm.ptr, %gangs: i32, %queue: i64, %lo: f64, %hi: f64) {
  // CHECK: accx.launch_host @kernel gangs(%gangs) queue(%queue) args(%p, %lo) {accx.site = 3 : i32} : !llvm.ptr, f64
  accx.launch_host @kernel gangs(%gangs) queue(%queue) args(%p, %lo) {accx.site = 3 : i32} : !llvm.ptr, f64
  // CHECK: accx.gang_threads [16 : i32, 16 : i32] {
  accx.gang_threads [16 : i32, 16 : i32] {
  ^bb0(%x: i32, %y: i32):
    // CHECK: %tile = accx.shared_tile "a" 2176 : i64 : !llvm.ptr<3>
    %tile = accx.shared_tile "a" 2176 : i64 : !llvm.ptr<3>
    // CHECK: accx.copy_async %p to %tile 16 : i64 : !llvm.ptr to !llvm.ptr<3>
    accx.copy_async %p to %tile 16 : i64 : !llvm.ptr to !llvm.ptr<3>
    // CHECK: accx.wait_copies
    accx.wait_copies
    // CHECK: accx.start_counter %tile : !llvm.ptr<3>
    accx.start_counter %tile : !llvm.ptr<3>
    // CHECK: accx.order_copies
    accx.order_copies
    // CHECK: accx.expect_bytes %tile 64 : i64 : !llvm.ptr<3>
    accx.expect_bytes %tile 64 : i64 : !llvm.ptr<3>
    // CHECK: accx.copy_bulk %p to %tile 64 : i64 on %tile : !llvm.ptr to !llvm.ptr<3> on !llvm.ptr<3>
    accx.copy_bulk %p to %tile 64 : i64 on %tile : !llvm.ptr to !llvm.ptr<3> on !llvm.ptr<3>
    // CHECK: accx.wait_bytes %tile, %x : !llvm.ptr<3>
    accx.wait_bytes %tile, %x : !llvm.ptr<3>
    // CHECK: accx.end_counter %tile : !llvm.ptr<3>
    accx.end_counter %tile : !llvm.ptr<3>
    // CHECK: accx.gang_barrier
    accx.gang_barrier
    // CHECK: accx.opaque %{{.*}}
    %same = accx.opaque %x
    // CHECK: accx.gang_sum %{{.*}}
    %total = accx.gang_sum %x
  }
  // CHECK: accx.watch "begin" 2 : i32 {line = 3 : i64, variables = [0 : i64]}
  accx.watch "begin" 2 : i32 {line = 3 : i64, variables = [0 : i64]}
  // CHECK: accx.watch "write" 0 : i32 of %p, %gangs : !llvm.ptr, i32 {name = "t"}
  accx.watch "write" 0 : i32 of %p, %gangs : !llvm.ptr, i32 {name = "t"}
  // CHECK: accx.team threads(%gangs) several(%gangs) place(%p : !llvm.ptr) {
  accx.team threads(%gangs) several(%gangs) place(%p : !llvm.ptr) {
    // CHECK: accx.task deferred(%gangs) {
    accx.task deferred(%gangs) {
      llvm.store %gangs, %p : i32, !llvm.ptr
    }
  }
  // CHECK: accx.range %p from %lo to %hi : !llvm.ptr
  accx.range %p from %lo to %hi : !llvm.ptr
  // CHECK: = accx.coefficients %p : !llvm.ptr -> f32, f32, f32, f32
  %c0, %c1, %inverse, %offset, %plane, %counter = accx.coefficients %p : !llvm.ptr -> f32, f32, f32, f32
  // CHECK: !accx.packed<f32, 16, range>
  %packed = "test.op"() : () -> !accx.packed<f32, 16, range>
  // CHECK: !accx.packed<f64, 32, range>
  %wide = "test.op"() : () -> !accx.packed<f64, 32, range>
  llvm.return
}
