// RUN: accopt %s -p 'compress-arrays{wide=false}' | filecheck %s
// RUN: accopt %s -p 'compress-arrays{double=16 float=12}' | filecheck %s --check-prefix=WIDE

// A float is kept in 16 bits by default: subscripts step over i16, a load is decoded by a shift, an or
// and one fused multiply-add, a store is encoded with the range's ends as limits.
// CHECK-LABEL: llvm.func @float_array
// CHECK:         acc.present {{.*}}accx.packed = !accx.packed<f32, 16, range>
// CHECK:         %a_c0, %a_c1, %a_inverse, %a_offset, %a_plane, %a_counter = accx.coefficients %a_dev {accx.counted = 0 : i32} : !llvm.ptr -> f32, f32, f32, f32
// CHECK-NEXT:    acc.parallel
// CHECK:           accx.element %a_dev[%i] of i16 : i64
// CHECK-NEXT:      %a_code = llvm.load {{.*}} {alignment = 2 : i64} : !llvm.ptr -> i16
// CHECK-NEXT:      arith.extui %a_code : i16 to i32
// CHECK:           arith.shli
// CHECK:           arith.ori
// CHECK:           %t = arith.bitcast {{.*}} : i32 to f32
// CHECK-NEXT:      %x = math.fma %t, %a_c0, %a_c1 : f32
// CHECK:           math.fma %{{.*}}, %a_inverse, %{{.*}} : f32
// CHECK:           arith.cmpf ogt
// CHECK-NEXT:      arith.select
// CHECK-NEXT:      arith.cmpf olt
// CHECK-NEXT:      %saturated = arith.select
// CHECK:           %code = arith.trunci %{{.*}} {accx.counted = 0 : i32} : i32 to i16
// CHECK-NEXT:      llvm.store %code, %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr

