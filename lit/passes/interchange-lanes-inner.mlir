// RUN: accopt %s -p interchange-lanes | filecheck %s

// The rows are far apart; the columns of a row are neighbours, and depend on nothing but their number.
// CHECK-LABEL: llvm.func @picture
// CHECK:         scf.for %i = %lo to %hi
// CHECK:           scf.for %j_block
// CHECK:             scf.while () : () -> () {
// CHECK:               scf.for %lane
// CHECK:               } {{.*}}accx.vector_width = 8 : i32
llvm.func @picture(%lo: i32, %hi: i32, %n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %limit = arith.constant 1000 : i32
  scf.for %i = %lo to %hi step %c1 : i32 {
    %row = arith.muli %i, %n : i32
    scf.for %j = %c0 to %n step %c1 : i32 {
      %end = scf.while (%x = %j) : (i32) -> i32 {
        %less = arith.cmpi slt, %x, %limit : i32
        scf.condition(%less) %x : i32
      } do {
      ^bb0(%y: i32):
        %next = arith.muli %y, %y : i32
        scf.yield %next : i32
      }
      %at = arith.addi %row, %j : i32
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %end, %p : i32, !llvm.ptr
    }
  } {accx.lanes}
  llvm.return
}

// What a column reads may be what another has written; a variable may hold what another column left.
// CHECK-LABEL: llvm.func @dependent
// CHECK-NOT:     accx.vector_width
llvm.func @dependent(%lo: i32, %hi: i32, %n: i32, %a: !llvm.ptr) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %limit = arith.constant 1000 : i32
  %kept = llvm.alloca %c1 x i32 : (i32) -> !llvm.ptr
  scf.for %i = %lo to %hi step %c1 : i32 {
    %row = arith.muli %i, %n : i32
    scf.for %j = %c0 to %n step %c1 : i32 {
      %q = llvm.getelementptr %a[%j] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      %v = llvm.load %q : !llvm.ptr -> i32
      %end = scf.while (%x = %v) : (i32) -> i32 {
        %less = arith.cmpi slt, %x, %limit : i32
        scf.condition(%less) %x : i32
      } do {
      ^bb0(%y: i32):
        %next = arith.muli %y, %y : i32
        scf.yield %next : i32
      }
      %at = arith.addi %row, %j : i32
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %end, %p : i32, !llvm.ptr
    }
    scf.for %j = %c0 to %n step %c1 : i32 {
      %v = llvm.load %kept : !llvm.ptr -> i32
      %end = scf.while (%x = %v) : (i32) -> i32 {
        %less = arith.cmpi slt, %x, %j : i32
        scf.condition(%less) %x : i32
      } do {
      ^bb0(%y: i32):
        %next = arith.muli %y, %y : i32
        scf.yield %next : i32
      }
      llvm.store %end, %kept : i32, !llvm.ptr
      %at = arith.addi %row, %j : i32
      %p = llvm.getelementptr %a[%at] : (!llvm.ptr, i32) -> !llvm.ptr, i32
      llvm.store %end, %p : i32, !llvm.ptr
    }
  } {accx.lanes}
  llvm.return
}
