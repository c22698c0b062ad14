// RUN: accopt %s -p stage-shared-loads | filecheck %s
// RUN: accopt %s -p "stage-shared-loads{target=host}" | filecheck %s --check-prefix=HOST

// All threads read a: a gang of 64 puts 64 elements at a time into a tile. What a thread reads for itself
// stays. A block that is not full, and an inner loop shorter than a tile, run as before.
// HOST-NOT:    gang_threads
// CHECK-LABEL: llvm.func @pairs
// CHECK:       %blocks = arith.divui
// CHECK:       acc.loop gang control(%i : i32) = (%{{.*}} : i32) to (%{{.*}} : i32)
// CHECK:         accx.gang_threads [64 : i64] {
// CHECK-NEXT:    ^bb0(%thread: i32):
// CHECK:           scf.if %full {
// CHECK:             %p_tile = accx.shared_tile "p" 256
// CHECK:             %sum = scf.if %many -> (f32) {
// CHECK:               scf.for %piece = %c0 to %n step %{{.*}} iter_args
// CHECK-NEXT:            accx.gang_barrier
// CHECK:                 scf.if
// CHECK:                   %v = llvm.load %p
// CHECK:                   llvm.store %v, %staged : f32, !llvm.ptr<3>
// CHECK:                 accx.gang_barrier
// CHECK:                 scf.for %number_{{[0-9]+}} = %{{.*}} to %here step
// CHECK:                   %[[T:v_[0-9]+]] = llvm.load %staged_1 {alignment = 4 : i64} : !llvm.ptr<3> -> f32
// CHECK:                   %w = llvm.load %q : !llvm.ptr -> f32
// CHECK-NEXT:              arith.mulf %[[T]], %w
// CHECK:             } else {
// CHECK:               scf.for %j
// CHECK:             llvm.store %sum,
// CHECK:           } else {
// CHECK:             scf.if %valid {
// CHECK:               scf.for %j
llvm.func @pairs(%n: i32, %gangs: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %z = arith.constant 0.0 : f32
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %z) -> (f32) : i32 {
        %p = accx.element %a[%j] of f32 : i32
        %v = llvm.load %p : !llvm.ptr -> f32
        %x = arith.xori %i, %j : i32
        %q = accx.element %a[%x] of f32 : i32
        %w = llvm.load %q : !llvm.ptr -> f32
        %m = arith.mulf %v, %w : f32
        %t = arith.addf %s, %m : f32
        scf.yield %t : f32
      }
      %r = accx.element %b[%i] of f32 : i32
      llvm.store %sum, %r : f32, !llvm.ptr
      acc.yield
    } attributes {accx.schedule = #accx.schedule<covers>, independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// A loop that stores, one whose bounds differ from thread to thread, one over a thread's own array: no tiles.
// CHECK-LABEL: llvm.func @left_alone
// CHECK-NOT:   gang_threads
// CHECK:       llvm.return
llvm.func @left_alone(%n: i32, %gangs: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c8 = arith.constant 8 : i32
  %c64 = arith.constant 64 : i32
  %z = arith.constant 0.0 : f32
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c64 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %own = llvm.alloca %c8 x f32 : (i32) -> !llvm.ptr
      scf.for %j = %c0 to %n step %c1 : i32 {
        %p = accx.element %a[%j] of f32 : i32
        %v = llvm.load %p : !llvm.ptr -> f32
        %q = accx.element %b[%i] of f32 : i32
        llvm.store %v, %q : f32, !llvm.ptr
      }
      %r = scf.for %j = %c0 to %i step %c1 iter_args(%s = %z) -> (f32) : i32 {
        %p = accx.element %a[%j] of f32 : i32
        %v = llvm.load %p : !llvm.ptr -> f32
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      %u = scf.for %j = %c0 to %n step %c1 iter_args(%s = %r) -> (f32) : i32 {
        %p = accx.element %own[%j] of f32 : i32
        %v = llvm.load %p : !llvm.ptr -> f32
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      llvm.store %u, %own : f32, !llvm.ptr
      acc.yield
    } attributes {accx.schedule = #accx.schedule<covers>, independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
