// RUN: accopt %s -p schedule-loops | filecheck %s
// RUN: accopt %s -p "schedule-loops{target=host}" | filecheck %s --check-prefix HOST
// RUN: accopt %s -p "schedule-loops{strategy=2_1}" | filecheck %s --check-prefix S21

// One streaming loop: four elements a thread, as many gangs as cover the iterations.
// CHECK-LABEL: llvm.func @stream
// CHECK:         arith.constant 1023 : i64
// CHECK:         %num_gangs = arith.trunci
// CHECK:         acc.parallel num_gangs({%num_gangs : i32}) num_workers(%{{.*}}) vector_length(%c256 : i32) {
// CHECK:         acc.loop gang vector
// CHECK:         attributes {accx.schedule = #accx.schedule<elements = 4, covers>, accx.why = "one parallel loop
// HOST-LABEL: llvm.func @stream
// HOST:         arith.constant 256 : i64
// HOST:         vector_length(%c1_{{.*}} : i32) {
// HOST:         acc.loop gang vector
llvm.func @stream(%n: i32, %x: !llvm.ptr, %v: f32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.parallel {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr inbounds %x[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// A tight nest: a grid of two dimensions, or gangs outside and lanes inside when asked for.
// CHECK-LABEL: llvm.func @nest
// CHECK:         acc.parallel num_gangs({%{{.*}} : i32, %{{.*}} : i32})
// CHECK:         acc.loop gang control(%i
// CHECK:         acc.loop gang vector control(%j
// CHECK:         #accx.schedule<gang_dim = 2, elements = 4, covers>
// S21-LABEL: llvm.func @nest
// S21:         acc.loop gang control(%i
// S21:         acc.loop vector control(%j
llvm.func @nest(%n: i32, %x: !llvm.ptr, %v: f32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  acc.parallel {
    acc.loop control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        %i64 = arith.extsi %i : i32 to i64
        %j64 = arith.extsi %j : i32 to i64
        %r = llvm.getelementptr inbounds %x[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, !llvm.array<64 x f32>
        %p = llvm.getelementptr inbounds %r[%j64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
        llvm.store %v, %p : f32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// Explicit levels and sizes are kept; no claim that the user's grid covers the loop.
// CHECK-LABEL: llvm.func @explicit
// CHECK:         acc.parallel num_gangs({%c8 : i32}) num_workers(%{{.*}} : i32) vector_length(%c64_1 : i32) {
// CHECK:         acc.loop gang control(%i
// CHECK:         acc.loop vector control(%j
// CHECK-NOT:     covers
// CHECK:         llvm.return
llvm.func @explicit(%n: i32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %c8 = arith.constant 8 : i32
  %c64 = arith.constant 64 : i32
  acc.parallel num_gangs({%c8 : i32}) vector_length(%c64 : i32) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop vector control(%j : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// A constant trip count gives constant sizes; the seq loop stays seq.
// CHECK-LABEL: llvm.func @constant
// CHECK:         acc.parallel num_gangs({%c4{{.*}} : i32}) num_workers(%{{.*}}) vector_length(%c256{{.*}} : i32) {
// CHECK:         acc.loop gang vector
// CHECK:         acc.loop control
// CHECK:         seq = [#acc.device_type<none>]
llvm.func @constant(%x: !llvm.ptr, %v: f32) {
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  %c1000 = arith.constant 1000 : i32
  acc.parallel {
    acc.loop control(%i : i32) = (%c0 : i32) to (%c1000 : i32) step (%c1 : i32) {
      %i64 = arith.extsi %i : i32 to i64
      %p = llvm.getelementptr inbounds %x[%i64] : (!llvm.ptr, i64) -> !llvm.ptr, f32
      llvm.store %v, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.loop control(%i : i32) = (%c0 : i32) to (%c1000 : i32) step (%c1 : i32) {
      acc.yield
    } attributes {seq = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}
