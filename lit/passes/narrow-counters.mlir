// RUN: accopt %s -p narrow-counters | filecheck %s

// A 64-bit counter that the loop takes one step at a time: 32 bits in the loop, one wide addition after it.
// CHECK-LABEL: llvm.func @hits
// CHECK:       acc.loop
// CHECK-NEXT:    %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT:    %narrow = llvm.alloca %[[ONE]] x i32
// CHECK-NEXT:    %{{.*}} = arith.constant 0 : i32
// CHECK-NEXT:    llvm.store %{{.*}}, %narrow : i32
// CHECK-NEXT:    scf.for
// CHECK:           %old = llvm.load %narrow : !llvm.ptr -> i32
// CHECK:           %new = arith.addi %old, %{{.*}} : i32
// CHECK-NEXT:      llvm.store %new, %narrow : i32
// CHECK-NEXT:    }
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[N:.*]] = llvm.load %narrow : !llvm.ptr -> i32
// CHECK-NEXT:    %[[W:.*]] = arith.extsi %[[N]] : i32 to i64
// CHECK-NEXT:    %[[O:.*]] = llvm.load %count_1 : !llvm.ptr -> i64
// CHECK-NEXT:    %[[S:.*]] = arith.addi %[[O]], %[[W]] : i64
// CHECK-NEXT:    llvm.store %[[S]], %count_1 : i64
llvm.func @hits(%n: i32, %hit: i1, %count: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1 : i64
  acc.parallel {
    %count_1 = acc.reduction varPtr(%count : !llvm.ptr) varType(i64) recipe(@reduction_add_i64) -> !llvm.ptr {name = "count"}
    acc.loop gang reduction(%count_1 : !llvm.ptr) control(%i : i32) = (%c0 : i32) to (%n : i32) step (%c1 : i32) {
      scf.for %k = %c0 to %n step %c1 : i32 {
        scf.if %hit {
          %old = llvm.load %count_1 : !llvm.ptr -> i64
          %new = arith.addi %old, %one : i64
          llvm.store %new, %count_1 : i64, !llvm.ptr
        }
      }
      acc.yield
    } attributes {independent = [#acc.device_type<none>]}
    acc.yield
  }
  llvm.return
}

// Steps of two might pass 32 bits in 2^31 iterations; a 64-bit loop may be longer; a value read in between is
// needed as it is; an array element is not the thread's own.
// CHECK-LABEL: llvm.func @wide
// CHECK-NOT:   %narrow
// CHECK:       acc.reduction.recipe
llvm.func @wide(%n: i32, %m: i64, %count: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  acc.parallel {
    %v = llvm.alloca %c1 x i64 : (i32) -> !llvm.ptr
    %w = llvm.alloca %c1 x i64 : (i32) -> !llvm.ptr
    scf.for %k = %c0 to %n step %c1 : i32 {
      %old = llvm.load %v : !llvm.ptr -> i64
      %new = arith.addi %old, %two : i64
      llvm.store %new, %v : i64, !llvm.ptr
    }
    scf.for %k = %zero to %m step %one : i64 {
      %old = llvm.load %v : !llvm.ptr -> i64
      %new = arith.addi %old, %one : i64
      llvm.store %new, %v : i64, !llvm.ptr
    }
    scf.for %k = %c0 to %n step %c1 : i32 {
      %old = llvm.load %w : !llvm.ptr -> i64
      %new = arith.addi %old, %one : i64
      llvm.store %new, %w : i64, !llvm.ptr
      "test.op"(%new) : (i64) -> ()
    }
    scf.for %k = %c0 to %n step %c1 : i32 {
      %old = llvm.load %count : !llvm.ptr -> i64
      %new = arith.addi %old, %one : i64
      llvm.store %new, %count : i64, !llvm.ptr
    }
    acc.yield
  }
  llvm.return
}

acc.reduction.recipe @reduction_add_i64 : !llvm.ptr reduction_operator<add> init {
^bb0(%arg: !llvm.ptr):
  %one = arith.constant 1 : i32
  %copy = llvm.alloca %one x i64 : (i32) -> !llvm.ptr
  %first = arith.constant 0 : i64
  llvm.store %first, %copy : i64, !llvm.ptr
  acc.yield %copy : !llvm.ptr
} combiner {
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  %x = llvm.load %a : !llvm.ptr -> i64
  %y = llvm.load %b : !llvm.ptr -> i64
  %both = arith.addi %x, %y : i64
  llvm.store %both, %a : i64, !llvm.ptr
  acc.yield %a : !llvm.ptr
}
