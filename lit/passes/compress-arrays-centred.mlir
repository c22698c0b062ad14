// RUN: accopt %s -p 'compress-arrays{wide=false}' | filecheck %s
// RUN: accopt %s -p 'compress-arrays{wide=false centred=true}' | filecheck %s --check-prefix=DEFAULT

// Decoding and encoding are as around zero, but for what encoding adds.
// CHECK-LABEL: llvm.func @centred
// CHECK:         acc.present {{.*}}accx.packed = !accx.packed<f32, 16, centred>
// CHECK:         %a_c0, %a_c1, %a_inverse, %a_offset, %a_plane, %a_counter = accx.coefficients
// CHECK:           arith.ori
// CHECK-NEXT:      %t = arith.bitcast
// CHECK-NEXT:      %x = math.fma %t, %a_c0, %a_c1 : f32
// CHECK:           math.fma %{{.*}}, %a_inverse, %a_offset : f32
// CHECK:           llvm.store %code

// The option is for clauses without a format; this one has one, but for its bits.
// DEFAULT-LABEL: llvm.func @centred
// DEFAULT:         !accx.packed<f32, 16, centred>
llvm.func @centred(%n: i64, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  %two = arith.constant 2.0 : f32
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(f32) -> !llvm.ptr {accx.packed = !accx.packed<f32, 0, centred>, accx.decodes, name = "a"}
  acc.parallel dataOperands(%a_dev : !llvm.ptr) num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%one : i32) {
    acc.loop control(%i : i64) = (%c0 : i64) to (%n : i64) step (%c1 : i64) {
      %p = accx.element %a_dev[%i] of f32 : i64
      %x = llvm.load %p : !llvm.ptr -> f32
      %y = arith.mulf %x, %two : f32
      llvm.store %y, %p : f32, !llvm.ptr
      acc.yield
    } attributes {seq = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.delete accPtr(%a_dev : !llvm.ptr) {name = "a"}
  llvm.return
}

// A clause without a format, and one with bits alone.
// CHECK-LABEL: llvm.func @formats
// CHECK:         !accx.packed<f64, 32, range>
// CHECK:         !accx.packed<f64, 12, range>
// DEFAULT-LABEL: llvm.func @formats
// DEFAULT:         !accx.packed<f64, 32, centred>
// DEFAULT:         !accx.packed<f64, 12, range>
llvm.func @formats(%a: !llvm.ptr, %b: !llvm.ptr) {
  %a_dev = acc.copyin varPtr(%a : !llvm.ptr) varType(f64) -> !llvm.ptr {accx.packed = !accx.packed<f64, 0, range>, name = "a"}
  %b_dev = acc.copyin varPtr(%b : !llvm.ptr) varType(f64) -> !llvm.ptr {accx.packed = !accx.packed<f64, 12, range>, name = "b"}
  acc.delete accPtr(%a_dev : !llvm.ptr) {name = "a"}
  acc.delete accPtr(%b_dev : !llvm.ptr) {name = "b"}
  llvm.return
}

// Each member of a structure of arrays has coefficients of its own, if the construct accesses it.
// CHECK-LABEL: llvm.func @members
// CHECK:         %s_c0, %s_c1, %s_inverse, %s_offset, %s_plane, %s_counter = accx.coefficients %s_dev {accx.counted = 0 : i32}
// CHECK-NEXT:    %s_2_c0, %s_2_c1, %s_2_inverse, %s_2_offset, %s_2_plane, %s_2_counter = accx.coefficients %s_dev {member = 2 : i32, accx.counted = 0 : i32}
// CHECK-NEXT:    acc.parallel
// CHECK:           %[[X:x.*]] = math.fma %{{.*}}, %s_c0, %s_c1
// CHECK:           math.fma %[[X]], %s_2_inverse, %s_2_offset
llvm.func @members(%n: i64, %s: !llvm.ptr) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  %s_dev = acc.present varPtr(%s : !llvm.ptr) varType(!llvm.struct<"struct.p", (f32, f32, f32)>) -> !llvm.ptr {accx.packed = !accx.packed<f32, 16, centred, 3>, accx.decodes, name = "s"}
  acc.parallel dataOperands(%s_dev : !llvm.ptr) num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%one : i32) {
    acc.loop control(%i : i64) = (%c0 : i64) to (%n : i64) step (%c1 : i64) {
      %p = accx.element %s_dev[%i, 0] of !llvm.struct<"struct.p", (f32, f32, f32)> : i64
      %x = llvm.load %p : !llvm.ptr -> f32
      %q = accx.element %s_dev[%i, 2] of !llvm.struct<"struct.p", (f32, f32, f32)> : i64
      llvm.store %x, %q : f32, !llvm.ptr
      acc.yield
    } attributes {seq = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.delete accPtr(%s_dev : !llvm.ptr) {name = "s"}
  llvm.return
}
