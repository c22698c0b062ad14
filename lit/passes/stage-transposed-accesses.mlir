// RUN: accopt %s -p stage-transposed-accesses | filecheck %s

// b[i][j] = a[j][i]: a is loaded with the lanes along i, into a tile of 32 rows of 33 elements, between
// barriers, and read from it with the lanes along j. Whole tiles have all loads before the stores;
// others look at each iteration.
// CHECK-LABEL: llvm.func @transpose
llvm.func @transpose(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  // CHECK:      acc.parallel num_gangs({%{{.*}} : i32, %{{.*}} : i32}) num_workers(%c8 : i32) vector_length(%c32{{.*}} : i32) {
  // CHECK:        %tiles = arith.divui %{{.*}}, %c32{{.*}} : i32
  // CHECK:        acc.loop gang control(%i : i32) = (%c0{{.*}} : i32) to (%tiles : i32)
  // CHECK-NEXT:     acc.loop gang control(%j : i32) = (%c0{{.*}} : i32) to (%tiles_1 : i32)
  // CHECK-NEXT:       accx.gang_threads [8 : i64, 32 : i64] {
  // CHECK-NEXT:       ^bb0(%y: i32, %x: i32):
  // CHECK:              %first = arith.muli %i, %c32
  // CHECK:              %at_tile = accx.shared_tile "at" 4224
  // CHECK:              %full = arith.andi
  // CHECK:              accx.gang_barrier
  // CHECK:              scf.if %full {
  // CHECK-COUNT-4:        llvm.load %at
  // CHECK:                arith.muli %y, %c33
  // CHECK:                llvm.store %v, %element
  // CHECK:              } else {
  // CHECK:                scf.if %exists {
  // CHECK:              accx.gang_barrier
  // CHECK:              scf.if %full {
  // CHECK:                arith.muli %x, %c33
  // CHECK:                %v{{.*}} = llvm.load %element
  // CHECK-NOT:            llvm.load %at
  // CHECK:                llvm.store %v{{.*}}, %bt
  acc.parallel {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %r = arith.muli %i, %n : i32
        %o = arith.addi %r, %j : i32
        %bt = accx.element %b[%o] of f32 : i32
        %s = arith.muli %j, %n : i32
        %p = arith.addi %s, %i : i32
        %at = accx.element %a[%p] of f32 : i32
        %v = llvm.load %at : !llvm.ptr -> f32
        llvm.store %v, %bt : f32, !llvm.ptr
        acc.yield
      // CHECK: #accx.schedule<covers>
      // CHECK-SAME: accx.why = "at read through tiles in shared memory"
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    // CHECK: #accx.schedule<gang_dim = 2>
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2, elements = 4>}
    acc.yield
  }
  llvm.return
}

// b[j][i] = a[i][j]: the outer loop gets the lanes, as the store wants, and the grid's first dimension.
// CHECK-LABEL: llvm.func @outward
llvm.func @outward(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK: accx.gang_threads
    // CHECK: accx.shared_tile "at" 8448
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %r = arith.muli %i, %n : i32
        %o = arith.addi %r, %j : i32
        %at = accx.element %a[%o] of f64 : i32
        %s = arith.muli %j, %n : i32
        %p = arith.addi %s, %i : i32
        %bt = accx.element %b[%p] of f64 : i32
        %v = llvm.load %at : !llvm.ptr -> f64
        llvm.store %v, %bt : f64, !llvm.ptr
        acc.yield
      // CHECK: #accx.schedule<gang_dim = 2>
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    // CHECK: #accx.schedule<covers>
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2>}
    acc.yield
  }
  llvm.return
}

// A store before the load might be what the load reads: nothing is done.
// CHECK-LABEL: llvm.func @stored_before
// CHECK-NOT:   accx.gang_threads
llvm.func @stored_before(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %z = arith.constant 0.0 : f32
        %r = arith.muli %i, %n : i32
        %o = arith.addi %r, %j : i32
        %bt = accx.element %b[%o] of f32 : i32
        llvm.store %z, %bt : f32, !llvm.ptr
        %s = arith.muli %j, %n : i32
        %p = arith.addi %s, %i : i32
        %at = accx.element %a[%p] of f32 : i32
        %v = llvm.load %at : !llvm.ptr -> f32
        llvm.store %v, %bt : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2>}
    acc.yield
  }
  llvm.return
}

// Sizes that are the user's, and a loop of four iterations: nothing is done.
// CHECK-LABEL: llvm.func @declined
// CHECK-NOT:   accx.gang_threads
llvm.func @declined(%n: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %c64 = arith.constant 64 : i32
  acc.parallel vector_length(%c64 : i32) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %r = arith.muli %i, %n : i32
        %o = arith.addi %r, %j : i32
        %bt = accx.element %b[%o] of f32 : i32
        %s = arith.muli %j, %n : i32
        %p = arith.addi %s, %i : i32
        %at = accx.element %a[%p] of f32 : i32
        %v = llvm.load %at : !llvm.ptr -> f32
        llvm.store %v, %bt : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2>}
    acc.yield
  } attributes {accx.given_sizes = ["vector_length"]}
  acc.parallel {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%c4 : i32) step (%c1 : i32) {
        %r = arith.muli %i, %c4 : i32
        %o = arith.addi %r, %j : i32
        %bt = accx.element %b[%o] of f32 : i32
        %s = arith.muli %j, %n : i32
        %p = arith.addi %s, %i : i32
        %at = accx.element %a[%p] of f32 : i32
        %v = llvm.load %at : !llvm.ptr -> f32
        llvm.store %v, %bt : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>]}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], accx.schedule = #accx.schedule<gang_dim = 2>}
    acc.yield
  }
  llvm.return
}
