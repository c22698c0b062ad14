// RUN: accopt %s -p convert-acc-compute-to-gpu | filecheck %s
// RUN: accopt %s -p "convert-acc-compute-to-gpu{longest=1000}" | filecheck %s --check-prefix SHORT

// A grid may have at most 65535 gangs in its second dimension: the kernel is launched for that many at a time,
// and knows the first one. No gang has a loop.
// CHECK-LABEL: llvm.func @parts
// CHECK:         %[[NUMBER:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK:         scf.for %[[FIRST:.*]] = %{{.*}} to %[[NUMBER]] step %c65535 : i64 {
// CHECK-NEXT:      %[[LEFT:.*]] = arith.subi %[[NUMBER]], %[[FIRST]] : i64
// CHECK:           %[[LEAST:.*]] = arith.minsi %[[LEFT]], %c65535{{.*}} : i64
// CHECK-NEXT:      %[[GANGS:.*]] = arith.trunci %[[LEAST]] : i64 to i32
// CHECK-NEXT:      %[[BEGIN:.*]] = arith.trunci %[[FIRST]] : i64 to i32
// CHECK-NEXT:      "gpu.launch_func"(%{{.*}}, %[[GANGS]], %{{.*}}, %[[BEGIN]], %{{.*}}) <{kernel = @accopt_kernels::@parts_kernel
llvm.func @parts(%n: i32, %x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  acc.parallel num_gangs({%c1 : i32, %n : i32}) num_workers(%c1 : i32) vector_length(%c32 : i32) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%c32 : i32) step (%c1 : i32) {
        %e = accx.element %x[%i, %j] of !llvm.array<32 x i32> : i32, i32
        llvm.store %i, %e : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>, accx.schedule = #accx.schedule<covers>}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>, accx.schedule = #accx.schedule<gang_dim = 2, covers>}
    acc.yield
  }
  llvm.return
}

// A second part would run the loop over lanes again: gangs loop over what is left.
// CHECK-LABEL: llvm.func @twice
// CHECK:         %[[MOST:.*]] = arith.minsi %{{.*}}, %c65535{{.*}} : i32
// CHECK-NOT:     scf.for
// CHECK:         "gpu.launch_func"(%{{.*}}, %[[MOST]], {{.*}}) <{kernel = @accopt_kernels::@twice_kernel
llvm.func @twice(%n: i32, %x: !llvm.ptr, %y: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  acc.parallel num_gangs({%c1 : i32, %n : i32}) num_workers(%c1 : i32) vector_length(%c32 : i32) {
    acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%c32 : i32) step (%c1 : i32) {
      %e = accx.element %y[%j] of i32 : i32
      llvm.store %j, %e : i32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>, accx.schedule = #accx.schedule<covers>}
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%c32 : i32) step (%c1 : i32) {
        %e = accx.element %x[%i, %j] of !llvm.array<32 x i32> : i32, i32
        llvm.store %i, %e : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>, accx.schedule = #accx.schedule<covers>}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>, accx.schedule = #accx.schedule<gang_dim = 2, covers>}
    acc.yield
  }
  llvm.return
}

// A constant number that fits needs no parts, unless the limit is lower.
// CHECK-LABEL: llvm.func @fits
// CHECK-NOT:     scf.for
// CHECK:         kernel = @accopt_kernels::@fits_kernel
// SHORT-LABEL: llvm.func @fits
// SHORT:         scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1000{{.*}} : i64 {
// SHORT:           kernel = @accopt_kernels::@fits_kernel
llvm.func @fits(%x: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %c5000 = arith.constant 5000 : i32
  acc.parallel num_gangs({%c1 : i32, %c5000 : i32}) num_workers(%c1 : i32) vector_length(%c32 : i32) {
    acc.loop gang control(%i : i32) = (%c0 : i32) to (%c5000 : i32) step (%c1 : i32) {
      acc.loop gang vector control(%j : i32) = (%c0 : i32) to (%c32 : i32) step (%c1 : i32) {
        %e = accx.element %x[%i, %j] of !llvm.array<32 x i32> : i32, i32
        llvm.store %i, %e : i32, !llvm.ptr
        acc.yield
      } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>, accx.schedule = #accx.schedule<covers>}
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>, accx.schedule = #accx.schedule<gang_dim = 2, covers>}
    acc.yield
  }
  llvm.return
}

// The kernel adds its first gang to the number of its block, and tests once whether there is such a row.
// CHECK:         "gpu.func"
// CHECK-NOT:     scf.for
// CHECK:         sym_name = "parts_kernel"
// CHECK:         scf.for
// CHECK:         sym_name = "twice_kernel"
// CHECK-NOT:     scf.for
// CHECK:         sym_name = "fits_kernel"
