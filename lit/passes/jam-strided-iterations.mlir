// RUN: accopt %s -p jam-strided-iterations | filecheck %s
// RUN: accopt %s -p "jam-strided-iterations{full_device=0}" | filecheck %s --check-prefix=ALWAYS

// Two iterations share what the inner loop reads: a load for two sums, iterations a block apart. The
// trip count is known at run time only, so few iterations get a thread each, of twice as many gangs.
// CHECK-LABEL: llvm.func @pairs
// CHECK:       %many = arith.cmpi sge, %{{.*}}, %c540672
// CHECK:       scf.if %many {
// CHECK:         acc.parallel num_gangs({%gangs : i32})
// CHECK:         %tiles = arith.divui
// CHECK:         acc.loop gang vector control(%i : i32) = (%{{.*}} : i32) to (%threads_1 : i32)
// CHECK:           %tile = arith.divui
// CHECK:           %lane = arith.remui
// CHECK:           %full = arith.cmpi slt, %last, %{{.*}} : i64
// CHECK:           scf.if %full {
// CHECK:             scf.for %j = %c0 to %n step %c1 iter_args(%s = %z, %s_1 = %z) -> (f32, f32)
// CHECK:               %v = llvm.load
// CHECK-NOT:           llvm.load
// CHECK:               scf.yield %t, %t_1 : f32, f32
// CHECK:             llvm.store %sum,
// CHECK:             llvm.store %sum_1,
// CHECK:           } else {
// CHECK:             scf.for %number = %first to %{{.*}} step %{{.*}} : i64 {
// CHECK:         attributes {accx.schedule = #accx.schedule<covers>, accx.why = "2 iterations side by side in each thread"
// CHECK:       } else {
// CHECK:         %gangs_1 = arith.muli %gangs, %{{.*}} : i32
// CHECK-NEXT:    acc.parallel num_gangs({%gangs_1 : i32})
// CHECK:         attributes {accx.schedule = #accx.schedule<covers>, accx.why = "version for few iterations: one per thread"

// ALWAYS-LABEL: llvm.func @pairs
// ALWAYS-NOT:   scf.if %many
// ALWAYS:       iter_args(%s = %z, %s_1 = %z) -> (f32, f32)
// ALWAYS:       llvm.func @running
llvm.func @pairs(%n: i32, %gangs: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %z = arith.constant 0.0 : f32
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %x = arith.sitofp %i : i32 to f32
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %z) -> (f32) : i32 {
        %p = accx.element %a[%j] of f32 : i32
        %v = llvm.load %p : !llvm.ptr -> f32
        %m = arith.mulf %v, %x : f32
        %t = arith.addf %s, %m : f32
        scf.yield %t : f32
      }
      %q = accx.element %b[%i] of f32 : i32
      llvm.store %sum, %q : f32, !llvm.ptr
      acc.yield
    } attributes {accx.schedule = #accx.schedule<elements = 2, covers>, independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// A variable that outlives an iteration keeps the iterations apart; the grid grows instead.
// CHECK-LABEL: llvm.func @running
// CHECK-NOT:   scf.if
// CHECK:       %[[MORE:gangs_[0-9]+]] = arith.muli %gangs_2, %{{.*}} : i32
// CHECK:       acc.parallel num_gangs({%[[MORE]] : i32})
// CHECK:       accx.why = "iterations not kept side by side: the loop has variables of its own"
llvm.func @running(%n: i32, %gangs: i32, %a: !llvm.ptr, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %t = acc.private varPtr(%x : !llvm.ptr) varType(f32) recipe(@private_f32) -> !llvm.ptr {name = "t"}
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    acc.loop gang vector private(%t : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      scf.for %j = %c0 to %n step %c1 : i32 {
        %p = accx.element %a[%j] of f32 : i32
        %v = llvm.load %p : !llvm.ptr -> f32
        llvm.store %v, %t : f32, !llvm.ptr
      }
      acc.yield
    } attributes {accx.schedule = #accx.schedule<elements = 2, covers>, independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

acc.private.recipe @private_f32 : !llvm.ptr init {
^bb0(%arg: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f32 : (i32) -> !llvm.ptr
  acc.yield %copy : !llvm.ptr
}

// A constant trip count decides at once: 1000 iterations are too few.
// CHECK-LABEL: llvm.func @short
// CHECK-NOT:   scf.if
// CHECK:       too few iterations to fill the device
llvm.func @short(%gangs: i32, %a: !llvm.ptr, %b: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %c1000 = arith.constant 1000 : i32
  acc.parallel num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%c1000 : i32) step (%c1 : i32) {
      scf.for %j = %c0 to %c1000 step %c1 : i32 {
        "test.op"(%i, %j) : (i32, i32) -> ()
      }
      acc.yield
    } attributes {accx.schedule = #accx.schedule<elements = 2>, independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// What both versions wait for is waited for before the data operations, on the construct's queue.
// CHECK-LABEL: llvm.func @waits
// CHECK:       %[[QUEUE:.*]] = arith.extsi %queue{{.*}} : i32 to i64
// CHECK:       acc.wait(%{{.*}} : i32) async(%[[QUEUE]] : i64)
// CHECK-NEXT:  acc.copyin
// CHECK:       scf.if
// CHECK-NEXT:    acc.parallel dataOperands(%{{.*}} : !llvm.ptr) async(%[[QUEUE]] : i64) num_gangs({%{{.*}} : i32}) num_workers(%{{.*}} : i32) vector_length(%{{.*}} : i32) {
// CHECK:       } else {
// CHECK:         acc.parallel dataOperands(%{{.*}} : !llvm.ptr) async(%[[QUEUE]] : i64) num_gangs({%{{.*}} : i32}) num_workers(%{{.*}} : i32) vector_length(%{{.*}} : i32) {
llvm.func @waits(%n: i32, %gangs: i32, %a: !llvm.ptr, %b: !llvm.ptr, %queue: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c128 = arith.constant 128 : i32
  %z = arith.constant 0.0 : f32
  %d = acc.copyin varPtr(%a : !llvm.ptr) varType(f32) -> !llvm.ptr {name = "a"}
  acc.parallel dataOperands(%d : !llvm.ptr) async(%queue : i32) num_gangs({%gangs : i32}) num_workers(%c1 : i32) vector_length(%c128 : i32) wait({%c1 : i32}) {
    acc.loop gang vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %sum = scf.for %j = %c0 to %n step %c1 iter_args(%s = %z) -> (f32) : i32 {
        %p = accx.element %d[%j] of f32 : i32
        %v = llvm.load %p : !llvm.ptr -> f32
        %t = arith.addf %s, %v : f32
        scf.yield %t : f32
      }
      %q = accx.element %b[%i] of f32 : i32
      llvm.store %sum, %q : f32, !llvm.ptr
      acc.yield
    } attributes {accx.schedule = #accx.schedule<elements = 2, covers>, independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}
