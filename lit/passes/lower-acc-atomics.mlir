// RUN: accopt %s -p lower-acc-atomics | filecheck %s

// One instruction where the hardware has it; the operand may stand on either side of a sum.
// CHECK-LABEL: llvm.func @instructions
// CHECK-NEXT:    llvm.atomicrmw add %x, %e monotonic : !llvm.ptr, i32
// CHECK-NEXT:    %[[NEG:.*]] = arith.negf %d : f64
// CHECK-NEXT:    llvm.atomicrmw fadd %y, %[[NEG]] monotonic : !llvm.ptr, f64
// CHECK-NEXT:    llvm.return
llvm.func @instructions(%x: !llvm.ptr, %y: !llvm.ptr, %e: i32, %d: f64) {
  acc.atomic.update %x : !llvm.ptr {
  ^bb0(%old: i32):
    %new = arith.addi %e, %old : i32
    acc.yield %new : i32
  }
  acc.atomic.update %y : !llvm.ptr {
  ^bb0(%old: f64):
    %new = arith.subf %old, %d : f64
    acc.yield %new : f64
  }
  llvm.return
}

// Everything else compares and exchanges the value's bits until nobody was in between.
// CHECK-LABEL: llvm.func @loop
// CHECK:         %[[FIRST:.*]] = llvm.load %lx atomic monotonic {accx.volatile, alignment = 4 : i64} : !llvm.ptr -> i32
// CHECK-NEXT:    scf.while (%expected = %[[FIRST]]) : (i32) -> (i32, f32) {
// CHECK-NEXT:      %[[OLD:.*]] = arith.bitcast %expected : i32 to f32
// CHECK-NEXT:      %[[NEW:.*]] = arith.mulf %[[OLD]], %le : f32
// CHECK-NEXT:      %[[BITS:.*]] = arith.bitcast %[[NEW]] : f32 to i32
// CHECK-NEXT:      %[[PAIR:.*]] = llvm.cmpxchg %lx, %expected, %[[BITS]] monotonic monotonic : !llvm.ptr, i32
// CHECK:           scf.condition
// CHECK:         accx.atomic
llvm.func @loop(%lx: !llvm.ptr, %le: f32) {
  acc.atomic.update %lx : !llvm.ptr {
  ^bb0(%old: f32):
    %new = arith.mulf %old, %le : f32
    acc.yield %new : f32
  }
  llvm.return
}

// A capture before the update gives the old value, after it the new one; with a write it exchanges.
// CHECK-LABEL: llvm.func @captures
// CHECK-NEXT:    %[[A:.*]] = llvm.atomicrmw sub %cx, %ce monotonic
// CHECK-NEXT:    %{{.*}} = arith.subi
// CHECK-NEXT:    llvm.store %[[A]], %cv : i32, !llvm.ptr
// CHECK-NEXT:    %[[B:.*]] = llvm.atomicrmw sub %cx, %ce monotonic
// CHECK-NEXT:    %[[NEW:.*]] = arith.subi %[[B]], %ce : i32
// CHECK-NEXT:    llvm.store %[[NEW]], %cv : i32, !llvm.ptr
// CHECK-NEXT:    %[[C:.*]] = llvm.atomicrmw xchg %cx, %ce monotonic
// CHECK-NEXT:    llvm.store %[[C]], %cv : i32, !llvm.ptr
llvm.func @captures(%cx: !llvm.ptr, %cv: !llvm.ptr, %ce: i32) {
  acc.atomic.capture {
    acc.atomic.read %cv = %cx : !llvm.ptr, !llvm.ptr, i32
    acc.atomic.update %cx : !llvm.ptr {
    ^bb0(%old: i32):
      %new = arith.subi %old, %ce : i32
      acc.yield %new : i32
    }
  }
  acc.atomic.capture {
    acc.atomic.update %cx : !llvm.ptr {
    ^bb0(%old: i32):
      %new = arith.subi %old, %ce : i32
      acc.yield %new : i32
    }
    acc.atomic.read %cv = %cx : !llvm.ptr, !llvm.ptr, i32
  }
  acc.atomic.capture {
    acc.atomic.read %cv = %cx : !llvm.ptr, !llvm.ptr, i32
    acc.atomic.write %cx = %ce : !llvm.ptr, i32
  }
  llvm.return
}

// With an if clause the other branch is plain.
// CHECK-LABEL: llvm.func @conditional
// CHECK-NEXT:    scf.if %c {
// CHECK-NEXT:      llvm.load %dx atomic monotonic
// CHECK:         } else {
// CHECK-NEXT:      llvm.load %dx : !llvm.ptr -> i32
llvm.func @conditional(%dx: !llvm.ptr, %v: !llvm.ptr, %c: i1) {
  acc.atomic.read if(%c) %v = %dx : !llvm.ptr, !llvm.ptr, i32
  llvm.return
}
