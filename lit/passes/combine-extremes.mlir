// RUN: accopt %s -p "combine-extremes{target=host}" | filecheck %s
// RUN: accopt %s -p "combine-extremes{target=nvptx}" | filecheck %s --check-prefix GPU

acc.reduction.recipe @reduction_max_f64 : !llvm.ptr reduction_operator <max> init {
^bb0(%0: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x f64 {alignment = 8 : i64} : (i32) -> !llvm.ptr
  %first = arith.constant 0xfff0000000000000 : f64
  llvm.store %first, %copy : f64, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%1: !llvm.ptr, %2: !llvm.ptr):
  acc.yield %1 : !llvm.ptr
}

// m = x > m ? x : m
// CHECK-LABEL: llvm.func @chosen
// CHECK:         %old = llvm.load %copy
// CHECK:         %new = arith.maxnumf %old, %x
// CHECK-NEXT:    llvm.store %new, %copy
// GPU-LABEL: llvm.func @chosen
// GPU-NOT:     arith.maxnumf
llvm.func @chosen(%m: !llvm.ptr, %n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %copy = acc.reduction varPtr(%m : !llvm.ptr) varType(f64) recipe(@reduction_max_f64) -> !llvm.ptr
    acc.loop gang vector reduction(%copy : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %p = accx.element %a[%i] of f64 : i32
      %x = llvm.load %p : !llvm.ptr -> f64
      %old = llvm.load %copy : !llvm.ptr -> f64
      %greater = arith.cmpf ogt, %x, %old : f64
      %new = arith.select %greater, %x, %old : f64
      llvm.store %new, %copy : f64, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// if (m < x) m = x
// CHECK-LABEL: llvm.func @guarded
// CHECK:         %[[NEW:.+]] = arith.maxnumf %old{{.*}}, %x
// CHECK-NEXT:    llvm.store %[[NEW]], %copy
// CHECK-NOT:     scf.if
llvm.func @guarded(%m: !llvm.ptr, %n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %copy = acc.reduction varPtr(%m : !llvm.ptr) varType(f64) recipe(@reduction_max_f64) -> !llvm.ptr
    acc.loop gang vector reduction(%copy : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %p = accx.element %a[%i] of f64 : i32
      %x = llvm.load %p : !llvm.ptr -> f64
      %old = llvm.load %copy : !llvm.ptr -> f64
      %less = arith.cmpf olt, %old, %x : f64
      scf.if %less {
        llvm.store %x, %copy : f64, !llvm.ptr
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// The comparison is of another type than the variable's: float numbers as doubles.
// CHECK-LABEL: llvm.func @rounded
// CHECK-NOT:     arith.maxnumf
llvm.func @rounded(%m: !llvm.ptr, %n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %copy = acc.reduction varPtr(%m : !llvm.ptr) varType(f32) recipe(@reduction_max_f64) -> !llvm.ptr
    acc.loop gang vector reduction(%copy : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %p = accx.element %a[%i] of f64 : i32
      %x = llvm.load %p : !llvm.ptr -> f64
      %old = llvm.load %copy : !llvm.ptr -> f32
      %wide = arith.extf %old : f32 to f64
      %greater = arith.cmpf ogt, %x, %wide : f64
      %narrow = arith.truncf %x : f64 to f32
      %new = arith.select %greater, %narrow, %old : f32
      llvm.store %new, %copy : f32, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}

// The old value is used by other code, too: not a reduction.
// CHECK-LABEL: llvm.func @read
// CHECK-NOT:     arith.maxnumf
llvm.func @read(%m: !llvm.ptr, %n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  acc.parallel {
    %copy = acc.reduction varPtr(%m : !llvm.ptr) varType(f64) recipe(@reduction_max_f64) -> !llvm.ptr
    acc.loop gang vector reduction(%copy : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      %p = accx.element %a[%i] of f64 : i32
      %x = llvm.load %p : !llvm.ptr -> f64
      %old = llvm.load %copy : !llvm.ptr -> f64
      %greater = arith.cmpf ogt, %x, %old : f64
      %new = arith.select %greater, %x, %old : f64
      llvm.store %new, %copy : f64, !llvm.ptr
      llvm.store %old, %p : f64, !llvm.ptr
      acc.yield
    } attributes {independent = [#acc.device_type<none>], inclusiveUpperbound = array<i1: false>}
    acc.yield
  }
  llvm.return
}