// With 12 bits there is a mask; the streaming loop takes groups of eight, loads first and stores last.
// WIDE-LABEL: llvm.func @float_array
// WIDE:         acc.present {{.*}}accx.packed = !accx.packed<f32, 12, range>
// WIDE:         acc.loop gang vector control(%group : i64) = (%{{.*}} : i64) to (%groups : i64)
// WIDE:           %whole = arith.cmpi sge
// WIDE:           %aligned = arith.cmpi eq
// WIDE:           scf.if
// WIDE:             llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> i16
// WIDE:             llvm.getelementptr inbounds %{{.*}}[14]
// WIDE-NEXT:        llvm.load %{{.*}} {alignment = 2 : i64} : !llvm.ptr -> i16
// WIDE-NOT:         llvm.load
// WIDE:             llvm.store %{{.*}} {alignment = 16 : i64} : i16, !llvm.ptr
// WIDE:           } else {
// WIDE:             scf.for
// WIDE:         accx.why = "8 packed elements per 16-byte access"
llvm.func @float_array(%n: i64, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  %lanes = arith.constant 256 : i32
  %two = arith.constant 2.0 : f32
  %a_dev = acc.present varPtr(%a : !llvm.ptr) varType(f32) -> !llvm.ptr {accx.packed = !accx.packed<f32, 0, range>, accx.decodes, name = "a"}
  acc.parallel dataOperands(%a_dev : !llvm.ptr) num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%lanes : i32) {
    acc.loop gang vector control(%i : i64) = (%c0 : i64) to (%n : i64) step (%c1 : i64) {
      %p = accx.element %a_dev[%i] of f32 : i64
      %x = llvm.load %p : !llvm.ptr -> f32
      %y = arith.mulf %x, %two : f32
      llvm.store %y, %p : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.delete accPtr(%a_dev : !llvm.ptr) {name = "a"}
  llvm.return
}

// Structures and rows shrink with their numbers; a step in bytes is scaled.
// CHECK-LABEL: llvm.func @shapes
// CHECK:           accx.element %s_dev[%{{.*}}] of !llvm.struct<(i32, i32)> : i64
// CHECK:           llvm.getelementptr %{{.*}}[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(i32, i32)>
// CHECK:           accx.element %r_dev[%{{.*}}, 3] of !llvm.array<8 x i16> : i64
// CHECK:           %[[ELEMENTS:.*]] = arith.shrsi %{{.*}}, %{{.*}} : i64
// CHECK:           %[[STEP:.*]] = arith.muli %[[ELEMENTS]], %{{.*}} : i64
// CHECK:           llvm.getelementptr %r_dev[%[[STEP]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
llvm.func @shapes(%n: i64, %s: !llvm.ptr, %r: !llvm.ptr) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  %s_dev = acc.present varPtr(%s : !llvm.ptr) varType(!llvm.struct<"struct.p", (f64, f64)>) -> !llvm.ptr {accx.packed = !accx.packed<f64, 32, range>, accx.decodes, name = "s"}
  %r_dev = acc.present varPtr(%r : !llvm.ptr) varType(f32) -> !llvm.ptr {accx.packed = !accx.packed<f32, 16, half>, accx.decodes, name = "r"}
  acc.parallel dataOperands(%s_dev, %r_dev : !llvm.ptr, !llvm.ptr) num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%one : i32) {
    acc.loop control(%i : i64) = (%c0 : i64) to (%n : i64) step (%c1 : i64) {
      %p = accx.element %s_dev[%i] of !llvm.struct<"struct.p", (f64, f64)> : i64
      %q = llvm.getelementptr %p[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<"struct.p", (f64, f64)>
      %x = llvm.load %q : !llvm.ptr -> f64
      %row = accx.element %r_dev[%i, 3] of !llvm.array<8 x f32> : i64
      %bytes = llvm.getelementptr %r_dev[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %y = llvm.load %row : !llvm.ptr -> f32
      llvm.store %y, %bytes : f32, !llvm.ptr
      acc.yield
    } attributes {seq = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.delete accPtr(%s_dev : !llvm.ptr) {name = "s"}
  acc.delete accPtr(%r_dev : !llvm.ptr) {name = "r"}
  llvm.return
}

// A data clause only gets its format; arrays that the kernel does not decode stay as they are.
// CHECK-LABEL: llvm.func @data_only
// CHECK:         acc.copyin {{.*}}accx.packed = !accx.packed<f64, 32, range>
// CHECK:         accx.range %a_dev_1 from %lo to %hi : !llvm.ptr
// CHECK-NOT:     accx.coefficients
// CHECK:           llvm.load %{{.*}} : !llvm.ptr -> f64
// WIDE-LABEL: llvm.func @data_only
// WIDE:         acc.copyin {{.*}}accx.packed = !accx.packed<f64, 16, range>
llvm.func @data_only(%a: !llvm.ptr, %b: !llvm.ptr, %lo: f64, %hi: f64) {
  %one = arith.constant 1 : i32
  %a_dev = acc.copyin varPtr(%a : !llvm.ptr) varType(f64) -> !llvm.ptr {accx.packed = !accx.packed<f64, 0, range>, name = "a"}
  accx.range %a_dev from %lo to %hi : !llvm.ptr
  acc.data dataOperands(%a_dev : !llvm.ptr) {
    %b_dev = acc.present varPtr(%b : !llvm.ptr) varType(f64) -> !llvm.ptr {name = "b"}
    acc.parallel dataOperands(%b_dev : !llvm.ptr) num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%one : i32) {
      %x = llvm.load %b_dev : !llvm.ptr -> f64
      acc.yield
    }
    acc.delete accPtr(%b_dev : !llvm.ptr) {name = "b"}
    acc.terminator
  }
  acc.delete accPtr(%a_dev : !llvm.ptr) {name = "a"}
  llvm.return
}

// A structure of arrays: every member has its array, `plane` bytes after the one before.
// CHECK-LABEL: llvm.func @arrays_of_members
// CHECK:         %s_c0{{.*}}, %[[PLANE:s_plane[^,]*]], %{{.*}} = accx.coefficients
// CHECK:           %[[MEMBER:.*]] = llvm.getelementptr %s_dev{{.*}}[%[[PLANE]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:           accx.element %s_dev{{.*}}[%{{.*}}] of i64 : i64
// CHECK-NEXT:      llvm.load {{.*}} -> i64
// CHECK-NEXT:      %x{{.*}} = arith.bitcast
// CHECK:           accx.element %[[MEMBER]][%{{.*}}] of i64 : i64
// CHECK:           llvm.store {{.*}} : i64, !llvm.ptr
llvm.func @arrays_of_members(%n: i64, %s: !llvm.ptr) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  %s_dev = acc.present varPtr(%s : !llvm.ptr) varType(!llvm.struct<"struct.p", (f64, f64)>) -> !llvm.ptr {accx.packed = !accx.packed<f64, 64, plain, 2>, accx.decodes, name = "s"}
  acc.parallel dataOperands(%s_dev : !llvm.ptr) num_gangs({%one : i32}) num_workers(%one : i32) vector_length(%one : i32) {
    acc.loop control(%i : i64) = (%c0 : i64) to (%n : i64) step (%c1 : i64) {
      %p = accx.element %s_dev[%i] of !llvm.struct<"struct.p", (f64, f64)> : i64
      %q = llvm.getelementptr %p[0, 0] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<"struct.p", (f64, f64)>
      %x = llvm.load %q : !llvm.ptr -> f64
      %r = accx.element %s_dev[%i, 1] of !llvm.struct<"struct.p", (f64, f64)> : i64
      llvm.store %x, %r : f64, !llvm.ptr
      acc.yield
    } attributes {seq = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  acc.delete accPtr(%s_dev : !llvm.ptr) {name = "s"}
  llvm.return
}
