// RUN: accopt %s -p split-static-gangs | filecheck %s

// A gang loop without other levels: gangs take chunks in turn, and run each in order.
// CHECK-LABEL: llvm.func @gang
llvm.func @gang(%n: i32, %size: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK:      %chunk_size = arith.maxsi %size, %{{.*}} : i32
    // CHECK:      %chunks = arith.ceildivsi %{{.*}}, %chunk_size : i32
    // CHECK:      acc.loop gang control(%chunk : i32) = (%{{.*}} : i32) to (%chunks : i32)
    // CHECK-NEXT:   %first = arith.muli %chunk, %chunk_size : i32
    // CHECK:        %past = arith.minsi
    // CHECK-NEXT:   scf.for %number = %first to %past step
    // CHECK-NEXT:     llvm.store %number, %a : i32, !llvm.ptr
    acc.loop gang({static=%size : i32}) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.store %i, %a : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// The vector level goes to the loop over the chunk's iterations; static:* is a chunk of 32.
// CHECK-LABEL: llvm.func @any
llvm.func @any(%n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %cm1 = arith.constant -1 : i32
  acc.parallel {
    // CHECK:      %c32 = arith.constant 32 : i32
    // CHECK:      acc.loop gang control(
    // CHECK:        acc.loop vector control(
    // CHECK-NEXT:     llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr
    acc.loop gang({static=%cm1 : i32}) vector control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      llvm.store %i, %a : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// A gang loop without the clause, and one that runs in order, stay.
// CHECK-LABEL: llvm.func @others
llvm.func @others(%n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    // CHECK:      acc.loop gang control(
    // CHECK-NEXT:   acc.loop control(
    // CHECK-NEXT:     acc.yield
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        acc.yield
      } attributes {seq = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}
